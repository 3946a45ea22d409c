// The clock for the ages of snapshots: a wall clock that jumps ahead must not make everything old.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// The present time, as far as it is plausible.
///
/// Between two runs without a restart, the wall clock may advance as far as the uptime, and a little more. Across a
/// restart nobody knows how long the machine was off, so the wall clock is trusted for up to a month.
struct ThinningClock {
    private let file: EnclosedPath

    /// The clocks at the end of the last run.
    struct Reading: Equatable {
        /// The wall clock as far as it was plausible, in seconds since 1970.
        var wall: Int64
        /// Seconds since the machine was started, sleep included.
        var up: Int64
        /// The kernel's id of that boot.
        var boot: String
    }

    /// How far the wall clock may be ahead of the time that has passed, in seconds.
    static let slack: Int64 = 300
    static let slackAcrossRestart: Int64 = 30 * 86_400

    /// An unattended run may always forget so many snapshots of a root.
    static let usualCount = 1000

    init(in layout: ArchiveLayout) {
        file = layout.settings.appending("thinning-\(Machine.id.short)")
    }

    /// Returns the time that ages are measured at.
    func now() -> Timestamp {
        let now = Timestamp.now
        guard let last = read() else { return now }
        let seconds = ThinningClock.believed(wall: now.seconds, ThinningClock.present(), last)
        return seconds < now.seconds ? Timestamp(seconds: seconds) : now
    }

    /// Returns the wall clock, capped at the latest plausible time after the last run.
    static func believed(wall: Int64, _ present: Reading, _ last: Reading) -> Int64 {
        let isSameStart = present.boot == last.boot && present.up >= last.up
        let passed = isSameStart ? present.up - last.up + slack : present.up + slackAcrossRestart
        let (latest, overflow) = last.wall.addingReportingOverflow(passed)
        return overflow ? wall : min(wall, latest)
    }

    /// Records that a run measured ages at `time`.
    func record(_ time: Timestamp) {
        var reading = ThinningClock.present()
        reading.wall = time.seconds
        // If this cannot be written, the next run trusts the wall clock.
        try? DurableFile.replace(file, contents: Array("\(reading.wall) \(reading.up) \(reading.boot)\n".utf8))
    }

    /// Forgets the last run, so that the next one counts as the first.
    func forget() { _ = try? file.remove() }

    private func read() -> Reading? {
        let text = ThinningClock.text { () throws(FileError) in try file.open(O_RDONLY) }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let wall = Int64(words[0]), let up = Int64(words[1]), up >= 0 else { return nil }
        return Reading(wall: wall, up: up, boot: String(words[2]))
    }

    private static let bootID: FilePath = "/proc/sys/kernel/random/boot_id"

    private static func present() -> Reading {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        let text = text { () throws(FileError) in try Descriptor.openFile(bootID, O_RDONLY) }
        let name = text.filter { $0.isHexDigit || $0 == "-" }
        return Reading(wall: Timestamp.now.seconds, up: Int64(time.tv_sec), boot: name.isEmpty ? "unknown" : name)
    }

    /// Returns the text of a small file; empty if it cannot be read.
    private static func text(_ open: () throws(FileError) -> Descriptor) -> String {
        guard let bytes = try? open().readToEnd(limit: 4096, path: "") else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Refuses an unattended run that would forget most of the snapshots of a root that has many.
    func check(_ plans: [ThinningPlan]) throws {
        guard read() != nil else { return }
        for plan in plans where plan.going.count > ThinningClock.usualCount && plan.going.count > plan.count / 2 {
            throw ArchiverError(
                .tooMuchToForget,
                "thinning \(plan.root.path) would forget \(plan.going.count) of \(plan.count) snapshots",
                remedy: Advice.checkClock.text, path: plan.root.path)
        }
    }
}
