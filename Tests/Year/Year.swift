// Simulates one archive's year.

internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import SimulatedClock
internal import SystemPackage

/// Three roots with simulated work, their archive, and its size week by week.
final class Year {
    private let directory: FilePath
    /// The open archive; nil only while it is reopened.
    private var archive: Archive?
    private let desks: [Desk]
    private var captures = 0
    private(set) var history: Growth

    private static let day: Int64 = 86_400
    /// Work begins at nine.
    private static let morning: Int64 = 9 * 3600
    private static let workday: Int64 = 8 * 3600

    init(_ habit: Habit, in place: FilePath) throws {
        history = Growth(habit: habit)
        directory = place.appending("archive")
        let archive = try Archive.open(directory, creating: true)
        try archive.setPolicy(habit.policy)
        self.archive = archive
        desks = try (0..<3).map { try Desk(place.appending("root\($0)"), seed: UInt64($0 + 1)) }
    }

    /// Simulates `weeks` of work, with one change in one of the roots every `interval` seconds of working hours.
    func run(weeks: Int, secondsBetweenChanges interval: Int) throws {
        for week in 0..<weeks {
            for weekday in 0..<7 {
                let start = Int64(week * 7 + weekday) * Year.day
                // The machine is off at night, so the archive is reopened every day.
                archive = nil
                archive = try Archive.open(directory)
                for hour in 0..<24 {
                    let begin = start + Int64(hour) * 3600
                    if weekday < 5, begin >= start + Year.morning, begin < start + Year.morning + Year.workday {
                        try work(from: begin, interval)
                    }
                    set(begin + 3599)
                    try lookAfter()
                }
            }
            try sample()
            let line = "\(history.habit.name), week \(week + 1): \(history.samples.last.map { "\($0)" } ?? "")\n"
            _ = write(STDERR_FILENO, line, line.utf8.count)
        }
    }

    /// Simulates an hour of work.
    private func work(from begin: Int64, _ interval: Int) throws {
        guard let archive else { return }
        for second in stride(from: begin, to: begin + 3600, by: interval) {
            set(second)
            let desk = desks[captures % desks.count]
            try desk.change()
            captures += 1
            let start = Times.now()
            let result = try archive.capture(desk.root)
            history.captures.add(since: start)
            guard result.snapshot != nil else { throw YearError("a change of \(desk.root) made no snapshot") }
        }
    }

    /// Runs the maintenance that a watcher runs every hour.
    private func lookAfter() throws {
        let start = Times.now()
        let result = try Archive.open(directory).maintain(.unattended)
        if result.pruned == nil { history.quietRuns.add(since: start) } else { history.prunes.add(since: start) }
    }

    private func sample() throws {
        archive = nil
        let snapshots = try Archive.open(directory).snapshotCount()
        let store = try ArchiveStore.open(directory, creating: false)
        let segments = try store.catalogue.segments().reduce(0) { $0 + $1.indexedLength }
        let catalogue = ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(directory.appending("catalogue.sqlite").string + suffix, &status) == 0
                ? sum + Int(status.st_size) : sum
        }
        history.samples.append(
            Growth.Sample(
                captures: captures, snapshots: snapshots, segmentBytes: segments,
                catalogueBytes: catalogue))
    }

    /// Sets the clock to `seconds` after the next midnight, so that files changed now have long settled by then.
    private func set(_ seconds: Int64) {
        simulated_clock_set_ahead(0)
        let now = Timestamp.now
        let midnight = (now.seconds / Year.day + 1) * Year.day
        simulated_clock_set_ahead((midnight + seconds - now.seconds) * 1_000_000_000)
    }
}

struct YearError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
