// Sending an archive to a replica, and getting it back.

import ArchiveFormat
import ArchiveStorage
import Archives
import Capturing
import Dispatch
import FileIO
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

@Suite("Sending to a replica", .blocking)
struct SendingTests {
    @Test("a clone has every snapshot with every file, and can be captured into")
    func roundTrip() throws {
        let scene = try ReplicaScene()
        var made: [SnapshotID] = []
        for number in 0..<20 {
            made.append(try scene.capture(number))
            if number % 3 == 0 { #expect(try scene.send().problems == []) }
        }
        try scene.send()
        #expect(try scene.status.missingBytes == 0)
        #expect(scene.names("segments/").count > 2 && scene.names("tails/").count == 1)
        let result = try scene.clone()
        #expect(result.problems == [])
        try scene.expect(result.archive, has: made)
        let more = try result.archive.capture(scene.root)
        #expect(more.snapshot == nil, "nothing has changed since")
        #expect(try result.archive.snapshots().count == 20)
    }

    @Test("only new bytes are sent, once, and pieces go when their segment is there as a whole")
    func pieces() throws {
        let scene = try ReplicaScene(segmentBytes: 100_000)
        try scene.capture(0)
        let first = try scene.send()
        #expect(first.objects == 1)
        let again = try scene.send()
        #expect(again.objects == 0 && again.bytes == 0)
        try scene.capture(1)
        let second = try scene.send()
        #expect(second.objects == 1 && second.bytes < first.bytes)
        #expect(scene.names("tails/").count == 2)
        for number in 2..<140 { try scene.capture(number) }
        try scene.send()
        #expect(scene.names("segments/").count == 1)
        #expect(scene.names("tails/").count == 1, "\(scene.names("tails/"))")
    }

    @Test("an empty pass asks the store for nothing but the replica's description")
    func idle() throws {
        let scene = try ReplicaScene()
        try scene.capture(0)
        try scene.send()
        let calls = scene.objects.calls.count
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        for _ in 0..<3 { _ = try replicator.send() }
        #expect(scene.objects.calls.count == calls + 1)
    }

    @Test("a test reads files from the replica alone, and a replica can be opened without a copy of it")
    func reading() throws {
        let scene = try ReplicaScene()
        var made: [SnapshotID] = []
        for number in 0..<12 { made.append(try scene.capture(number)) }
        let result = try scene.archive.testReplica(ReplicaScene.name, [scene.identity], stores: scene.stores)
        #expect(result.files == 20 && result.problems == [])
        #expect(try scene.status.tested != nil)
        let replica = try Archive.reading(scene.reader())
        try scene.expect(replica, has: made)
        let refusal = try failure { try replica.capture(scene.root) }
        #expect(refusal != nil)
    }

    @Test("a replica that is not encrypted is read without an identity")
    func open() throws {
        let scene = try ReplicaScene(adding: false)
        let error = try failure { try scene.add { $0.recipients = [] } }
        #expect(error?.code == .unsuitableSettings)
        try scene.add {
            $0.recipients = []
            $0.isEncrypted = false
        }
        let made = try scene.capture(0)
        try scene.send()
        let reader = try ReplicaReader(scene.objects, [])
        let copy = try ReplicaClone.run(reader, into: scene.base.path.appending("clone"))
        try scene.expect(copy.archive, has: [made])
    }

    @Test("a prune drops no segment that the replica lacks, and drops it when the replica has it")
    func retention() throws {
        let scene = try ReplicaScene()
        for number in 0..<30 { try scene.capture(number) }
        try scene.send()
        for number in 30..<60 { try scene.capture(number) }
        let latest = try #require(try scene.archive.snapshots().last)
        let old = try scene.archive.snapshots().dropLast().map { Selection.snapshot($0) }
        _ = try scene.archive.forget(old)
        let lacking = try scene.archive.store.catalogue.segments().filter(\.isSealed).suffix(3).map(\.path)
        let kept = try scene.archive.prune(grace: .zero)
        #expect(kept.unreplicated > 0 && kept.bytesUnreplicated > 0)
        #expect(kept.dropped > 0, "what the replica has is dropped")
        let left = Set(try scene.archive.store.catalogue.segments().map(\.path))
        #expect(left.isSuperset(of: lacking.dropLast()))
        try scene.send()
        let rest = try scene.archive.prune(grace: .zero)
        #expect(rest.unreplicated == 0 && rest.dropped > 0)
        try scene.send()
        let before = try scene.clone()
        #expect(before.problems == [])
        try scene.expect(before.archive, has: [latest.id])
        // What was dropped goes after the grace, and never before the copies of what is needed are there.
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        #expect(try replicator.prune(grace: .seconds(3600)).objects == 0)
        let count = scene.objects.objects.count
        #expect(try replicator.prune(grace: .zero).objects > 0)
        #expect(scene.objects.objects.count < count)
        let after = try scene.clone()
        #expect(after.problems == [])
        try scene.expect(after.archive, has: [latest.id])
    }

    @Test("segments are sent and cloned side by side, and what drops others is sent after all that it relies on")
    func sideBySide() throws {
        let scene = try ReplicaScene()
        for number in 0..<30 { try scene.capture(number) }
        try scene.send()
        for number in 30..<60 { try scene.capture(number) }
        let latest = try #require(try scene.archive.snapshots().last)
        _ = try scene.archive.forget(scene.archive.snapshots().dropLast().map { Selection.snapshot($0) })
        #expect(try scene.archive.prune(grace: .zero).dropped > 0)
        let meeting = Meeting()
        scene.objects.arrange { call in
            if case .put = call { meeting.come() } else { nil }
        }
        let before = scene.objects.calls.count
        #expect(try scene.send().problems == [])
        #expect(meeting.isHeld)
        let sent = scene.objects.calls.dropFirst(before).compactMap { call in
            if case .put(let name) = call { ReplicaObject(name)?.path } else { nil }
        }
        let store = scene.archive.store
        let dropping = try store.catalogue.segments().filter { try store.open($0).hasDroppedSegments(from: 0) }
        let last = Set(dropping.map(\.path))
        #expect(sent.count > last.count + 2 && !last.isEmpty)
        #expect(Set(sent.suffix(last.count)) == last)
        // The clone tries the first object before it begins.
        let reading = Meeting(after: 1)
        scene.objects.arrange { call in
            if case .get(let name, _) = call, ReplicaObject(name) != nil { reading.come() } else { nil }
        }
        let clone = try scene.clone()
        #expect(reading.isHeld && clone.problems == [])
        try scene.expect(clone.archive, has: [latest.id])
    }

    @Test("at a limited rate segments are sent one after another")
    func limitedRate() throws {
        let scene = try ReplicaScene(adding: false)
        try scene.add { $0.rateLimit = 1 << 40 }
        for number in 0..<30 { try scene.capture(number) }
        #expect(try scene.archive.store.catalogue.segments().count > 4)
        scene.objects.arrange { call in
            if case .put = call { .fails(.notAllowed) } else { nil }
        }
        let before = scene.objects.calls.count
        #expect(try failure { try scene.send() } != nil)
        let puts = scene.objects.calls.dropFirst(before).count { if case .put = $0 { true } else { false } }
        #expect(puts == 1)
        scene.objects.arrange(nil)
        #expect(try scene.send().problems == [])
        #expect(try scene.clone().problems == [])
    }

    @Test("at a limited rate every byte that is sent has its time, in pieces of a quarter of a second")
    func limitedRatePaces() throws {
        let rate: UInt64 = 1 << 20
        let scene = try ReplicaScene(adding: false)
        try scene.add { $0.rateLimit = rate }
        for number in 0..<30 { try scene.capture(number) }
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        let pacer = try #require(replicator.pacer)
        #expect(pacer.pieceBytes == rate / 4)
        let before = scene.objects.objects.values.reduce(0) { $0 + $1.count }
        let start = ContinuousClock.now
        #expect(try replicator.send().problems == [])
        let sent = scene.objects.objects.values.reduce(0) { $0 + $1.count } - before
        #expect(sent > 0)
        #expect(pacer.wait(for: 0, at: start) >= .seconds(Double(sent) / Double(rate)) * 0.999)
        #expect(try scene.clone().problems == [])
    }

    @Test("what was sent before a failure is remembered, and after a kill it is found in the store and not replaced")
    func remembering() throws {
        let scene = try ReplicaScene()
        for number in 0..<30 { try scene.capture(number) }
        let layout = scene.archive.store.layout
        let forgetting = try #require(try ReplicaProgress.read(ReplicaScene.name.text, in: layout))
        let puts = Locked(0)
        scene.objects.arrange { call in
            guard case .put = call else { return nil }
            let number = puts.withLock { puts in
                puts += 1
                return puts
            }
            return number > 3 ? .fails(.notAllowed) : nil
        }
        #expect(try failure { try scene.send() } != nil)
        let sent = scene.objects.objects.filter { $0.key.text.hasPrefix("segments/") }
        let remembered = try #require(try ReplicaProgress.read(ReplicaScene.name.text, in: layout))
        #expect(sent.count == 3)
        #expect(remembered.whole == Set(sent.keys.compactMap { ReplicaObject($0)?.path }))
        try forgetting.write(ReplicaScene.name.text, in: layout)
        scene.objects.arrange(nil)
        #expect(try scene.send().problems == [])
        #expect(sent.allSatisfy { scene.objects.objects[$0.key] == $0.value })
        #expect(try scene.clone().problems == [])
    }

    @Test("beside captures, at most half of the processors send")
    func besideCaptures() throws {
        let scene = try ReplicaScene()
        for number in 0..<30 { try scene.capture(number) }
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores, besideCaptures: true)
        scene.objects.arrange { call in
            if case .put = call { .fails(.notAllowed) } else { nil }
        }
        #expect(replicator.mostAtOnce == min(4, max(1, Processors.count / 2)))
        #expect(try scene.archive.replicator(ReplicaScene.name, stores: scene.stores).mostAtOnce == 4)
        let other = try Archive.open(scene.base.path.appending("archive"))
        let beside = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        #expect(beside.mostAtOnce == replicator.mostAtOnce)
        withExtendedLifetime(other) {}
        let before = scene.objects.calls.count
        #expect(try failure { try replicator.send() } != nil)
        let puts = scene.objects.calls.dropFirst(before).count { if case .put = $0 { true } else { false } }
        #expect((1...replicator.mostAtOnce).contains(puts))
        scene.objects.arrange(nil)
        #expect(try replicator.send().problems == [])
        #expect(try scene.clone().problems == [])
    }

    /// Two calls that wait for each other, which is possible only side by side.
    private final class Meeting: Sendable {
        private let count: Locked<Int>
        private let second = DispatchSemaphore(value: 0)

        init(after others: Int = 0) { count = Locked(-others) }

        /// Whether there was a second call before the first one ended.
        var isHeld: Bool { count.withLock { $0 } > 1 }

        func come() -> MemoryStore.Fault? {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { second.signal() }
            return number == 1 && second.wait(timeout: .now() + 60) == .timedOut ? .fails(.unreachable) : nil
        }
    }

    @Test("a segment that is shorter than its pieces, as after a power failure, is sealed and not continued")
    func shorter() throws {
        let scene = try ReplicaScene(segmentBytes: 1 << 20)
        let first = try scene.capture(0)
        let row = try #require(try scene.archive.store.catalogue.segments().first)
        let second = try scene.capture(1)
        try scene.send()
        // The disk loses the end, and the catalogue too.
        let directory = scene.archive.directory
        scene.archive.store.close()
        #expect(truncate(directory.appending("segments/" + row.path).string, row.indexedLength) == 0)
        for name in ["catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
            unlink(directory.appending(name).string)
        }
        try scene.reopen()
        let third = try scene.capture(2)
        let rows = try scene.archive.store.catalogue.segments()
        #expect(rows.count == 2 && rows[0].path == row.path && rows[0].isSealed)
        #expect(try scene.send().problems == [])
        #expect(try scene.status.missingBytes == 0)
        #expect(scene.names("segments/") == [], "the pieces are more than the segment")
        let copy = try scene.clone().archive
        #expect(Set(try copy.snapshots().map(\.id)) == [first, second, third])
        try scene.expect(copy, has: [first, third])
    }

    @Test("a segment that is damaged here does not replace its pieces in the replica")
    func damaged() throws {
        let scene = try ReplicaScene(segmentBytes: 8_000)
        var made: [SnapshotID] = []
        for number in 0..<4 { made.append(try scene.capture(number)) }
        try scene.send()
        while try scene.archive.store.catalogue.segments().first?.isSealed == false {
            made.append(try scene.capture(made.count))
        }
        let row = try #require(try scene.archive.store.catalogue.segments().first)
        let place = scene.archive.directory.appending("segments/" + row.path)
        let file = Glibc.open(place.string, O_RDWR)
        #expect(pwrite(file, "damage", 6, 2_000) == 6)
        close(file)
        try scene.reopen()
        #expect(try scene.send().problems == [])
        #expect(scene.names("segments/") == [])
        let copy = try scene.clone().archive
        #expect(Set(try copy.snapshots().map(\.id)).isSuperset(of: made))
    }

    @Test("a replica is not complete while a segment cannot be sent")
    func incomplete() throws {
        let scene = try ReplicaScene(segmentBytes: 8_000)
        var number = 0
        repeat {
            try scene.capture(number)
            number += 1
        } while try scene.archive.store.catalogue.segments().first?.isSealed == false
        // The next segment can be sent.
        try scene.capture(number)
        let row = try #require(try scene.archive.store.catalogue.segments().first)
        let segments = scene.archive.directory.appending("segments")
        let name = try #require(FilePath(row.path).lastComponent)
        #expect(rename(segments.string + "/" + row.path, segments.appending(name).string) == 0)
        try scene.reopen()
        let pass = try scene.send()
        #expect(pass.problems.count == 1 && pass.objects > 0)
        #expect(try scene.status.completeUntil == nil)
    }

    @Test("a clone that was interrupted is finished by the next one, and nothing else is written into")
    func resumed() throws {
        let scene = try ReplicaScene()
        var made: [SnapshotID] = []
        for number in 0..<20 { made.append(try scene.capture(number)) }
        try scene.send()
        let calls = scene.objects.calls.count
        scene.objects.arrange(.fails(.unreachable), atCall: calls + 5)
        let error = try failure { try scene.clone("clone") }
        #expect(error?.code == .replica)
        let place = scene.base.path.appending("clone")
        #expect(try failure { try Archive.open(place) } != nil, "it is no archive yet")
        let result = try scene.clone("clone")
        #expect(result.keptSegments > 0 && result.problems == [])
        try scene.expect(result.archive, has: made)
        #expect(try failure { try scene.clone("clone") }?.code == .targetNotEmpty)
    }
}
