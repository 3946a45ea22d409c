// A span of time in which changes of a root may have been seen late.

public import FileIO

/// A span of time in which changes of a root may have been seen late, stored as a chunk of its own.
///
/// States that came and went within the span may be missing from the archive; what was there at its end is not.
public struct GapRecord: Hashable, Sendable {
    /// The root's absolute path, as bytes.
    public let rootPath: [UInt8]
    /// The name of the machine that watched it.
    public let host: String
    public let cause: GapCause
    public let start: Timestamp
    /// Not before `start`.
    public let end: Timestamp
    /// More about the cause, for people.
    public let detail: String?
    /// The machine that watched it.
    public let machine: MachineID

    /// A gap of a root.
    ///
    /// - Parameter end: where the clock was set back meanwhile so that it is before `start`, `start` takes its place.
    public init(
        rootPath: [UInt8], host: String, cause: GapCause, start: Timestamp, end: Timestamp, detail: String? = nil,
        machine: MachineID = .unknown
    ) {
        self.rootPath = rootPath
        self.host = host
        self.cause = cause
        self.start = start
        self.end = max(start, end)
        self.detail = detail
        self.machine = machine
    }
}

/// Why changes may have been seen late.
///
/// Raw values are part of the archive format, by the rules of `Cause`: words that are not known are kept.
public struct GapCause: RawRepresentable, Sendable, Hashable, CaseIterable {
    public let rawValue: String

    /// The cause called `rawValue`; nil where that is no word.
    public init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// The kernel dropped events.
    public static let overflow = GapCause(known: "overflow")
    /// Nobody watched.
    public static let downtime = GapCause(known: "downtime")
    /// The machine slept.
    public static let suspend = GapCause(known: "suspend")
    /// Some directories could only be looked at now and then.
    public static let polling = GapCause(known: "polling")
    /// The root was not there.
    public static let unavailable = GapCause(known: "unavailable")

    /// The causes that this program knows.
    public static let allCases: [GapCause] = [.overflow, .downtime, .suspend, .polling, .unavailable]
}
