// Work sessions: the catalogue's summaries agree with a scan of all snapshots.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Sessions", .blocking) struct WorkSessionTests {
    private let sandbox: Sandbox
    private let tree: ChunkID

    init() throws {
        sandbox = try Sandbox()
        let commit = try sandbox.archive.store.beginCommit()
        let node = RawChunk(kind: .node, bytes: Node.leaf([]).encoded())
        if try commit.claim(node.id) { try commit.append(sandbox.archive.store.encode([node])) }
        try commit.commitChunks()
        tree = node.id
    }

    /// Commits an empty snapshot with any sequence number and time.
    @discardableResult
    private func commit(_ sequence: UInt64, at seconds: Int64, _ added: UInt64 = 1) throws -> ListedSnapshot {
        let commit = try sandbox.archive.store.beginCommit()
        let snapshot = Snapshot(
            time: Timestamp(seconds: seconds), rootPath: sandbox.root.directory.bytes, host: "host", cause: .watch,
            tree: tree, totals: Totals(), changes: ChangeCounts(added: added), storedBytes: 3, sequence: sequence,
            machine: Machine.id)
        return try commit.commit(snapshot, base: nil)
    }

    private struct Session: Equatable {
        let first: SnapshotID
        let last: SnapshotID
        let before: SnapshotID?
        let snapshots: Int
        let added: UInt64
        let storedBytes: UInt64
    }

    /// The sessions, latest first, from a scan of all snapshots.
    private func naive(_ archive: Archive, _ root: ArchivedRoot) throws -> [Session] {
        let all = try archive.snapshots(SnapshotQuery(root: root))
        var starts = all.isEmpty ? [] : [0]
        for index in all.indices.dropFirst()
        where abs(all[index].time.seconds - all[index - 1].time.seconds) >= WorkSession.pause {
            starts.append(index)
        }
        return zip(starts, starts.dropFirst() + [all.count]).map { start, end in
            let members = all[start..<end]
            return Session(
                first: members[start].id, last: members[end - 1].id, before: start > 0 ? all[start - 1].id : nil,
                snapshots: members.count, added: members.reduce(0) { $0 + $1.changes.added },
                storedBytes: members.reduce(0) { $0 + $1.storedBytes })
        }.reversed()
    }

    private func expectTruth(_ archive: Archive, _ comment: Comment) throws {
        let root = ArchivedRoot(here: sandbox.root.directory)
        let expected = try naive(archive, root)
        for limit in [nil, 1, 2] {
            let found = try archive.sessions(of: limit == 2 ? nil : root, limit: limit).map {
                Session(
                    first: $0.first.id, last: $0.last.id, before: $0.before?.id, snapshots: $0.snapshots,
                    added: $0.changes.added, storedBytes: $0.storedBytes)
            }
            #expect(found == Array(expected.prefix(limit ?? .max)), comment)
        }
    }

    @Test("sessions agree with a scan of all snapshots, wherever snapshots are added and removed", arguments: 0..<4)
    func random(part: UInt64) throws {
        let printed = SeededGenerator("sessions agree with a scan of all snapshots, part \(part)")
        var random = SeededGenerator(seed: printed.seed &+ part)
        let archive = sandbox.archive
        var (sequence, time) = (UInt64(1), Int64(1_000_000))
        for step in 0..<120 {
            let comment = Comment(rawValue: "seed \(printed.seed), step \(step)")
            switch random.below(12) {
            case 0:
                // Merged copies of archives: a snapshot is inserted, perhaps at an odd time.
                try commit(
                    UInt64(1 + random.below(Int(sequence))), at: time - Int64(random.below(9000)),
                    UInt64(random.below(5)))
            case 1:
                let all = try archive.snapshots()
                if all.count > 1, let victim = all.randomElement(using: &random) {
                    try archive.store.forget([victim.id.chunk])
                }
            case 2 where random.oneIn(4): try archive.store.catalogue.forgetHistory()
            case 3:
                // A query, which sums up few snapshots at a time.
                if let number = try archive.number(of: ArchivedRoot(here: sandbox.root.directory)),
                    let latest = try archive.snapshots().last
                {
                    _ = try archive.store.catalogue.run(endingAt: latest, root: number, limit: 2)
                }
            case 4: try expectTruth(archive, comment)
            default:
                sequence += 1
                time += [10, 600, 1799, 1800, 4000, -500][random.below(6)]
                try commit(sequence, at: time, UInt64(random.below(5)))
            }
        }
        let comment = Comment(rawValue: "seed \(printed.seed)")
        try expectTruth(archive, comment)
        try expectTruth(sandbox.reopened(), comment)
        try archive.store.catalogue.forgetHistory()
        try expectTruth(archive, comment)
    }

    @Test("listing a session reads only a few of its snapshots, however many it has")
    func cost() throws {
        var costs: [StorageCounters.Counts] = []
        for number in 1...600 {
            try commit(UInt64(number), at: Int64(number) * 60 + (number > 20 ? 7200 : 0))
            guard number == 60 || number == 600 else { continue }
            let archive = try sandbox.reopened()
            let root = ArchivedRoot(here: sandbox.root.directory)
            let before = archive.store.counters.counts
            #expect(try archive.sessions(of: root).map(\.snapshots) == [number - 20, 20])
            #expect(try archive.snapshot("session~1", of: root).sequence == 20)
            costs.append(archive.store.counters.counts - before)
        }
        #expect(costs[0].snapshotsRead == costs[1].snapshotsRead && costs[1].snapshotsRead <= 10, "\(costs)")
        #expect(costs[1].transactions == 0, "the commits have summed them up")
    }
}
