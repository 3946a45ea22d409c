// Times and windows of lists on the command line.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

/// A time as after `@` in a selector, with or without the `@`.
struct TimeArgument: ExpressibleByArgument, Sendable, Hashable {
    let text: String

    init(argument: String) { text = argument.hasPrefix("@") ? String(argument.dropFirst()) : argument }

    /// The first moment of the time.
    ///
    /// - Throws: `Failure` if it is not a time, or in the future.
    func start() throws -> Timestamp {
        let start = try time(isStart: true)
        if start > .now {
            throw Failure.usage("'\(Escaping.text(text))' is in the future", remedy: "name a time in the past")
        }
        return start
    }

    /// The last moment of the time.
    func end() throws -> Timestamp { try time(isStart: false) }

    private func time(isStart: Bool) throws -> Timestamp {
        if let time = SnapshotSelector.moment(text, isStart: isStart) { return time }
        throw Failure.usage(
            "'\(Escaping.text(text))' is not a time",
            remedy: "a time is like 10m (ago), \"2 hours ago\", 14:05, monday, 2026-11-21 or \"2026-11-21 14:05\"")
    }
}

/// A span of time with inclusive ends; nil for an open end.
struct Period {
    var since: Timestamp?
    var until: Timestamp?

    func contains(_ time: Timestamp) -> Bool { overlaps(time, time) }

    /// Whether something that lasted from `start` to `end` was there in the period.
    func overlaps(_ start: Timestamp, _ end: Timestamp) -> Bool {
        !(since.map { end < $0 } ?? false) && !(until.map { start > $0 } ?? false)
    }
}

extension Period {
    /// The period from `since` to `until`.
    ///
    /// - Throws: `Failure` if it is in the future or ends before it begins.
    fileprivate init(_ since: TimeArgument?, _ until: TimeArgument?) throws {
        self.init(since: try since?.start(), until: try until?.end())
        if let start = self.since, let end = self.until, end < start {
            throw Failure.usage(
                "--since \(Escaping.text(since?.text ?? "")) is later than --until "
                    + Escaping.text(until?.text ?? ""),
                remedy: "give the earlier time to --since")
        }
    }
}

/// The period of a command, as every command that has one takes it.
struct PeriodOptions: ParsableArguments {
    @Option(help: .since) var since: TimeArgument?
    @Option(help: .until) var until: TimeArgument?

    var isGiven: Bool { since != nil || until != nil }

    /// - Throws: `Failure` if the period is in the future or ends before it begins.
    func period() throws -> Period { try Period(since, until) }
}

/// The window of a list: its period, and how many rows of that.
struct WindowOptions: ParsableArguments {
    @Option(name: .limit, help: .limit) var limit: Int?
    @Option(help: .since) var since: TimeArgument?
    @Option(help: .until) var until: TimeArgument?

    func validate() throws { try WindowOptions.check(limit: limit) }

    static func check(limit: Int?) throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    /// Whether any of these options is given.
    var isGiven: Bool { limit != nil || hasPeriod }

    /// Whether the period is given.
    var hasPeriod: Bool { since != nil || until != nil }

    /// - Throws: `Failure` if the period is in the future or ends before it begins.
    func period() throws -> Period { try Period(since, until) }

    /// The first of `rows`, which begin with the newest, that the window shows.
    func newest<Row>(_ rows: [Row]) -> [Row] { limit.map { Array(rows.prefix($0)) } ?? rows }

    /// The last of `rows`, which end with the newest, that the window shows.
    func last<Row>(_ rows: [Row]) -> [Row] { limit.map { Array(rows.suffix($0)) } ?? rows }
}

extension NameSpecification {
    static let limit: NameSpecification = [.customShort("n", allowingJoined: true), .long]
}

extension ArgumentHelp {
    static let limit = ArgumentHelp("Show at most this many, the newest or the largest.", valueName: "count")
    fileprivate static let since = ArgumentHelp(
        "Only what is from this time or later: 10m, 14:05, 2026-11-21, \"2026-11-21 14:05\".", valueName: "time")
    fileprivate static let until = ArgumentHelp("Only what is up to this time.", valueName: "time")
}
