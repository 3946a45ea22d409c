// How the watching of one root stands, as the watching process itself tells it.

public import ArchiveFormat
package import Capturing
public import FileIO
package import Roots

/// A running watcher's answer to the question how it is.
public struct WatcherStatus: Codable, Sendable {
    /// What the watcher is doing with the root.
    public enum Phase: String, Codable, Sendable {
        /// The root is not there yet; it is waited for.
        case waiting
        /// The root is being read for the first time.
        case reading
        /// Every change is captured as it comes.
        case watching
        /// The root is gone from its path; its return is waited for.
        case unavailable
    }

    /// How many directories are watched in which way.
    public struct Directories: Codable, Sendable, Hashable {
        /// By events.
        public var watched = 0
        /// By looking at intervals, with all below them.
        public var polled = 0
        public var unreadable = 0
        /// Carrying another mount, and not entered.
        public var mountPoints = 0
        /// Left out by rule.
        public var leftOut = 0

        package init(watched: Int = 0, polled: Int = 0, unreadable: Int = 0, mountPoints: Int = 0, leftOut: Int = 0) {
            self.watched = watched
            self.polled = polled
            self.unreadable = unreadable
            self.mountPoints = mountPoints
            self.leftOut = leftOut
        }
    }

    /// A gap that is not over.
    public struct OpenGap: Codable, Sendable, Hashable {
        public var cause: GapCause
        public var start: Timestamp

        package init(cause: GapCause, start: Timestamp) {
            self.cause = cause
            self.start = start
        }
    }

    /// Something that is not as it should be, and what to do about it.
    public struct Trouble: Codable, Sendable, Hashable {
        public var message: String
        public var remedy: String?

        package init(message: String, remedy: String? = nil) {
            self.message = message
            self.remedy = remedy
        }

        package init(_ error: ArchiverError) { self.init(message: error.message, remedy: error.remedy) }
    }

    /// A large file that has changed and is captured less often than the rest.
    public struct LargeFile: Codable, Sendable, Hashable {
        public var path: RelativePath
        public var bytes: UInt64
        /// When it changed first since it was captured; nil while it is being read.
        public var changed: Timestamp?
        /// When it was last captured by this watcher; nil where it was not yet.
        public var captured: Timestamp?
        /// How long reading it took then, in seconds.
        public var readSeconds: Double?
        /// How often it is captured while it changes all the time, in seconds.
        public var intervalSeconds: Double?
    }

    /// The watching process.
    public var process: Int32
    public var phase: Phase
    /// How changes are noticed: "inotify", "fanotify", "poll", or several of them joined by "+".
    public var backend: String
    /// When the watching began.
    public var since: Timestamp
    /// Whether everything that changed before the question was captured before the answer, but for `largeFiles`.
    public var isCurrent: Bool
    /// How long that took, in seconds.
    public var probeSeconds: Double
    /// When the last event came; nil where none has.
    public var lastEvent: Timestamp?
    /// When the root was last compared with its latest snapshot.
    public var lastCapture: Timestamp?
    /// Places that are to be looked at.
    public var backlog: Int
    public var directories: Directories
    /// Paths that are not in the archive as they are.
    public var problemCount = 0
    /// The first of them.
    public var problems: [Problem] = []
    /// Large files that have changed and are captured on their own, less often than the rest: the first of them.
    public var largeFiles: [LargeFile] = []
    /// Spans that are not over, in which changes may be seen late.
    public var openGaps: [OpenGap] = []
    public var lastAudit: AuditResult?
    /// Why the last capture failed; nil where it did not.
    public var failure: Trouble?
    /// Why part of the root is polled.
    public var degradations: [Trouble] = []
}

/// What an audit found.
public struct AuditResult: Codable, Sendable, Hashable {
    /// When it began.
    public var time: Timestamp
    /// How long it took, in seconds.
    public var seconds: Double
    /// Files, directories and so on that were looked at.
    public var entries: UInt64
    /// Paths that had changed without an event, and are captured now.
    public var found: Int
    /// Directories that were not watched as they should have been, and are now.
    public var repaired: Int
    /// The snapshot that holds what was found.
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
    /// A status without anything that is not as it should be.
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
    /// An audit that began at `time`; the rest is filled in as it is found.
    package init(time: Timestamp, entries: UInt64, repaired: Int) {
        self.time = time
        seconds = 0
        self.entries = entries
        found = 0
        self.repaired = repaired
    }
}
