// Statements about snapshots and states after they were made: the latest counts, in whatever order they are found.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Statements about snapshots", .blocking)
struct StatementTests {
    /// Creates an archive of these commits in this order, in one segment or in one each, and rebuilds its catalogue.
    private func archive(
        _ isInOneSegment: Bool, _ commits: [(ArchiveStore) throws -> Void]
    ) throws -> (directory: TemporaryDirectory, store: ArchiveStore) {
        let directory = try TemporaryDirectory(inMemory: true)
        try ArchiveCreationTests.makeArchive(
            at: directory.path, segmentBytes: isInOneSegment ? 1 << 20 : SegmentHeader.byteCount + 1)
        do {
            let store = try ArchiveStore.open(directory.path, creating: false)
            for commit in commits { try commit(store) }
        }
        _ = try ArchiveStore.rebuildCatalogue(of: directory.path)
        return (directory, try ArchiveStore.open(directory.path, creating: false))
    }

    @Test(
        "the latest statement about a record counts, in whatever order statements are found",
        arguments: [true, false])
    func forgotten(isInOneSegment: Bool) throws {
        let snapshot = try StatementTests.snapshot()
        func say(_ isKept: Bool, _ seconds: Int64) -> (ArchiveStore) throws -> Void {
            let (time, ids) = (Timestamp(seconds: seconds), Set([snapshot.id.chunk]))
            if isKept { return { try $0.append(UnforgottenRecords(time: time, records: ids)) } }
            return { try $0.append(ForgottenRecords(time: time, records: ids)) }
        }
        let make: (ArchiveStore) throws -> Void = { _ = try $0.commit(1, [Array("one".utf8)]) }
        for (statements, isListed) in [
            ([(false, 5)], false), ([(false, 5), (true, 7)], true), ([(false, 5), (true, 7), (false, 9)], false),
            ([(false, 5), (true, 5)], true), ([(false, 5), (true, 4)], false), ([(true, 5)], true),
        ] as [([(Bool, Int64)], Bool)] {
            for order in permutations(statements.count + 1) {
                let commits = [make] + statements.map { say($0.0, $0.1) }
                let (directory, store) = try archive(isInOneSegment, order.map { commits[$0] })
                let listed = try store.catalogue.snapshots().map(\.id)
                #expect(listed == (isListed ? [snapshot.id] : []), "\(statements) in the order \(order)")
                #expect(try store.catalogue.isForgotten(snapshot.id.chunk) == !isListed)
                #expect(try store.catalogue.forgotten().map(\.id) == (isListed ? [] : [snapshot.id.chunk]))
                withExtendedLifetime(directory) {}
            }
        }
    }

    @Test("records that are forgotten and unforgotten are listed as before, also by a rebuilt catalogue")
    func broughtBack() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        var snapshots: [ListedSnapshot] = []
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            var commits: [Commit] = []
            for number in 1...4 { commits.append(try store.commit(number, [], parent: commits.last)) }
            snapshots = try store.catalogue.snapshots()
            let ids = Set(commits[1...2].map(\.id.chunk))
            let before = Timestamp.now
            try store.forget(ids)
            #expect(try store.catalogue.snapshots() == [snapshots[0], snapshots[3]])
            let forgotten = try store.catalogue.forgotten()
            #expect(Set(forgotten.map(\.id)) == ids && forgotten.allSatisfy { $0.time >= before })
            #expect(try store.catalogue.forgotten(until: before).isEmpty)
            #expect(try store.forgottenValue(commits[1].id.chunk) == .snapshot(snapshots[1]))
            try store.unforget(ids)
            #expect(try store.catalogue.snapshots() == snapshots)
            #expect(try store.catalogue.forgotten().isEmpty)
        }
        _ = try ArchiveStore.rebuildCatalogue(of: directory.path)
        #expect(try ArchiveStore.open(directory.path, creating: false).catalogue.snapshots() == snapshots)
    }

    @Test("records can be forgotten and unforgotten even if the clock was set back")
    func clock() throws {
        let later = Timestamp(seconds: 9_000_000_000)
        var id: ChunkID?
        let (directory, store) = try archive(true) { store in
            id = try store.commit(1, []).id.chunk
        } and: { store in
            try store.append(UnforgottenRecords(time: later, records: Set([id].compactMap { $0 })))
        }
        let ids = Set([id].compactMap { $0 })
        try store.forget(ids)
        #expect(try store.catalogue.snapshots().isEmpty)
        // A statement has the time of the clock, and counts because it is the last one.
        #expect(try store.catalogue.forgotten().allSatisfy { $0.time < later })
        try store.unforget(ids)
        #expect(try store.catalogue.snapshots().count == 1)
        withExtendedLifetime(directory) {}
    }

    @Test(
        "the latest label counts and overrides a snapshot's own, in whatever order they are found",
        arguments: [true, false])
    func labels(isInOneSegment: Bool) throws {
        let target = try StatementTests.snapshot().id.chunk
        let commits: [(ArchiveStore) throws -> Void] = [
            { _ = try $0.commit(1, [Array("one".utf8)]) },
            { try $0.append(LabelRecord(target: target, time: Timestamp(seconds: 5), label: "first")) },
            { try $0.append(LabelRecord(target: target, time: Timestamp(seconds: 9), label: "last")) },
            { try $0.append(LabelRecord(target: target, time: Timestamp(seconds: 7), label: nil)) },
        ]
        for order in permutations(commits.count) {
            let (directory, store) = try archive(isInOneSegment, order.map { commits[$0] })
            #expect(try store.catalogue.snapshots().map(\.label) == ["last"], "\(order)")
            #expect(try store.catalogue.snapshots(.init(label: "last")).count == 1, "\(order)")
            withExtendedLifetime(directory) {}
        }
        let (directory, store) = try archive(true, Array(commits.prefix(2)))
        #expect(try store.catalogue.snapshots().map(\.label) == ["first"])
        try store.enter(LabelRecord(target: target, time: .now, label: nil))
        #expect(try store.catalogue.snapshots().map(\.label) == [nil])
        // An unforgotten record has its latest label.
        try store.forget([target])
        try store.enter(LabelRecord(target: target, time: .now, label: "again"))
        try store.unforget([target])
        #expect(try store.catalogue.snapshots().map(\.label) == ["again"])
        withExtendedLifetime(directory) {}
    }

    @Test("the latest pin counts, in whatever order they are found", arguments: [true, false])
    func pins(isInOneSegment: Bool) throws {
        let target = ChunkID(hashing: [1])
        let last = PinRecord(
            target: target, time: Timestamp(seconds: 9), until: Timestamp(seconds: 99), reason: "reason")
        let commits: [(ArchiveStore) throws -> Void] = [
            { try $0.append(PinRecord(target: target, time: Timestamp(seconds: 5))) },
            { try $0.append(PinRecord(removedFrom: target, time: Timestamp(seconds: 7))) }, { try $0.append(last) },
        ]
        for order in permutations(commits.count) {
            let (directory, store) = try archive(isInOneSegment, order.map { commits[$0] })
            #expect(try store.catalogue.pins() == [target: last], "\(order)")
            try store.enter(PinRecord(removedFrom: target, time: Timestamp(seconds: 10)))
            #expect(try store.catalogue.pins() == [:] && store.catalogue.pin(of: target) == nil)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("the last statement counts, whatever the clock said, in whatever order they are found")
    func sequences() throws {
        let snapshot = try StatementTests.snapshot()
        let (target, late, early) = (snapshot.id.chunk, Timestamp(seconds: 9_000_000_000), Timestamp(seconds: 5))
        let pin = PinRecord(target: target, time: early, reason: "last", sequence: 2)
        let commits: [(ArchiveStore) throws -> Void] = [
            { _ = try $0.commit(1, [Array("one".utf8)]) },
            {
                try $0.append(LabelRecord(target: target, time: late, label: "first"))
                try $0.append(PinRecord(target: target, time: late, reason: "first"))
                try $0.append(PolicyRecord(time: late, maxSize: 1))
                try $0.append(ForgottenRecords(time: late, records: [target]))
            },
            {
                try $0.append(LabelRecord(target: target, time: early, label: "last", sequence: 2))
                try $0.append(pin)
                try $0.append(PolicyRecord(time: early, maxSize: 2, sequence: 2))
                try $0.append(UnforgottenRecords(time: early, records: [target], sequence: 2))
            },
        ]
        for order in permutations(commits.count) {
            let (directory, store) = try archive(true, order.map { commits[$0] })
            #expect(try store.catalogue.snapshots().map(\.label) == ["last"], "\(order)")
            #expect(try store.catalogue.pins() == [target: pin], "\(order)")
            #expect(try store.catalogue.policy(root: nil)?.maxSize == 2, "\(order)")
            #expect(try store.catalogue.nextSequence(ofLabel: target) == 3)
            #expect(try store.catalogue.nextSequence(ofPin: target) == 3)
            #expect(try store.catalogue.nextSequenceOfGeneralPolicy() == 3)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("notes and policies follow a moved root, also in a rebuilt catalogue")
    func moved() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let root = Array("/root".utf8)
        let new = Array("/new".utf8)
        let tiers = [PolicyRecord.Tier(width: 3600, age: nil)]
        func check(_ store: ArchiveStore) throws {
            let number = try #require(try store.catalogue.root(path: new, machine: .unknown)).number
            #expect(try store.catalogue.root(path: root, machine: .unknown) == nil)
            let notes = try store.catalogue.notes(root: number)
            #expect(notes.map(\.record.text) == ["note"] && notes.map(\.record.rootPath) == [new])
            #expect(try store.catalogue.policy(root: number)?.tiers == tiers)
            #expect(try store.catalogue.policy(root: nil)?.maxSize == 77)
        }
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            _ = try store.commit(1, [])
            _ = try store.enter(NoteRecord(rootPath: root, host: "host", time: Timestamp(seconds: 5), text: "note"))
            try store.enter(PolicyRecord(rootPath: root, time: Timestamp(seconds: 6), tiers: tiers))
            try store.enter(PolicyRecord(time: Timestamp(seconds: 6), maxSize: 77))
            try store.enter(
                RootNotice(
                    rootPath: root, host: "host", kind: .moved, time: Timestamp(seconds: 8), machine: .unknown,
                    newPath: new))
            try check(store)
        }
        _ = try ArchiveStore.rebuildCatalogue(of: directory.path)
        let store = try ArchiveStore.open(directory.path, creating: false)
        try check(store)
        try store.enter(PolicyRecord(time: Timestamp(seconds: 7), isRemoved: true))
        #expect(try store.catalogue.policy(root: nil) == nil)
    }

    /// The record that `commit(1, ["one"])` makes in any archive.
    private static func snapshot() throws -> ListedSnapshot {
        let directory = try TemporaryDirectory(inMemory: true)
        return try ArchiveStore.open(directory.path, creating: true).commit(1, [Array("one".utf8)]).record
    }

    private func archive(
        _ isInOneSegment: Bool, _ first: @escaping (ArchiveStore) throws -> Void,
        and second: @escaping (ArchiveStore) throws -> Void
    ) throws -> (directory: TemporaryDirectory, store: ArchiveStore) {
        try archive(isInOneSegment, [first, second])
    }
}

/// All permutations of the numbers below `count`.
private func permutations(_ count: Int) -> [[Int]] {
    if count == 0 { return [[]] }
    return permutations(count - 1).flatMap { order in
        (0...order.count).map { place in
            var longer = order
            longer.insert(count - 1, at: place)
            return longer
        }
    }
}

extension ArchiveStore {
    /// Appends a record without listing it, as another program might; a rebuilt catalogue finds it.
    fileprivate func append(_ record: some ArchiveRecord) throws {
        let writer = try beginCommit()
        var encoder = try BlockEncoder(level: 1)
        try writer.append(encoder.encode([RawChunk(kind: type(of: record).kind, bytes: record.encoded())]))
        try writer.commitChunks()
    }
}
