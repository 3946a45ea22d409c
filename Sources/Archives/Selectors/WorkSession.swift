// Sessions: bursts of snapshots without a long pause between them.

public import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Roots

/// A burst of work on a root.
public struct WorkSession: Sendable, Hashable {
    /// Its first and last snapshot.
    public private(set) var first: ListedSnapshot
    /// The last snapshot of the session.
    public private(set) var last: ListedSnapshot
    /// The state before the session; nil if it is unknown.
    public fileprivate(set) var before: ListedSnapshot?
    private var sums: SnapshotSums

    /// The number of its snapshots.
    public var snapshots: Int { sums.snapshots }
    /// The changes of all its snapshots together.
    public var changes: ChangeCounts { sums.changes }
    /// The bytes that the archive grew by.
    public var storedBytes: UInt64 { sums.storedBytes }

    /// A pause of this many seconds ends a session.
    public static let pause = SnapshotRun.pause

    fileprivate init(_ run: SnapshotRun) { (first, last, sums) = (run.first, run.last, run.sums) }

    /// A session that begins with `first`.
    package init(_ first: ListedSnapshot, after before: ListedSnapshot?) {
        self.init(SnapshotRun(first))
        self.before = before
    }

    /// Adds the snapshot after the last one.
    ///
    /// - Returns: false if there was a pause in between, so that it begins another session.
    package mutating func add(_ next: ListedSnapshot) -> Bool {
        guard SnapshotRun.goesOn(from: last.time.seconds, to: next.time.seconds) else { return false }
        last = next
        sums += SnapshotRun(next).sums
        return true
    }

    /// Whether the run before the first snapshot belongs to the session.
    fileprivate func continues(_ earlier: SnapshotRun) -> Bool {
        SnapshotRun.goesOn(from: earlier.last.time.seconds, to: first.time.seconds)
    }

    fileprivate mutating func add(_ earlier: SnapshotRun) {
        first = earlier.first
        sums += earlier.sums
    }
}

/// Joins runs, latest first, into sessions.
private struct SessionList {
    private(set) var sessions: [WorkSession] = []
    private var session: WorkSession?
    let limit: Int

    init(limit: Int?) { self.limit = limit ?? .max }

    /// - Returns: whether more runs are needed.
    mutating func add(_ run: SnapshotRun) -> Bool {
        if var current = session {
            if current.continues(run) {
                session?.add(run)
                return true
            }
            current.before = run.last
            sessions.append(current)
        }
        session = WorkSession(run)
        return sessions.count < limit
    }

    mutating func finish() { if let session, sessions.count < limit { sessions.append(session) } }
}

extension Archive {
    /// The sessions of a root, latest first.
    ///
    /// For one root, reads only a few snapshots per session, whatever the session's length.
    ///
    /// - Parameters:
    ///   - root: nil for all roots together, which reads every snapshot of these sessions.
    ///   - limit: the maximum number of sessions to return.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func sessions(of root: ArchivedRoot?, limit: Int? = nil) throws(ArchiverError) -> [WorkSession] {
        var list = SessionList(limit: limit)
        let only: ArchivedRoot?
        if let root {
            only = root
        } else {
            let all = try roots()
            only = all.count == 1 ? all.first : nil
        }
        if let only {
            try forEachRun(of: only) { list.add($0) }
        } else {
            try forEachSnapshot(SnapshotQuery(newestFirst: true)) { list.add(SnapshotRun($0)) }
        }
        list.finish()
        return list.sessions
    }

    /// Calls `body` with each run of snapshots of a root, latest first, until it returns false.
    private func forEachRun(of root: ArchivedRoot, _ body: (SnapshotRun) -> Bool) throws(ArchiverError) {
        try facing {
            guard let number = try number(of: root) else { return }
            var filter = Catalogue.SnapshotFilter(of: number, newestFirst: true, limit: 1)
            while let last = try store.catalogue.snapshots(filter).first {
                let run = try store.catalogue.run(endingAt: last, root: number)
                guard body(run) else { return }
                filter.behind = .init(sequence: run.first.sequence, time: run.first.time, id: run.first.id.chunk)
            }
        }
    }
}
