// The chain of segments: each names the others and has a copy of archive.json, so neither can be lost unnoticed.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("The chain of segments", .blocking)
struct ChainTests {
    /// Some commits, each in segments of its own.
    fileprivate struct Scene {
        let directory: TemporaryDirectory
        let commits: [Commit]
        let segments: [FilePath]
        var path: FilePath { directory.path }
        var manifest: FilePath { path.appending("archive.json") }

        init(commits count: Int = 3) throws {
            directory = try TemporaryDirectory(inMemory: true)
            try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: SegmentHeader.byteCount + 1)
            var commits: [Commit] = []
            for number in 0..<count {
                let store = try ArchiveStore.open(directory.path, creating: false)
                commits.append(try store.commit(number, [Array("content \(number)".utf8)]))
            }
            self.commits = commits
            let folder = directory.path.appending("segments")
            segments = try folder.filesBelow().filter { $0.hasSuffix(".segment") }.map {
                folder.pushing(FilePath($0))
            }
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: false) }

        func removeCatalogue() {
            for suffix in ["", "-wal", "-shm"] {
                try? FilePath(path.appending("catalogue.sqlite").string + suffix).removeFile()
            }
        }

        /// What opening the archive without a catalogue reports as missing.
        func missing() throws -> [String] {
            removeCatalogue()
            return try open().findings.filter { $0.kind == .missing }.map(\.message)
        }
    }

    @Test("without a catalogue, each missing segment is named")
    func eachIsNamed() throws {
        let scene = try Scene()
        #expect(scene.segments.count >= 6)
        #expect(try scene.missing() == [])
        for segment in scene.segments {
            let bytes = try segment.readFile()
            try segment.removeFile()
            let missing = try scene.missing()
            let name = try #require(segment.lastComponent?.string)
            #expect(missing.count == 1 && missing.first?.contains(name) ?? false, "\(missing)")
            // It is still missed by the next process, which has a catalogue.
            #expect(try scene.open().findings.contains { $0.kind == .missing })
            try segment.writeFile(bytes)
            #expect(try !scene.open().findings.contains { $0.kind == .missing })
        }
        #expect(try scene.missing() == [])
    }

    @Test("the list of begun segments may be lost")
    func withoutList() throws {
        let scene = try Scene()
        try scene.path.appending("begun").removeFile()
        #expect(try scene.missing() == [])
        for segment in scene.segments.dropLast() {
            let bytes = try segment.readFile()
            try segment.removeFile()
            let digits = try #require(segment.lastComponent?.string.dropLast(8).suffix(32))
            let missing = try scene.missing()
            #expect(missing.count == 1 && missing.first?.contains(digits) ?? false, "\(missing)")
            try segment.writeFile(bytes)
        }
    }

    @Test("names that the list lacks, as after a full disk, are added by the next program, also behind half a line")
    func healedList() throws {
        let scene = try Scene()
        let list = scene.path.appending("begun")
        let whole = try list.readFile()
        for kept in [0, whole.count / 2, whole.count - 1, whole.count] {
            try list.writeFile(Array(whole.prefix(kept)))
            _ = try scene.open()
            let lines = try Set(list.readFile().split(separator: UInt8(ascii: "\n")).map(Array.init))
            #expect(lines.isSuperset(of: whole.split(separator: UInt8(ascii: "\n")).map(Array.init)), "\(kept)")
        }
        let newest = try #require(scene.segments.last)
        try newest.removeFile()
        #expect(try scene.missing().count == 1)
    }

    @Test("several missing segments are all named, also if the list has lines that name nothing")
    func several() throws {
        let scene = try Scene()
        let list = scene.path.appending("begun")
        try list.writeFile(list.readFile() + Array("garbage\n\u{0}\u{ff}\n\n2026".utf8))
        for segment in scene.segments.suffix(4) { try segment.removeFile() }
        #expect(try scene.missing().count == 4)
    }

    @Test("a dropped segment is not missed")
    func dropped() throws {
        let scene = try Scene()
        let store = try scene.open()
        let location = try #require(try store.catalogue.location(of: scene.commits[0].id.chunk))
        let segment = try #require(try store.catalogue.segment(location.segment))
        #expect(try store.catalogue.condemn(segment.number))
        try store.enter(dropping: [segment])
        try store.segments.path(of: segment.path).removeFile()
        #expect(try scene.open().findings.isEmpty)
        #expect(try scene.missing() == [])
    }

    @Test("a lost segment that is written off is no finding any more, and is read if it turns up again")
    func writtenOff() throws {
        let scene = try Scene()
        let lost = scene.segments[2]
        let bytes = try lost.readFile()
        let name = try #require(lost.lastComponent?.string)
        try lost.removeFile()
        #expect(try scene.missing().count == 1)
        #expect(try ArchiveStore.rebuildCatalogue(of: scene.path).missing.count == 1)
        let summary = try ArchiveStore.rebuildCatalogue(of: scene.path, writingOff: "bad sectors")
        #expect(summary.missing == [] && summary.lost.count == 1, "\(summary)")
        for isRebuilt in [false, true] {
            if isRebuilt { scene.removeCatalogue() }
            let store = try scene.open()
            #expect(store.findings.map(\.kind) == [.lostSegment], "\(store.findings)")
            let message = store.findings.first?.message ?? ""
            #expect(message.contains(name) && message.hasSuffix(": bad sectors"), "\(message)")
        }
        // Another loss is a finding.
        let other = scene.segments[4]
        let others = try other.readFile()
        try other.removeFile()
        #expect(try scene.missing().count == 1)
        try other.writeFile(others)
        #expect(try scene.missing() == [])
        try lost.writeFile(bytes)
        scene.removeCatalogue()
        let store = try scene.open()
        #expect(store.findings == [])
        for commit in scene.commits { #expect(try store.holds(commit)) }
    }

    @Test("repair restores a damaged archive.json byte by byte from the segments")
    func repaired() throws {
        let scene = try Scene()
        let good = try scene.manifest.readFile()
        for index in stride(from: 0, to: good.count, by: 7) {
            try scene.manifest.flipByte(at: index)
            #expect(try failure { try scene.open() }?.code == .damaged, "byte \(index)")
            let summary = try ArchiveStore.rebuildCatalogue(of: scene.path)
            #expect(try scene.manifest.readFile() == good, "byte \(index)")
            #expect(summary.moved.count == 1 && summary.damage.isEmpty)
        }
        try scene.manifest.removeFile()
        _ = try ArchiveStore.rebuildCatalogue(of: scene.path)
        #expect(try scene.manifest.readFile() == good)
        #expect(try ArchiveStore.rebuildCatalogue(of: scene.path).moved == [])
        let store = try scene.open()
        for commit in scene.commits { #expect(try store.holds(commit)) }
    }

    @Test("an archive.json of another archive is corrected, too")
    func foreignManifest() throws {
        let scene = try Scene()
        let good = try scene.manifest.readFile()
        let right = try ArchiveManifest(decoding: good)
        let others = [
            ArchiveManifest(id: .random(), created: .now),
            ArchiveManifest(
                id: right.id, created: right.created, parameters: .init(segmentBytes: 1 << 20, treeSeed: .init(7))),
        ]
        for other in others {
            try scene.manifest.writeFile(other.encoded())
            _ = try ArchiveStore.rebuildCatalogue(of: scene.path)
            #expect(try scene.manifest.readFile() == good)
        }
        // A newer one is kept.
        let newer = ArchiveManifest(id: right.id, created: right.created, revision: 1)
        try scene.manifest.writeFile(newer.encoded())
        _ = try ArchiveStore.rebuildCatalogue(of: scene.path)
        #expect(try scene.manifest.readFile() == newer.encoded())
    }

    @Test("an archive that requires an unknown feature is read only, or refused, and the error names it")
    func features() throws {
        let scene = try Scene()
        let good = try scene.manifest.readFile()
        let right = try ArchiveManifest(decoding: good)
        func require(read: [String], write: [String]) throws -> ArchiveManifest {
            ArchiveManifest(
                id: right.id, created: right.created, parameters: right.parameters, revision: 1, requiresToRead: read,
                requiresToWrite: write)
        }
        try scene.manifest.writeFile(require(read: ["mirrors-2"], write: []).encoded())
        let refused = try failure { try scene.open() }
        #expect(refused?.code == .newerFormat && refused?.message.contains("'mirrors-2'") ?? false)
        #expect(try failure { try ArchiveStore.rebuildCatalogue(of: scene.path) }?.code == .newerFormat)
        try scene.manifest.writeFile(require(read: [], write: ["tape-3"]).encoded())
        #expect(try failure { try ArchiveStore.rebuildCatalogue(of: scene.path) }?.code == .newerFormat)
        #expect(try failure { try SoleUse(of: scene.path) }?.code == .newerFormat)
        let before = try scene.path.filesBelow()
        do {
            let store = try scene.open()
            for commit in scene.commits { #expect(try store.holds(commit)) }
            let error = try failure { try store.commit(9, [[9]]) }
            #expect(error?.code == .newerFormat && error?.message.contains("'tape-3'") ?? false)
        }
        #expect(try scene.path.filesBelow() == before)
        // A segment has the word, but an old archive.json was put back.
        do {
            try scene.manifest.writeFile(require(read: [], write: []).encoded())
            try scene.manifest.writeFile(good)
            try scene.append(require(read: [], write: ["tape-3"]))
            let store = try scene.open()
            for commit in scene.commits { #expect(try store.holds(commit)) }
            #expect(try failure { try store.commit(9, [[9]]) }?.message.contains("'tape-3'") ?? false)
            try scene.append(require(read: ["mirrors-2"], write: []))
            #expect(try failure { try scene.open() }?.message.contains("'mirrors-2'") ?? false)
        }
    }

    @Test("a segment with a damaged opening is read, and the damage is reported")
    func damagedOpening() throws {
        let scene = try Scene()
        try scene.segments[0].flipByte(at: SegmentHeader.byteCount + 90)
        scene.removeCatalogue()
        let store = try scene.open()
        #expect(store.findings.contains { $0.kind == .damage })
        for commit in scene.commits { #expect(try store.holds(commit)) }
    }
}

extension ChainTests.Scene {
    /// Adds a segment whose opening has a copy of `manifest`.
    fileprivate func append(_ manifest: ArchiveManifest) throws {
        let header = SegmentHeader(archive: manifest.id, segment: .random(), created: .now)
        let opening = SegmentOpening(of: header.segment, manifest, others: [])
        var encoder = try BlockEncoder(level: 1)
        let place = BlockPlace(in: BlockOrigin(archive: manifest.id, segment: header.segment), offset: 64)
        let block = try encoder.encode([RawChunk(kind: .opening, bytes: opening.encoded())]).bytes(at: place)
        let name = SegmentName(created: header.created, segment: header.segment).fileName
        try path.appending("segments").appending(name).writeFile(header.encoded() + block)
    }
}
