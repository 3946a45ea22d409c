// Bursts of work: snapshots between which there is no long pause.

public import ArchiveFormat
public import ArchiveStorage
internal import FileIO

/// A burst of work on a root.
public struct WorkSession: Sendable, Hashable {
    /// Its first and last snapshot.
    public fileprivate(set) var first: SnapshotRecord
    public let last: SnapshotRecord
    /// The state that it began with; nil where nobody knows.
    public fileprivate(set) var before: SnapshotRecord?
    public fileprivate(set) var snapshots = 0
    public fileprivate(set) var changes = ChangeCounts()
    /// Bytes that the archive grew by.
    public fileprivate(set) var storedBytes: UInt64 = 0

    /// A pause as long as this ends one, in seconds.
    public static let pause: Int64 = 30 * 60

    fileprivate init(last: SnapshotRecord) {
        first = last
        self.last = last
        add(last)
    }

    /// Whether a snapshot that comes before the first belongs to the session.
    fileprivate func continues(_ earlier: SnapshotRecord) -> Bool {
        // Clocks are set back: what lies in the future is of the same work.
        first.time.seconds < earlier.time.seconds.addingReportingOverflow(WorkSession.pause).partialValue
    }

    fileprivate mutating func add(_ earlier: SnapshotRecord) {
        first = earlier
        snapshots += 1
        changes.added = FormatLimits.sum(changes.added, earlier.changes.added, FormatLimits.entries)
        changes.modified = FormatLimits.sum(changes.modified, earlier.changes.modified, FormatLimits.entries)
        changes.removed = FormatLimits.sum(changes.removed, earlier.changes.removed, FormatLimits.entries)
        storedBytes = FormatLimits.sum(storedBytes, earlier.storedBytes, FormatLimits.bytes)
    }
}

extension Archive {
    /// The bursts of work on a root, the latest first.
    ///
    /// Reads the snapshots of these sessions and no others.
    ///
    /// - Parameter limit: the most sessions to give.
    public func sessions(of root: ArchivedRoot?, limit: Int? = nil) throws(ArchiverError) -> [WorkSession] {
        var sessions: [WorkSession] = []
        var session: WorkSession?
        try forEachSnapshot(SnapshotQuery(root: root, newestFirst: true)) { snapshot in
            guard let current = session else {
                session = WorkSession(last: snapshot)
                return true
            }
            if current.continues(snapshot) {
                session?.add(snapshot)
                return true
            }
            session?.before = snapshot
            if let session { sessions.append(session) }
            session = WorkSession(last: snapshot)
            return limit.map { sessions.count < $0 } ?? true
        }
        if let session, limit.map({ sessions.count < $0 }) ?? true { sessions.append(session) }
        return sessions
    }
}
