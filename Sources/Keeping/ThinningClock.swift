// The clock that ages are counted by: a wall clock that jumps ahead must not make everything old at once.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// Tells how late it is as far as that can be believed.
///
/// Between two runs no more time has passed than the machine was up, and a little. Across a restart nobody can tell how long
/// the machine was off; the wall clock is believed for a month then.
struct ThinningClock {
    private let folder: FilePath
    private let name: String

    /// What the clocks said when the last run ended.
    struct Reading: Equatable {
        /// The wall clock, as far as it was believed, in seconds.
        var wall: Int64
        /// Seconds since the machine was started, sleep included.
        var up: Int64
        /// Which start of the machine that was.
        var boot: String
    }

    /// What a run may be ahead of the time that has passed.
    static let slack: Int64 = 300
    static let slackAcrossRestart: Int64 = 30 * 86_400

    /// Snapshots that an unattended run may forget in any case.
    static let usualCount = 1000

    init(in layout: ArchiveLayout) {
        folder = layout.directory.appending("settings")
        name = "thinning-\(Machine.id.short)"
    }

    /// The time that ages are counted up to.
    func now() -> Timestamp {
        let now = Timestamp.now
        guard let last = read() else { return now }
        let seconds = ThinningClock.believed(wall: now.seconds, ThinningClock.present(), last)
        return seconds < now.seconds ? Timestamp(seconds: seconds) : now
    }

    /// The least of what the wall clock says and what can be since the last run.
    static func believed(wall: Int64, _ present: Reading, _ last: Reading) -> Int64 {
        let isSameStart = present.boot == last.boot && present.up >= last.up
        let passed = isSameStart ? present.up - last.up + slack : present.up + slackAcrossRestart
        let (latest, overflow) = last.wall.addingReportingOverflow(passed)
        return overflow ? wall : min(wall, latest)
    }

    /// Records that a run counted ages up to `time`.
    func record(_ time: Timestamp) {
        var reading = ThinningClock.present()
        reading.wall = time.seconds
        // Where that cannot be written, the next run believes the wall clock.
        try? Directory.create(folder, permissions: 0o700, durable: true)
        try? DurableFile.replace(
            directory: folder, name: name, contents: Array("\(reading.wall) \(reading.up) \(reading.boot)\n".utf8))
    }

    /// Forgets the last run: the next one is taken for the first.
    func forget() { _ = folder.appending(name).withPlatformString { unlink($0) } }

    private func read() -> Reading? {
        let text = ThinningClock.text(of: folder.appending(name))
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let wall = Int64(words[0]), let up = Int64(words[1]), up >= 0 else { return nil }
        return Reading(wall: wall, up: up, boot: String(words[2]))
    }

    private static func present() -> Reading {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        let name = text(of: "/proc/sys/kernel/random/boot_id").filter { $0.isHexDigit || $0 == "-" }
        return Reading(wall: Timestamp.now.seconds, up: Int64(time.tv_sec), boot: name.isEmpty ? "unknown" : name)
    }

    /// The text of a small file; empty where it cannot be read.
    private static func text(of path: FilePath) -> String {
        guard let file = try? Descriptor.openFile(path, O_RDONLY),
            let bytes = try? file.readToEnd(limit: 4096, path: path)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Refuses an unattended run that would forget most of a root that has more than a few snapshots.
    func check(_ plans: [ThinningPlan]) throws {
        guard read() != nil else { return }
        for plan in plans where plan.going.count > ThinningClock.usualCount && plan.going.count > plan.count / 2 {
            throw ArchiverError(
                .tooMuchToForget,
                "thinning \(plan.root.path) would forget \(plan.going.count) of \(plan.count) snapshots at once",
                remedy:
                    "is the clock right? 'archiver keep --dry-run' shows what would go, 'archiver keep --now' does it",
                path: plan.root.path)
        }
    }
}
