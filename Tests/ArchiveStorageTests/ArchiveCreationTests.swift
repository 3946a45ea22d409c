// Which paths are opened or created as an archive, and which are refused and left unchanged.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Making and opening archives", .blocking)
struct ArchiveCreationTests {
    /// Creates an empty archive whose segments are sealed at `segmentBytes`.
    static func makeArchive(at path: FilePath, segmentBytes: Int) throws {
        let manifest = ArchiveManifest(
            id: .random(), created: .now, parameters: ArchiveManifest.Parameters(segmentBytes: segmentBytes))
        try path.makeDirectory()
        try path.appending("archive.json").writeFile(manifest.encoded())
    }

    private func code(_ path: FilePath, creating: Bool) throws -> StorageError.Code? {
        try failure { try ArchiveStore.open(path, creating: creating) }?.code
    }

    @Test("a missing archive is created, accessible to its owner only, and opened the next time")
    func create() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("a").appending("b")
        #expect(try code(path, creating: false) == .noArchive)
        let id = try ArchiveStore.open(path, creating: true).manifest.id
        #expect(try ArchiveStore.open(path, creating: true).manifest.id == id)
        #expect(try ArchiveStore.open(path, creating: false).manifest.id == id)
        let mode = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test("an empty directory, or one left by an interrupted creation, becomes an archive")
    func interrupted() throws {
        let directory = try TemporaryDirectory()
        #expect(try code(directory.path, creating: false) == .noArchive)
        try directory.path.appending("locks").makeDirectory()
        try directory.path.appending("segments").makeDirectory()
        try directory.path.appending(".archiver-0123.tmp").writeFile([1])
        #expect(try code(directory.path, creating: true) == nil)
        #expect(try code(directory.path, creating: false) == nil)
    }

    @Test("a directory with other files is refused and left unchanged", arguments: [true, false])
    func otherFiles(creating: Bool) throws {
        let directory = try TemporaryDirectory()
        try directory.path.appending("letter.txt").writeFile(Array("dear".utf8))
        #expect(try code(directory.path, creating: creating) == .notAnArchive)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.path.string) == ["letter.txt"])
        #expect(try directory.path.appending("letter.txt").readFile() == Array("dear".utf8))
    }

    @Test("a file is refused and left unchanged", arguments: [true, false])
    func file(creating: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("file")
        try path.writeFile([1, 2, 3])
        #expect(try code(path, creating: creating) == .notAnArchive)
        #expect(try code(path.appending("below"), creating: creating) != nil)
        #expect(try path.readFile() == [1, 2, 3])
    }

    @Test("a newer format is refused by its version, and nothing is written")
    func newer() throws {
        let directory = try TemporaryDirectory()
        let manifest = directory.path.appending("archive.json")
        try manifest.writeFile(Array(#"{"format": "archiver", "version": 2, "whatever": []}"#.utf8))
        let error = try #require(try failure { try ArchiveStore.open(directory.path, creating: true) })
        #expect(error.code == .newerFormat)
        #expect(error.message.contains("version 2"))
        #expect(try directory.path.filesBelow() == ["archive.json"])
    }

    @Test("a damaged archive.json is named and not overwritten", arguments: ["", "{", "{}", "[1]", "\u{0}\u{1}"])
    func damaged(text: String) throws {
        let directory = try TemporaryDirectory()
        _ = try ArchiveStore.open(directory.path, creating: true).commit(1, [[1]])
        let manifest = directory.path.appending("archive.json")
        try manifest.writeFile(Array(text.utf8))
        for creating in [true, false] {
            let error = try #require(try failure { try ArchiveStore.open(directory.path, creating: creating) })
            #expect(error.code == .damaged)
            #expect(error.path == manifest)
        }
        #expect(try manifest.readFile() == Array(text.utf8))
        try manifest.removeFile()
        for creating in [true, false] {
            let error = try #require(try failure { try ArchiveStore.open(directory.path, creating: creating) })
            #expect(error.code == .damaged && error.remedy == Advice.repairArchive.text)
        }
        #expect(try ArchiveStore.rebuildCatalogue(of: directory.path).snapshots == 1)
        #expect(try ArchiveStore.open(directory.path, creating: false).catalogue.snapshots().count == 1)
    }

    @Test("an unfinished segment is removed, and a damaged file with a segment's name stays")
    func emptySegment() throws {
        let directory = try TemporaryDirectory()
        let commit = try ArchiveStore.open(directory.path, creating: true).commit(1, [[1]])
        let segment = try onlySegment(in: directory.path)
        let empty = segment.removingLastComponent().appending(
            "20200101T000000.000000Z-\(SegmentID.random().hex).segment")
        try empty.writeFile(Array("ARCH".utf8))
        let begun = TemporaryFile.newName().withPointer { String(cString: $0) }
        try segment.removingLastComponent().appending(begun).writeFile(Array("ARCH".utf8))
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try empty.readFile() == Array("ARCH".utf8))
        #expect(store.findings.map(\.kind) == [.damage])
        #expect(store.findings.first?.message.contains("is too short: it has 4 bytes") == true)
        #expect(try directory.path.appending("segments").filesBelow().count == 2)
        #expect(try store.holds(commit))
    }
}
