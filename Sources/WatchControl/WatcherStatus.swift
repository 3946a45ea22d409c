// The status of one root's watching, as the watching process reports it.

public import ArchiveFormat
package import Capturing
public import FileIO
public import Roots

/// A running watcher's status.
public struct WatcherStatus: Codable, Sendable {
    /// The state of the watching.
    public enum Phase: String, Codable, Sendable {
        /// The root does not exist yet; the watcher waits for it.
        case waiting
        /// The root is being read for the first time.
        case reading
        /// Every change is captured.
        case watching
        /// The root is missing from its path; the watcher waits for its return.
        case unavailable
    }

    /// How many directories are watched, and how.
    public struct Directories: Codable, Sendable, Hashable {
        /// Watched by events.
        public var watched = 0
        /// Polled, with everything below them.
        public var polled = 0
        /// Directories that cannot be read.
        public var unreadable = 0
        /// Mount points of other file systems, not entered.
        public var mountPoints = 0
        /// Excluded by rules.
        public var excluded = 0

        package init(watched: Int = 0, polled: Int = 0, unreadable: Int = 0, mountPoints: Int = 0, excluded: Int = 0) {
            self.watched = watched
            self.polled = polled
            self.unreadable = unreadable
            self.mountPoints = mountPoints
            self.excluded = excluded
        }
    }

    /// A gap that is still open.
    public struct OpenGap: Codable, Sendable, Hashable {
        /// Why changes may be missed.
        public var cause: GapCause
        /// Since when.
        public var start: Timestamp

        package init(cause: GapCause, start: Timestamp) {
            self.cause = cause
            self.start = start
        }
    }

    /// A large file that has changed and is postponed.
    public struct LargeFile: Codable, Sendable, Hashable {
        /// The file.
        public var path: RelativePath
        /// Its size in bytes.
        public var bytes: UInt64
        /// When it first changed after its last capture; nil while it is being read.
        public var changed: Timestamp?
        /// When this watcher last captured it; nil if it has not yet.
        public var captured: Timestamp?
        /// How long the last reading took, in seconds.
        public var readSeconds: Double?
        /// The interval at which it is captured while it changes constantly, in seconds.
        public var intervalSeconds: Double?
    }

    /// The id of the watching process.
    public var process: Int32
    /// What the watcher is doing.
    public var phase: Phase
    /// How changes are detected: "inotify", "fanotify", "poll", or several of them joined by "+".
    public var backend: String
    /// When the watching began.
    public var since: Timestamp
    /// Whether everything that changed before the request was captured before the answer, except `largeFiles`.
    public var isCurrent: Bool
    /// How long the watcher waited for that, in seconds.
    public var probeSeconds: Double
    /// When the last event arrived; nil if none has.
    public var lastEvent: Timestamp?
    /// When the root was last compared with its latest snapshot.
    public var lastCapture: Timestamp?
    /// The number of places still to be visited.
    public var backlog: Int
    /// How the root's directories are watched.
    public var directories: Directories
    /// How many paths could not be captured as they are.
    public var problemCount = 0
    /// The first of them.
    public var problems: [Problem] = []
    /// Postponed large files that have changed: the first of them.
    public var largeFiles: [LargeFile] = []
    /// Gaps that are still open.
    public var openGaps: [OpenGap] = []
    /// The result of the last audit; nil before the first one.
    public var lastAudit: AuditResult?
    /// Why the last capture failed; nil if it succeeded.
    public var failure: Finding?
    /// Why directories are watched by another backend, or polled.
    public var fallbacks: [Finding] = []
}

/// The result of an audit.
public struct AuditResult: Codable, Sendable, Hashable {
    /// When it began.
    public var time: Timestamp
    /// How long it took, in seconds.
    public var seconds: Double
    /// How many files, directories and other entries were visited.
    public var entries: UInt64
    /// How many paths had changed without an event, and are captured now.
    public var found: Int
    /// How many watches were missing or stray, and are repaired now.
    public var repaired: Int
    /// The snapshot of the changes found.
    public var snapshot: SnapshotID?
}

extension WatcherStatus.LargeFile {
    package init(_ file: LargeFiles.Waiting) {
        path = file.path
        bytes = file.bytes
        changed = file.changed
        captured = file.captured
        readSeconds = file.readingTime?.seconds
        intervalSeconds = file.interval?.seconds
    }
}

extension WatcherStatus {
    /// Creates a status without problems.
    package init(
        process: Int32, phase: Phase, backend: String, since: Timestamp, isCurrent: Bool, probeSeconds: Double,
        lastEvent: Timestamp?, backlog: Int, directories: Directories
    ) {
        self.process = process
        self.phase = phase
        self.backend = backend
        self.since = since
        self.isCurrent = isCurrent
        self.probeSeconds = probeSeconds
        self.lastEvent = lastEvent
        self.backlog = backlog
        self.directories = directories
    }
}

extension AuditResult {
    /// Creates the result of an audit that began at `time`, to be filled in.
    package init(time: Timestamp, entries: UInt64, repaired: Int) {
        self.time = time
        seconds = 0
        self.entries = entries
        found = 0
        self.repaired = repaired
    }
}
