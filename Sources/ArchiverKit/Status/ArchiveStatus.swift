// How an archive and its roots stand, and whether all is well.

public import ArchiveFormat
public import ArchiveStorage
public import FileIO
public import SystemPackage

/// Something that keeps all from being well, and what to do about it.
public struct Concern: Sendable, Hashable {
    public let message: String
    public let remedy: String?

    public init(_ message: String, remedy: String? = nil) {
        self.message = message
        self.remedy = remedy
    }
}

/// How one root stands.
public struct RootStatus: Sendable {
    public let root: ArchivedRoot
    /// Whether a process watches it.
    public let isWatched: Bool
    /// What that process tells; nil where there is none, or it does not answer.
    public let watcher: WatcherStatus?
    /// When its latest watcher was last at work; nil where it never was watched.
    public let lastWatched: Timestamp?
    /// When it was retired ('archiver roots forget'): it is not expected to be watched; nil where it was not, or has been
    /// captured since.
    public let retired: Timestamp?
    public let latest: ListedSnapshot?
    public let snapshotCount: Int
    /// Bytes that its snapshots added to the archive in the last day.
    public let storedInLastDay: UInt64
    /// Gaps that ended in the last day, by time.
    public let gaps: [GapRecord]
    /// What is not as it should be.
    public let concerns: [Concern]
}

/// How an archive and its roots stand.
public struct ArchiveStatus: Sendable {
    public let directory: FilePath
    /// Bytes of all segments.
    public let storedBytes: UInt64
    /// Bytes that an ordinary user can still write where the archive is.
    public let freeBytes: UInt64
    /// How much room the archive takes and may take.
    public let room: ArchiveRoom
    /// What programs have saved.
    public internal(set) var states = StateTotals()
    /// What is damaged or cannot be read in the archive; it is among the concerns.
    public internal(set) var damage: [ArchiveFinding] = []
    public let roots: [RootStatus]
    /// The system's limits on watching.
    public let limits: WatchLimits
    /// What is not as it should be and concerns no single root.
    public let concerns: [Concern]

    /// Whether nothing is to be worried about.
    public var isWell: Bool { concerns.isEmpty && roots.allSatisfy { $0.concerns.isEmpty } }
}

/// How much programs have saved in an archive.
public struct StateTotals: Sendable, Hashable {
    /// How many states there are.
    public internal(set) var count = 0
    /// Bytes that the archive grew by for them.
    public internal(set) var storedBytes: UInt64 = 0
}

/// The system's limits on watching, for the calling user.
public struct WatchLimits: Sendable, Hashable {
    /// Directories that may be watched by inotify.
    public let watches: Int?
    /// Programs that may use inotify.
    public let instances: Int?
    /// Events that may wait.
    public let queuedEvents: Int?
    /// Directories that may be watched by fanotify.
    public let marks: Int?
}
