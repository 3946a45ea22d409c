// Several files with one segment id: a backup was copied into the archive.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Several files of one segment", .blocking)
struct SegmentCopyTests {
    /// An archive with one open segment that has two commits, and a copy of it from between them.
    private final class Scene {
        let directory: TemporaryDirectory
        private(set) var commits: [Commit] = []
        let older: [UInt8]
        let segment: FilePath
        var path: FilePath { directory.path }
        var segments: FilePath { directory.path.appending("segments") }
        /// Where the copy is placed: the folder `segments` was copied into itself.
        var nested: FilePath {
            segments.appending("segments").pushing(
                FilePath(String(segment.string.dropFirst(segments.string.count + 1))))
        }

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 1 << 20)
            commits.append(try ArchiveStore.open(directory.path, creating: false).commit(0, [Array("one".utf8)]))
            segment = try onlySegment(in: directory.path)
            older = try segment.readFile()
            commits.append(try open().commit(1, [Array("two".utf8)]))
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: false) }

        func commit(_ number: Int) throws {
            commits.append(try open().commit(number, [Array("content \(number)".utf8)]))
        }

        func placeCopy(_ bytes: [UInt8]) throws {
            try nested.removingLastComponent().makeDirectory()
            try nested.writeFile(bytes)
        }

        func rebuild() throws { _ = try ArchiveStore.rebuildCatalogue(of: path) }

        /// Expects that all commits can be read, and that the archive reports exactly the unread file.
        func expectAll(unread: FilePath, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let store = try open()
            for commit in commits { #expect(try store.holds(commit), sourceLocation: sourceLocation) }
            let unreadMessages = store.findings.filter { $0.kind == .unread }.map(\.message)
            #expect(
                unreadMessages.count == 1 && unreadMessages[0].hasPrefix("segment \(unread) is not read"),
                "\(unreadMessages)", sourceLocation: sourceLocation)
        }

        /// Drops everything that is worth dropping.
        func reclaim(purging: Bool = false) throws -> Reclaimed {
            let store = try open()
            var options = Reclaimer.Options()
            if purging { options.purged = [] }
            return try Reclaimer(store, options).run { live in
                for commit in self.commits { for id in commit.chunks.keys { live.insert(id) } }
                for commit in self.commits { live.insert(commit.id.chunk) }
            }
        }
    }

    @Test("the longest file of a segment is read, whichever the catalogue knew first", arguments: [true, false])
    func longest(isRebuilt: Bool) throws {
        let scene = try Scene()
        let longer = try scene.segment.readFile()
        try scene.placeCopy(scene.older)
        if isRebuilt { try scene.rebuild() }
        try scene.expectAll(unread: scene.nested)
        // The other way round: the file in its place has lost its end.
        try scene.nested.writeFile(longer)
        try scene.segment.writeFile(scene.older)
        if isRebuilt { try scene.rebuild() }
        try scene.expectAll(unread: scene.segment)
        try scene.expectAll(unread: scene.segment)
    }

    @Test("of two files of a segment an undamaged one is read, even if it is shorter")
    func undamaged() throws {
        let scene = try Scene()
        let whole = try scene.segment.readFile()
        try scene.segment.flipByte(at: scene.segment.afterOpening() + 8)
        try scene.rebuild()
        #expect(try scene.open().findings.contains { $0.kind == .damage })
        try scene.placeCopy(whole)
        try scene.expectAll(unread: scene.segment)
        #expect(try !scene.open().findings.contains { $0.kind == .damage })
    }

    @Test("nothing is appended to a segment that is in several files, until one is moved away")
    func notAppended() throws {
        let scene = try Scene()
        try scene.placeCopy(scene.older)
        let before = try scene.segment.readFile()
        try scene.commit(2)
        #expect(try scene.segment.readFile() == before)
        #expect(try scene.nested.readFile() == scene.older)
        try scene.expectAll(unread: scene.nested)
        try scene.nested.removeFile()
        let store = try scene.open()
        #expect(store.findings.isEmpty)
        #expect(try store.catalogue.copiedSegments().isEmpty)
    }

    @Test("no segment that is in several files is dropped", arguments: [false, true])
    func notDropped(isPurging: Bool) throws {
        let scene = try Scene()
        try scene.placeCopy(scene.older)
        // Small segments are merged if there are eight, whatever they hold.
        for number in 2..<12 {
            try scene.commit(number)
            let store = try scene.open()
            for segment in try store.catalogue.segments() where !segment.isSealed { _ = try store.seal(segment) }
        }
        let result = try scene.reclaim(purging: isPurging)
        #expect(try scene.segment.readFile().count > 0 && scene.nested.readFile() == scene.older)
        #expect(isPurging || result.dropped > 0)
        try scene.expectAll(unread: scene.nested)
        try scene.rebuild()
        try scene.expectAll(unread: scene.nested)
    }

    @Test("a copy of a dropped segment is no second file of a segment", arguments: [false, true])
    func copyOfDropped(isRebuilt: Bool) throws {
        let scene = try Scene()
        let bytes = try scene.segment.readFile()
        for number in 2..<12 {
            let store = try scene.open()
            for segment in try store.catalogue.segments() where !segment.isSealed { _ = try store.seal(segment) }
            try scene.commit(number)
        }
        #expect(try scene.reclaim().dropped > 0)
        for copy in [scene.segment, scene.nested] {
            try copy.removingLastComponent().makeDirectory()
            try copy.writeFile(bytes)
        }
        if isRebuilt { try scene.rebuild() }
        let store = try scene.open()
        #expect(store.findings.isEmpty, "\(store.findings)")
        for commit in scene.commits { #expect(try store.holds(commit)) }
    }
}
