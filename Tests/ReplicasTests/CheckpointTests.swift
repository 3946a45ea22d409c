// Checkpoints: a machine without an archive begins with one, and reads few objects.

import Age
import ArchiveFormat
import ArchiveStorage
import Archives
import FileIO
import Foundation
import Keeping
import ObjectStore
import Replicas
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Checkpoints", .blocking)
struct CheckpointTests {
    /// Sends, and makes a checkpoint if anything was sent.
    private func sendWithCheckpoint(_ scene: ReplicaScene) throws {
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores, checkpointBytes: 1)
        #expect(try replicator.send().problems == [])
    }

    private func checkpoints(_ scene: ReplicaScene) -> [String] { scene.names("checkpoints/") }

    /// The reads that `body` makes, by the names of the objects.
    private func reads(_ scene: ReplicaScene, _ body: () throws -> Void) rethrows -> [String] {
        let before = scene.objects.calls.count
        try body()
        return scene.objects.calls.dropFirst(before).compactMap { call in
            if case .get(let name, _) = call { name.text } else { nil }
        }
    }

    @Test("a machine without an archive reads the checkpoint, and none of the segments that it covers")
    func fewReads() throws {
        let scene = try ReplicaScene(segmentBytes: 12_000)
        var made: [SnapshotID] = []
        for number in 0..<80 { made.append(try scene.capture(number)) }
        try sendWithCheckpoint(scene)
        #expect(checkpoints(scene).count == 1 && scene.names("segments/").count > 4)
        var replica: Archive?
        let opening = try reads(scene) { replica = try Archive.reading(scene.reader()) }
        #expect(opening.allSatisfy { $0.hasPrefix("checkpoints/") || $0 == "archiver-replica.json" }, "\(opening)")
        #expect(opening.count == 2, "\(opening)")
        let opened = try #require(replica)
        #expect(opened.findings.isEmpty, "\(opened.findings)")
        #expect(Set(try opened.snapshots().map(\.id)) == Set(made))
        // One file of each snapshot, with nothing kept. Which bases a tree depends on is left to chance.
        let counts = try made.indices.map { number in
            let opened = try Archive.reading(scene.reader())
            let snapshot = try #require(try opened.snapshots().first { $0.id == made[number] })
            func read() throws -> [String] {
                try reads(scene) {
                    let entry = try #require(try opened.entry(at: RelativePath("number"), in: snapshot))
                    #expect(try opened.read(entry, range: 0..<entry.size) == Array("\(number)".utf8))
                }
            }
            let first = try read()
            #expect(Set(first).count == first.count, "an object is read twice: \(first)")
            opened.store.forgetReadBlocks()
            #expect(try read().isEmpty)
            return first.count
        }
        #expect(counts.reduce(0, +) <= 5 * counts.count, "\(counts)")
        try scene.expect(opened, has: made)
        #expect(try scene.clone().problems == [])
    }

    @Test("the list of a replica is asked for at the same time as its description")
    func list() throws {
        let scene = try ReplicaScene()
        let made = try scene.capture(0)
        try scene.send()
        let together = Meeting(of: 2)
        scene.objects.arrange { call in
            switch call {
            case .list: together.attend()
            case .get(let name, _): if name.text == ReplicaObject.manifest { together.attend() }
            default: break
            }
            return nil
        }
        let replica = try Archive.reading(scene.reader(lists: true))
        #expect(together.isComplete)
        #expect(try replica.snapshots().map(\.id) == [made])
    }

    @Test("the blocks that a block depends on come at the same time, from whatever segments they are in")
    func bases() throws {
        let scene = try ReplicaScene(segmentBytes: 1_000_000)
        var random = SeededGenerator("bases")
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random.below(256)) } }
        var changing = bytes(3000)
        // What is read with a segment's header, or with the tree at its end, is far away from the file in the middle.
        for number in 0..<8 {
            changing[number * 300] ^= 1
            for (name, content) in [("a", bytes(800_000)), ("b", changing), ("c", bytes(800_000))] {
                try Data(content).write(to: scene.base.url.appending(path: "root/\(name)"))
            }
            _ = try scene.archive.capture(scene.root)
        }
        try sendWithCheckpoint(scene)
        let replica = try Archive.reading(scene.reader())
        let snapshot = try #require(try replica.snapshots().max { $0.time < $1.time })
        let entry = try #require(try replica.entry(at: RelativePath("b"), in: snapshot))
        let together = Meeting(of: 3)
        scene.objects.arrange { call in
            if case .get(_, let range?) = call, range.lowerBound > 0 { together.attend() }
            return nil
        }
        #expect(try replica.read(entry, range: 0..<entry.size) == changing)
        #expect(together.isComplete)
    }

    @Test("what was sent after a checkpoint is read from its objects, and only the last checkpoints stay")
    func later() throws {
        let scene = try ReplicaScene()
        var made: [SnapshotID] = []
        for round in 0..<4 {
            for number in 0..<7 { made.append(try scene.capture(round * 7 + number)) }
            try sendWithCheckpoint(scene)
        }
        #expect(checkpoints(scene).count == 2)
        for number in 40..<60 {
            made.append(try scene.capture(number))
            if number % 6 == 0 { try scene.send() }
        }
        try scene.send()
        #expect(checkpoints(scene).count == 2, "too little was sent for another one")
        let replica = try Archive.reading(scene.reader())
        #expect(replica.findings.isEmpty, "\(replica.findings)")
        try scene.expect(replica, has: made)
    }

    @Test("a checkpoint that is damaged, cut off, forged, hidden or old hides nothing")
    func useless() throws {
        let scene = try ReplicaScene()
        var made: [SnapshotID] = []
        for number in 0..<20 { made.append(try scene.capture(number)) }
        try sendWithCheckpoint(scene)
        let object = try #require(checkpoints(scene).first.flatMap { ObjectName($0) })
        let bytes = try #require(scene.objects.objects[object])
        let old = try #require(ObjectName("checkpoints/20010101T000000Z.age"))
        let future = try #require(ObjectName("checkpoints/20990101T000000Z.age"))
        for number in 20..<40 { made.append(try scene.capture(number)) }
        try scene.send()
        var changed = bytes
        changed[bytes.count / 2] ^= 1
        let segment = try #require(scene.names("segments/").first.flatMap { ObjectName($0) })
        for replaced in [nil, changed, Array(bytes.prefix(bytes.count / 2)), scene.objects.objects[segment], []] {
            scene.objects.objects[object] = replaced
            let replica = try Archive.reading(scene.reader())
            #expect(Set(try replica.snapshots().map(\.id)) == Set(made))
            #expect(replica.findings.isEmpty, "\(replica.findings)")
        }
        // A replayed one under another name is refused, and the right one is used.
        scene.objects.objects[object] = bytes
        scene.objects.objects[old] = bytes
        scene.objects.objects[future] = bytes
        try scene.expect(Archive.reading(scene.reader()), has: made)
        // The next one is later than all others, also if a clock was wrong.
        made.append(try scene.capture(40))
        try sendWithCheckpoint(scene)
        #expect(checkpoints(scene).contains("checkpoints/20990101T000001Z.age"), "\(checkpoints(scene))")
        try scene.expect(Archive.reading(scene.reader()), has: made)
    }

    @Test("a segment that a checkpoint covers and the store hides is missed by its name")
    func hiddenSegment() throws {
        let scene = try ReplicaScene()
        for number in 0..<20 { try scene.capture(number) }
        try sendWithCheckpoint(scene)
        let object = try #require(scene.names("segments/").first)
        scene.objects.objects[try #require(ObjectName(object))] = nil
        let path = object.dropFirst("segments/".count).dropLast(".age".count)
        let replica = try Archive.reading(scene.reader())
        #expect(replica.findings.contains { $0.message.contains(path) }, "\(replica.findings)")
    }

    @Test("what was dropped after a checkpoint is ignored, and a prune of the replica makes a new one first")
    func dropped() throws {
        let scene = try ReplicaScene()
        for number in 0..<30 { try scene.capture(number) }
        try sendWithCheckpoint(scene)
        let first = checkpoints(scene)
        let latest = try #require(try scene.archive.snapshots().last)
        _ = try scene.archive.forget(scene.archive.snapshots().dropLast().map { Selection.snapshot($0) })
        #expect(try scene.archive.prune(grace: .zero).dropped > 0)
        try scene.send()
        #expect(checkpoints(scene) == first)
        func expectRight() throws {
            let replica = try Archive.reading(scene.reader())
            #expect(replica.findings.isEmpty, "\(replica.findings)")
            #expect(try replica.snapshots().map(\.id) == [latest.id])
            try scene.expect(replica, has: [latest.id])
        }
        try expectRight()
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        #expect(try replicator.prune(grace: .zero).objects > 0)
        #expect(checkpoints(scene).count == 1 && Set(checkpoints(scene)).isDisjoint(with: first))
        try expectRight()
    }

    @Test("a check makes a missing or damaged checkpoint again")
    func checked() throws {
        let scene = try ReplicaScene()
        for number in 0..<12 { try scene.capture(number) }
        try sendWithCheckpoint(scene)
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        #expect(try replicator.check(readingWith: [scene.identity]).mended == [])
        let first = try #require(checkpoints(scene).first.flatMap { ObjectName($0) })
        scene.objects.objects[first]?[2_000] ^= 1
        let mended = try replicator.check(readingWith: [scene.identity]).mended
        #expect(mended.count == 1 && mended.first?.contains(first.text) == true, "\(mended)")
        #expect(try replicator.check(readingWith: [scene.identity]).mended == [])
        let second = try #require(checkpoints(scene).last.flatMap { ObjectName($0) })
        scene.objects.objects[second] = nil
        #expect(try replicator.check().mended.count == 1)
        #expect(try replicator.check().mended == [])
    }

    @Test("a checkpoint that fails, or whose process was killed, keeps nothing from being sent, and is made later")
    func failing() throws {
        let scene = try ReplicaScene()
        // A killed process left its files.
        let folder = scene.archive.directory.appending("settings/replicas")
        for file in ["test.catalogue", "test.checkpoint"] {
            try Data("left".utf8).write(to: URL(filePath: folder.appending(file).string))
        }
        try scene.capture(0)
        scene.objects.arrange { call in
            if case .put(let name) = call, name.text.hasPrefix("checkpoints/") { .fails(.full) } else { nil }
        }
        try sendWithCheckpoint(scene)
        #expect(try scene.status.missingBytes == 0 && scene.status.failure == nil)
        #expect(checkpoints(scene).isEmpty)
        scene.objects.arrange(nil)
        try scene.capture(1)
        try sendWithCheckpoint(scene)
        #expect(checkpoints(scene).count == 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.string).filter { $0.hasPrefix("test.") }
        #expect(left.sorted() == ["test.progress.json", "test.replica.json"])
    }

    @Test("the replicas of several machines are listed without a key, with their newest state and size")
    func fleet() throws {
        let scene = try ReplicaScene()
        try scene.capture(0)
        try scene.send()
        let fleet = MemoryStore()
        for (name, bytes) in scene.objects.objects {
            for prefix in ["desk/", "rack/one/", "lost/"] where prefix != "lost/" || !name.text.hasPrefix("archiver") {
                fleet.objects[try #require(ObjectName(prefix + name.text))] = bytes
            }
        }
        fleet.objects[try #require(ObjectName("other/file"))] = [1]
        let members = try FleetMember.all(in: fleet)
        #expect(members.map(\.prefix) == ["desk/", "lost/", "rack/one/"])
        #expect(members[0].bytes == scene.objects.objects.values.reduce(0) { $0 + UInt64($1.count) })
        #expect(members[0].problem == nil && members[0].newest == members[2].newest)
        let newest = try #require(members[0].newest)
        #expect(try newest == scene.status.completeUntil.map { Timestamp(seconds: $0.seconds) })
        #expect(members[1].problem?.contains("archiver-replica.json") == true)
    }
}
