// Snapshots that were made while a clock was wrong: their order is right, and their times do no harm.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("A wrong clock", .blocking) struct WrongClockTests {
    private let sandbox: Sandbox
    private let root: ArchivedRoot
    private let first: ListedSnapshot
    private let hour: Int64 = 3600

    init() throws {
        sandbox = try Sandbox()
        try sandbox.root.write("f", "0")
        first = try sandbox.capture()
        root = try #require(try sandbox.archive.root(at: sandbox.root.directory))
    }

    /// Commits a snapshot after `parent`, so many seconds from now.
    private func commit(after parent: ListedSnapshot, _ seconds: Int64) throws -> ListedSnapshot {
        let store = sandbox.archive.store
        var snapshot = try store.snapshot(parent.id)
        // Different each time: equal snapshots are one.
        snapshot.time = Timestamp(seconds: Timestamp.now.seconds + seconds, nanoseconds: .random(in: 1..<999_999_999))
        snapshot.parent = parent.id
        snapshot.sequence = parent.sequence + 1
        return try store.beginCommit().commit(snapshot, base: nil)
    }

    private func at(_ seconds: Int64) throws -> SnapshotID? {
        try sandbox.archive.snapshot(of: root, at: Timestamp(seconds: Timestamp.now.seconds + seconds))?.id
    }

    @Test("a watcher reports once that the snapshot before its first one is dated in the future")
    func watched() async throws {
        let wrong = try commit(after: first, 40_000 * hour)
        try sandbox.root.write("f", "1")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.write("f", "22")
        try await watcher.nextSnapshot { $0.totals.bytes == 2 }
        try await watcher.stop()
        let reported = watcher.seen.compactMap { event in
            if case .wrongClock(_, let later) = event { later } else { nil }
        }
        #expect(reported == [wrong])
    }

    @Test("a capture after one with a clock in the future has its own time, and a moment names the last one before it")
    func future() throws {
        let old = try commit(after: first, -72 * hour)
        let wrong = try commit(after: old, 40_000 * hour)
        try sandbox.root.write("f", "1")
        let result = try sandbox.archive.capture(sandbox.root.directory)
        let present = try #require(result.snapshot)
        #expect(result.laterPrevious == wrong && present.time <= .now && present.sequence == wrong.sequence + 1)
        #expect(try at(1) == present.id)
        #expect(try at(-hour) == old.id)
        #expect(try sandbox.archive.snapshot("@1h", of: root) == old)
        #expect(try sandbox.archive.snapshot("@1h") == old, "the archive has one root")
        #expect(try sandbox.archive.snapshot(.latest) == present)
        #expect(try sandbox.archive.snapshotsOutOfOrder(of: root).contains(wrong.id))
        #expect(try !sandbox.archive.snapshotsOutOfOrder(of: root).contains(present.id))
        let sessions = try sandbox.archive.sessions(of: root)
        #expect(sessions.map(\.last) == [present, wrong, old, first])
        let status = try sandbox.archive.status(of: sandbox.root.directory)
        #expect(status.roots.first?.outOfOrder ?? 0 > 0)
        // Only the next one is after it.
        try sandbox.root.write("f", "2")
        #expect(try sandbox.archive.capture(sandbox.root.directory).laterPrevious == nil)
        let version = HistoryQuery(since: first.time)
        let versions = try sandbox.archive.history(of: try .at("f"), in: root, version)
        #expect(versions.count == 3, "the first one, and the two after the wrong clock")
    }

    @Test("once the snapshot with the wrong time is forgotten, nothing is out of order any more")
    func healing() throws {
        let wrong = try commit(after: first, 40_000 * hour)
        try sandbox.root.write("f", "1")
        try sandbox.capture()
        #expect(try sandbox.archive.snapshotsOutOfOrder(of: nil) == [wrong.id])
        #expect(try !sandbox.archive.isOrderedByTime(root))
        try sandbox.archive.forget([.snapshot(wrong)])
        #expect(try sandbox.archive.snapshotsOutOfOrder(of: nil) == [])
        #expect(try sandbox.archive.isOrderedByTime(root))
        #expect(try sandbox.archive.sessions(of: root).count == 1)
    }

    @Test("where a time steps back, the fewer snapshots are marked: those dated too late, or those dated too early")
    func marks() throws {
        let cases: [(hours: [Int64], marked: [Int])] = [
            ([-9, -8, -7, -6], []), ([-9, -2, -7, -6, -5], [1]), ([-9, -8, -900, -7, -6], [2]),
            ([-9, -8, -7, -6, -900], [4]), ([-9, -3, -2, -8, -7, -6], [1, 2]), ([-9, 5, 6, 7, -8], [1, 2, 3]),
            ([-9, 5], [1]), ([-900, -9, -800, -700, -8], [1]),
        ]
        for (hours, marked) in cases {
            var made: [ListedSnapshot] = []
            // The first snapshot of the sandbox is later than all, so it goes.
            for hour in hours { made.append(try commit(after: made.last ?? first, hour * self.hour)) }
            let others = Set([first.id]).union(made.map(\.id))
            let all = try sandbox.archive.snapshots().filter { !others.contains($0.id) } + [first]
            try sandbox.archive.forget(all.map { .snapshot($0) })
            let expected = Set(marked.map { made[$0].id })
            #expect(try sandbox.archive.snapshotsOutOfOrder(of: root) == expected, "\(hours)")
            try sandbox.archive.unforget(try sandbox.archive.forgottenLast().filter { $0.id == first.id.chunk })
        }
    }
}
