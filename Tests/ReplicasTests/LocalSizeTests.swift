// Segments that leave the local disk: what is left can be used without the replica, and nothing is lost.

import Age
import ArchiveFormat
import ArchiveStorage
import Archives
import Capturing
import Checking
import FileIO
import Foundation
import Glibc
import Keeping
import ObjectStore
import Replicas
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading
import Watching

/// A scene whose history is known byte for byte, and whose replica has all of it.
private final class History {
    let scene: ReplicaScene
    /// The files of each snapshot.
    private(set) var states: [(id: SnapshotID, files: [String: [UInt8]])] = []
    private let address = "memory:\(UInt32.random(in: 0 ... .max))"
    private var number = 0

    /// - Parameter fileBytes: how long most files are.
    init(snapshots: Int = 40, segmentBytes: Int = 20_000, fileBytes: Int = 3_000) throws {
        scene = try ReplicaScene(segmentBytes: segmentBytes, adding: false)
        let key = scene.base.path.appending("key.txt")
        let text = AgeIdentityFile.text(of: scene.identity, created: "2026-11-26T00:00:00Z")
        #expect(FileManager.default.createFile(atPath: key.string, contents: Data(text.utf8)))
        try scene.add { request in
            request.address = address
            request.identityFile = key.string
        }
        ReplicaReading.begin(scene.stores, for: scene.archive.directory)
        for _ in 0..<snapshots { try capture(fileBytes: fileBytes) }
        #expect(try scene.send().problems == [])
    }

    var archive: Archive { scene.archive }
    var joined: JoinedSegments { get throws { try #require(archive.store.joined) } }

    /// Changes a few files, one of them a little, and captures.
    func capture(fileBytes: Int = 3_000) throws {
        number += 1
        var random = SeededGenerator("local size \(number)")
        func noise(_ count: Int) -> [UInt8] { random.noise(count) }
        let root = scene.base.url.appending(path: "root")
        try FileManager.default.createDirectory(
            at: root.appending(path: "d\(number % 3)"), withIntermediateDirectories: true)
        if number == 1 {
            try Data(noise(fileBytes)).write(to: root.appending(path: "never changed"))
            for old in 0..<80 { try Data(noise(40)).write(to: root.appending(path: "small \(old)")) }
        }
        try Data(noise(fileBytes)).write(to: root.appending(path: "d\(number % 3)/f\(number % 7)"))
        let log = root.appending(path: "log")
        let before = (try? Data(contentsOf: log)) ?? Data(noise(fileBytes))
        try (before + Data("line \(number)\n".utf8)).write(to: log)
        let snapshot = try #require(try archive.capture(scene.root).snapshot)
        var files: [String: [UInt8]] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: root.path) ?? .init() {
            if let data = try? Data(contentsOf: root.appending(path: path)) { files[path] = Array(data) }
        }
        states.append((snapshot.id, files))
    }

    func setLimit(_ bytes: UInt64?) throws { try archive.setLocalSize(LocalSize(bytes: bytes), stores: scene.stores) }

    /// Lets `bytes` leave the local disk.
    @discardableResult
    func evict(_ bytes: UInt64, isDryRun: Bool = false) throws -> EvictionResult {
        let local = try archive.segmentPlaces().localBytes
        try setLimit(local - min(local - 1, bytes))
        return try #require(try archive.evictSegments(isDryRun: isDryRun, stores: scene.stores))
    }

    /// Expects every snapshot's files, byte for byte.
    func expectAll(
        in archive: Archive? = nil, _ chosen: (Int) -> Bool = { _ in true },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let archive = archive ?? self.archive
        archive.store.forgetReadBlocks()
        let listed = Dictionary(try archive.snapshots().map { ($0.id, $0) }) { one, _ in one }
        for (index, state) in states.enumerated() where chosen(index) {
            let snapshot = try #require(listed[state.id], sourceLocation: sourceLocation)
            var found: [String: [UInt8]] = [:]
            try archive.forEachEntry(in: snapshot) { entry in
                if entry.kind == .file { found["\(entry.path)"] = [] }
                return true
            }
            #expect(Set(found.keys) == Set(state.files.keys), sourceLocation: sourceLocation)
            for (path, bytes) in state.files {
                let place = try #require(RelativePath(path))
                let entry = try #require(try archive.entry(at: place, in: snapshot), sourceLocation: sourceLocation)
                let isEqual = try archive.read(entry, range: 0..<entry.size) == bytes
                #expect(isEqual, "\(path) of snapshot \(index)", sourceLocation: sourceLocation)
            }
        }
    }

    func check(data: Bool) throws -> CheckResult {
        try facing { try ArchiveCheck.run(archive.store, reading: data ? .all : .none, nil) }
    }

    /// Whether every block in a local segment has its bases in local segments.
    func expectLocalChains(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let catalogue = archive.store.catalogue
        let away = try catalogue.awaySegments()
        var bases: [ChunkPrefix] = []
        try catalogue.forEachBlock { location, block in
            if !away.contains(location.segment) { bases += block.bases }
        }
        for base in bases {
            let place = try #require(try catalogue.chunk(beginning: base)).location
            #expect(!away.contains(place.segment), sourceLocation: sourceLocation)
        }
    }

    var segmentFiles: [String] {
        let folder = archive.directory.appending("segments").string
        return (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
            .filter { $0.hasSuffix(".segment") }.sorted()
    }

    /// Lets every request to the store fail.
    func disconnect() { scene.objects.arrange { _ in .fails(.unreachable) } }
    func connect() { scene.objects.arrange(nil) }
}

/// `UTIME_OMIT` of utimensat(2), which Swift does not import.
private let utimeOmit = (1 << 30) - 2

@Suite("Larger than the disk", .blocking, .timeLimit(.minutes(60)))
struct LocalSizeTests {
    @Test("what has left the local disk is read from the replica, byte for byte")
    func reading() throws {
        let history = try History()
        let files = history.segmentFiles
        let result = try history.evict(60_000)
        #expect(result.segments > 2 && result.problems == [])
        #expect(history.segmentFiles.count < files.count)
        let places = try history.archive.segmentPlaces()
        #expect(places.awaySegments == result.segments && places.awayBytes == result.bytes)
        #expect(places.replicas == ["test"])
        try history.expectAll()
        try history.scene.reopen()
        #expect(history.archive.findings.isEmpty)
        try history.expectAll()
    }

    @Test("the local disk has at most the size that is set, and captures go on as before")
    func size() throws {
        let history = try History(segmentBytes: 60_000, fileBytes: 15_000)
        let limit = try history.archive.segmentPlaces().localBytes - 200_000
        try history.setLimit(limit)
        for _ in 0..<3 {
            let result = try #require(try history.archive.evictSegments(stores: history.scene.stores))
            #expect(try !result.isShort && history.archive.segmentPlaces().localBytes <= limit)
            for _ in 0..<8 { try history.capture(fileBytes: 15_000) }
            try history.scene.send()
        }
        try history.expectAll()
        #expect(try history.check(data: true).findingCount == 0)
    }

    @Test(
        "without the network, captures work and need no request, and what is local can be read; the rest says why not")
    func disconnected() throws {
        let history = try History()
        try history.evict(60_000)
        history.disconnect()
        let calls = history.scene.objects.calls.count
        try history.scene.reopen()
        let count = history.states.count
        for _ in 0..<6 { try history.capture() }
        #expect(history.scene.objects.calls.count == calls, "no capture asks the replica")
        try history.expectLocalChains()
        var errors: [ArchiverError] = []
        for index in history.states.indices {
            if let error = try failure({ try history.expectAll { $0 == index } }) { errors.append(error) }
        }
        #expect(!errors.isEmpty)
        for error in errors {
            #expect(error.code == .replica)
            #expect(error.message.contains("is only in the replica 'test', which cannot be read now"), "\(error)")
            #expect(error.remedy?.contains("what is on the local disk stays usable") == true)
        }
        #expect(try history.archive.findings.isEmpty && history.archive.store.catalogue.damage().isEmpty)
        try history.scene.reopen()
        #expect(history.archive.findings.isEmpty)
        history.connect()
        try history.expectAll()
        #expect(history.states.count == count + 6)
    }

    @Test("the newest tree and everything that local segments depend on stay on the local disk")
    func localBases() throws {
        let history = try History()
        for _ in 0..<3 {
            try history.evict(40_000)
            try history.expectLocalChains()
            for _ in 0..<5 { try history.capture() }
            try history.scene.send()
        }
        history.disconnect()
        try history.scene.reopen()
        let latest = try #require(try history.archive.snapshots().max { $0.sequence < $1.sequence })
        var entries = 0
        try history.archive.forEachEntry(in: latest) { _ in
            entries += 1
            return true
        }
        #expect(entries > 80)
    }

    @Test("a node that only a replica has is stored again, and content that it has is not")
    func storingAgain() throws {
        let history = try History(snapshots: 30)
        let root = history.scene.base.url.appending(path: "root")
        try Data("before".utf8).write(to: root.appending(path: "small 1"))
        try history.capture()
        for _ in 0..<10 { try history.capture() }
        try history.scene.send()
        try history.evict(100_000)
        history.disconnect()
        let before = try history.archive.store.localBytes()
        try FileManager.default.moveItem(
            at: root.appending(path: "never changed"), to: root.appending(path: "renamed"))
        try history.capture()
        #expect(try history.archive.store.localBytes() - before < 12_000, "the renamed file is not stored again")
        history.connect()
        try history.expectAll()
    }

    @Test("those that were least recently read leave first")
    func order() throws {
        let history = try History()
        let files = history.segmentFiles
        let folder = history.archive.directory.appending("segments")
        // By their age, only the oldest would leave first.
        var first: [String] = []
        for file in files {
            for other in files {
                let day = other == file ? 30 : 60
                var times = [timespec(tv_sec: day * 86_400, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: utimeOmit)]
                #expect(utimensat(AT_FDCWD, folder.pushing(FilePath(other)).string, &times, 0) == 0)
            }
            _ = try history.evict(1)
            // It stays if much of it is needed.
            if !history.segmentFiles.contains(file) { first.append(file) }
            try history.archive.fetchSegments(stores: history.scene.stores)
        }
        #expect(first.count > 2, "\(first) of \(files)")
    }

    @Test("a dry run says what then happens, and changes nothing")
    func dryRun() throws {
        let history = try History()
        let files = history.segmentFiles
        let foreseen = try history.evict(50_000, isDryRun: true)
        #expect(foreseen.segments > 0 && history.segmentFiles == files)
        let behind = try history.archive.evictSegments(isDryRun: true, freed: 50_000, stores: history.scene.stores)
        #expect(behind?.segments == 0, "a prune before it would free enough")
        #expect(try history.archive.segmentPlaces().awaySegments == 0)
        let done = try #require(try history.archive.evictSegments(stores: history.scene.stores))
        #expect(done.segments == foreseen.segments && done.bytes == foreseen.bytes)
    }

    @Test("nothing leaves for a replica that lacks it, has another content, or cannot be read")
    func unverified() throws {
        let history = try History()
        let files = history.segmentFiles
        let objects = history.scene.objects
        let good = objects.objects
        let wrongs: [(name: String, change: ([UInt8]) -> [UInt8]?)] = [
            ("is missing", { _ in nil }), ("bytes, not", { $0.dropLast() }),
            ("damaged or forged", { bytes in bytes.enumerated().map { $0 == bytes.count - 30 ? $1 ^ 1 : $1 } }),
        ]
        for wrong in wrongs {
            objects.objects = good.reduce(into: [:]) { changed, object in
                let isSegment = object.key.text.hasPrefix("segments/")
                changed[object.key] = isSegment ? wrong.change(object.value) : object.value
            }
            let result = try history.evict(50_000)
            #expect(result.segments == 0 && result.isShort && history.segmentFiles == files)
            #expect(result.problems.first?.contains(wrong.name) == true, "\(result.problems.first ?? "")")
        }
        // Each object under the name of the next one.
        let segments = good.keys.filter { $0.text.hasPrefix("segments/") }.sorted()
        objects.objects = good.merging(
            zip(segments, segments.dropFirst() + segments.prefix(1)).map { ($0, good[$1] ?? []) }
        ) { _, new in new }
        #expect(try history.evict(50_000).segments == 0 && history.segmentFiles == files)
        objects.objects = good
        history.disconnect()
        let result = try #require(try history.archive.evictSegments(stores: history.scene.stores))
        #expect(result.segments == 0 && result.problems.count == 1, "\(result.problems)")
        history.connect()
        #expect(try history.evict(50_000).segments > 0)
        try history.expectAll()
    }

    @Test("a local size needs a replica with an identity that nobody has to be asked for")
    func identity() throws {
        let scene = try ReplicaScene(adding: false)
        let none = try failure { try scene.archive.setLocalSize(LocalSize(bytes: 1 << 30), stores: scene.stores) }
        #expect(none?.code == .noSuchReplica)
        try scene.add()
        let unnamed = try failure { try scene.archive.setLocalSize(LocalSize(bytes: 1 << 30), stores: scene.stores) }
        #expect(unnamed?.code == .wrongIdentity && unnamed?.remedy == Advice.nameIdentity.text)
        let size = LocalSize(bytes: 1 << 30, identityFile: "/missing/key")
        let missing = try failure { try scene.archive.setLocalSize(size, stores: scene.stores) }
        #expect(missing?.code == .wrongIdentity && missing?.message.contains("/missing/key") == true)
        #expect(missing?.remedy?.contains("put it there") == true)
        #expect(try scene.archive.localSize() == LocalSize())
        #expect(try scene.archive.evictSegments(stores: scene.stores) == nil)
    }

    @Test("reading a small file that has left fetches only parts of its segment")
    func ranges() throws {
        let history = try History(snapshots: 24, segmentBytes: 2_000_000, fileBytes: 300_000)
        let result = try history.evict(3_000_000)
        #expect(result.segments > 0)
        try history.scene.reopen()
        let archive = history.archive
        let first = try #require(try archive.snapshots().first { $0.id == history.states[0].id })
        let calls = history.scene.objects.calls.count
        let entry = try #require(try archive.entry(at: "small 7", in: first))
        #expect(try archive.read(entry, range: 0..<entry.size) == history.states[0].files["small 7"])
        var bytes: UInt64 = 0
        for call in history.scene.objects.calls.dropFirst(calls) {
            guard case .get(let name, let range) = call, name.text.hasPrefix("segments/") else { continue }
            bytes += try #require(range).upperBound - (range?.lowerBound ?? 0)
        }
        // None if the file is at an end of the segment: verifying has read both ends, and they are still known.
        #expect(bytes < 1_000_000, "\(bytes)")
    }

    @Test("if a process is killed at any step, everything is there, and the next run ends the work")
    func killed() throws {
        let history = try History()
        let result = try history.evict(60_000)
        let listed = try history.joined.listed()
        let left = listed.keys.sorted()
        #expect(left.count == result.segments)
        try history.archive.fetchSegments(stores: history.scene.stores)
        #expect(try history.joined.listed().isEmpty)
        // Killed behind the list, behind the catalogue, and between two files.
        for step in 0..<3 {
            try history.joined.change { $0 = listed }
            if step > 0 {
                let rows = try history.archive.store.catalogue.segments().filter { listed[$0.path] != nil }
                try history.archive.store.catalogue.markAway(rows.map(\.number))
            }
            if step > 1 {
                let file = history.archive.directory.appending("segments").pushing(FilePath(left[0]))
                #expect(unlink(file.string) == 0)
            }
            try history.scene.reopen()
            #expect(history.archive.findings.isEmpty)
            #expect(try history.archive.segmentPlaces().awaySegments == (step > 1 ? 1 : 0))
            try history.expectAll()
            try history.capture()
            let again = try #require(try history.archive.evictSegments(stores: history.scene.stores))
            #expect(again.problems == [] && !again.isShort && again.segments > 0)
            try history.expectLocalChains()
            try history.expectAll()
            try history.archive.fetchSegments(stores: history.scene.stores)
            #expect(try history.joined.listed().isEmpty)
            try history.expectAll()
        }
    }

    @Test("whichever request fails, nothing is lost, and the next run goes on")
    func everyRequest() throws {
        let history = try History(snapshots: 30)
        let start = history.scene.objects.calls.count
        let needed = try history.evict(30_000)
        #expect(needed.segments > 0)
        let requests = history.scene.objects.calls.count - start
        try history.archive.fetchSegments(stores: history.scene.stores)
        for number in 0..<requests {
            for fault in [MemoryStore.Fault.fails(.unreachable), .isCut] {
                history.scene.objects.arrange(fault, atCall: history.scene.objects.calls.count + number)
                _ = try? history.archive.evictSegments(stores: history.scene.stores)
                let again = try #require(try history.archive.evictSegments(stores: history.scene.stores))
                #expect(!again.isShort || again.problems.count == 1, "\(again.problems)")
                try history.expectAll { $0.isMultiple(of: 7) }
                history.scene.objects.arrange(fault, atCall: history.scene.objects.calls.count + number)
                _ = try? history.archive.fetchSegments(stores: history.scene.stores)
                try history.archive.fetchSegments(stores: history.scene.stores)
                #expect(try history.joined.listed().isEmpty)
            }
        }
        try history.expectAll()
    }

    @Test("a watcher keeps the archive within its local size by itself")
    func watching() async throws {
        let history = try History()
        try history.setLimit(history.archive.segmentPlaces().localBytes - 60_000)
        var options = WatchService.Options(maintenance: .unattended)
        options.timeScale = 5000
        options.replicaStores = history.scene.stores
        let service = WatchService(history.archive, roots: [history.scene.root], options)
        async let end: Void = service.run()
        try await service.settle()
        while try history.archive.segmentPlaces().awaySegments == 0 { await Task.yield() }
        service.stop()
        try await end
        #expect(try history.archive.segmentPlaces().awaySegments > 0)
        try history.expectAll()
    }

    @Test("segments that were fetched are as they were")
    func fetching() throws {
        let history = try History()
        let folder = history.archive.directory.appending("segments")
        func content(_ file: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(folder)/\(file)")) }
        let files = try Dictionary(uniqueKeysWithValues: history.segmentFiles.map { ($0, try content($0)) })
        let result = try history.evict(60_000)
        let fetched = try history.archive.fetchSegments(stores: history.scene.stores)
        #expect(fetched.segments == result.segments && fetched.bytes == result.bytes)
        for (file, bytes) in files where try content(file) != bytes {
            #expect(try content(file).starts(with: bytes.prefix(bytes.count / 2)), "only the open one has grown")
        }
        #expect(try history.archive.segmentPlaces().awaySegments == 0)
        history.disconnect()
        try history.expectAll()
        #expect(try history.check(data: true).findingCount == 0)
    }

    @Test("an archive that was open before goes on reading, and sees where segments are")
    func otherReader() throws {
        let history = try History()
        let other = try Archive.open(history.archive.directory)
        try history.expectAll(in: other) { $0 < 3 }
        try history.evict(60_000)
        try history.expectAll(in: other)
        #expect(try other.segmentPlaces().awaySegments > 0)
        try history.archive.fetchSegments(stores: history.scene.stores)
        history.disconnect()
        other.store.closeRemovedSegments()
        try history.expectAll(in: other)
    }

    @Test("a prune leaves segments that are only in a replica, and loses nothing that others need")
    func pruning() throws {
        let history = try History()
        try history.evict(60_000)
        let away = try history.archive.segmentPlaces()
        let going = try history.archive.snapshots().filter { snapshot in
            history.states.firstIndex { $0.id == snapshot.id }.map { $0 % 3 != 0 && $0 < 39 } ?? false
        }
        try history.archive.store.forget(Set(going.map(\.id.chunk)))
        let pruned = try history.archive.prune(grace: .zero)
        let used = try history.archive.room().usedBytes
        #expect(pruned.dropped > 0 && pruned.bytesBefore <= used + pruned.freedBytes)
        #expect(try history.archive.segmentPlaces().awaySegments == away.awaySegments)
        try history.expectLocalChains()
        try history.expectAll { $0 % 3 == 0 || $0 == 39 }
        history.disconnect()
        try history.scene.reopen()
        let error = try failure { try history.archive.prune(grace: .zero) }
        #expect(error?.code == .replica, "what is needed is not known without the replica: nothing is dropped")
        history.connect()
        try history.expectAll { $0 % 3 == 0 || $0 == 39 }
    }

    @Test("a purge refuses while segments are only in a replica, and works when they are back")
    func purging() throws {
        let history = try History()
        try history.evict(60_000)
        let directory = history.archive.directory
        let root = try #require(try history.archive.roots().first)
        let target = PurgeTarget.paths(["never changed"], of: root)
        history.archive.store.close()
        let refusal = try failure { try Archive.purge(target, in: directory) }
        #expect(refusal?.code == .replica && refusal?.remedy == Advice.fetchSegments.text)
        try history.scene.reopen()
        try history.setLimit(nil)
        try history.archive.fetchSegments(stores: history.scene.stores)
        history.archive.store.close()
        #expect(try Archive.purge(target, in: directory).verification != nil)
        try history.scene.reopen()
        #expect(try history.check(data: true).findingCount == 0)
    }

    @Test("a replica with segments that are nowhere else is not removed, and a check never deletes its objects")
    func onlyCopy() throws {
        let history = try History()
        try history.evict(60_000)
        let refusal = try failure { try history.archive.removeReplica(ReplicaScene.name) }
        #expect(refusal?.code == .replica && refusal?.remedy == Advice.fetchSegments.text)
        let path = try #require(try history.joined.listed().keys.min())
        let name = try #require(ReplicaObject.segment(path: path).name)
        history.scene.objects.objects[name]?.removeLast()
        let replicator = try history.archive.replicator(ReplicaScene.name, stores: history.scene.stores)
        let result = try replicator.check(readingWith: [history.scene.identity])
        #expect(result.problems.contains { $0.contains("part of the history is lost") }, "\(result.problems)")
        #expect(history.scene.objects.objects[name] != nil)
        #expect(try replicator.prune(grace: .zero).objects == 0 || history.scene.objects.objects[name] != nil)
        let sent = try replicator.send(comparing: true)
        #expect(sent.problems.contains { $0.contains("not on the local disk") }, "\(sent.problems)")
        #expect(history.scene.objects.objects[name] != nil)
    }

    @Test("a check passes with segments in a replica, and a replica's check of all bytes, too")
    func checking() throws {
        let history = try History()
        try history.evict(60_000)
        #expect(try history.check(data: false).findingCount == 0)
        #expect(try history.check(data: true).findingCount == 0)
        let replicator = try history.archive.replicator(ReplicaScene.name, stores: history.scene.stores)
        #expect(try replicator.check(readingWith: [history.scene.identity]).problems == [])
        history.disconnect()
        try history.scene.reopen()
        #expect(try failure { try history.check(data: false) }?.code == .replica)
        #expect(try history.archive.store.catalogue.damage().isEmpty)
    }

    @Test("the catalogue is rebuilt with the replica, and the old one stays if that cannot be read")
    func rebuilding() throws {
        let history = try History()
        try history.evict(60_000)
        let directory = history.archive.directory
        history.archive.store.close()
        history.disconnect()
        #expect(try failure { try Archive.repairCatalogue(of: directory) }?.code == .replica)
        try history.scene.reopen()
        #expect(try history.archive.snapshots().count == history.states.count)
        history.archive.store.close()
        history.connect()
        #expect(try Archive.repairCatalogue(of: directory).findings == [])
        try history.scene.reopen()
        #expect(history.archive.findings.isEmpty)
        let count = try history.archive.segmentPlaces().awaySegments
        #expect(try count > 0 && history.archive.store.catalogue.awaySegments().count == count)
        try history.expectLocalChains()
        try history.expectAll()
        try history.capture()
        history.disconnect()
        try history.capture()
    }

    @Test("a clone of the replica has everything, on the disk")
    func cloning() throws {
        let history = try History()
        try history.evict(60_000)
        try history.capture()
        try history.scene.send()
        let clone = try history.scene.clone()
        #expect(clone.problems == [])
        history.disconnect()
        try history.expectAll(in: clone.archive)
        #expect(try clone.archive.segmentPlaces().awaySegments == 0)
        #expect(try clone.archive.store.catalogue.awaySegments().isEmpty)
    }

    @Test("a list of segments that cannot be read is refused: nothing is taken for missing")
    func damagedList() throws {
        let history = try History()
        try history.evict(60_000)
        let file = history.archive.directory.appending("away.json").string
        let good = try Data(contentsOf: URL(filePath: file))
        history.archive.store.close()
        try good.prefix(good.count / 2).write(to: URL(filePath: file))
        let error = try failure { try Archive.open(history.archive.directory) }
        #expect(error?.code == .damaged && error?.message.contains("away.json") == true)
        try good.write(to: URL(filePath: file))
        try history.scene.reopen()
        #expect(history.archive.findings.isEmpty)
        try history.expectAll()
    }
}
