// The status of an archive and its roots.

public import ArchiveFormat
public import ArchiveStorage
public import FileIO
public import Replicas
public import SystemPackage

/// The status of one root.
public struct RootStatus: Sendable {
    /// The root.
    public let root: ArchivedRoot
    /// Whether a process watches it.
    public let isWatched: Bool
    /// The watching process's answer; nil if there is none, or it does not answer.
    public let watcher: WatcherStatus?
    /// When its latest watcher was last active; nil if it was never watched.
    public let lastWatched: Timestamp?
    /// When it was retired, so that it need not be watched; nil if it was not, or has been
    /// captured since.
    public let retired: Timestamp?
    /// Its latest snapshot; nil if it has none.
    public let latest: ListedSnapshot?
    /// The number of its listed snapshots.
    public let snapshotCount: Int
    /// Bytes that its snapshots added to the archive in the last day.
    public let storedInLastDay: UInt64
    /// How many snapshots have times that contradict their order, or are in the future.
    public let outOfOrder: Int
    /// Gaps that ended in the last day, by time.
    public let gaps: [GapRecord]
    /// What is wrong with the root.
    public let findings: [Finding]
}

/// The status of an archive and its roots.
public struct ArchiveStatus: Sendable {
    /// The archive's absolute path.
    public let directory: FilePath
    /// Bytes of all segments.
    public let storedBytes: UInt64
    /// Bytes that an ordinary user can still write to the archive's file system.
    public let freeBytes: UInt64
    /// How much space the archive takes and may take.
    public let room: ArchiveRoom
    /// Where its segments are.
    public let places: SegmentPlaces
    /// The totals of the states that programs have saved.
    public internal(set) var states = StateTotals()
    /// Damaged or unreadable parts of the archive; also among the findings.
    public internal(set) var damage: [ArchiveFinding] = []
    /// What the last check found; nil if there was none.
    public internal(set) var lastCheck: CheckNotice?
    /// The status of each replica, ordered by name.
    public internal(set) var replicas: [ReplicaStatus] = []
    /// The status of each root, ordered by path.
    public let roots: [RootStatus]
    /// The system's limits on watching.
    public let limits: WatchLimits
    /// What is wrong with the archive, apart from single roots.
    public let findings: [Finding]

    /// Whether something in the archive is damaged, as far as is known without another check.
    public var isDamaged: Bool { !damage.isEmpty || (lastCheck?.findingCount ?? 0) > 0 }

    /// Whether there are no findings.
    public var isWell: Bool {
        findings.isEmpty && roots.allSatisfy { $0.findings.isEmpty } && replicas.allSatisfy { $0.findings.isEmpty }
    }
}

/// How much programs have saved in an archive.
public struct StateTotals: Sendable, Hashable {
    /// The number of states.
    public internal(set) var count = 0
    /// How many bytes they added to the archive.
    public internal(set) var storedBytes: UInt64 = 0
}

/// The system's limits on watching, for the calling user.
///
/// An unknown limit is nil.
public struct WatchLimits: Sendable, Hashable {
    /// How many directories inotify may watch.
    public let watches: Int?
    /// How many inotify instances there may be.
    public let instances: Int?
    /// How many events the kernel queues.
    public let queuedEvents: Int?
    /// How many directories fanotify may watch.
    public let marks: Int?
}
