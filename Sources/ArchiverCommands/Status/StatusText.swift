// The status of the archive, its roots and watchers, as text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Texts of `status` and `audit`.
enum StatusText {
    /// The lines of `status`.
    ///
    /// - Parameters:
    ///   - snapshots: how many snapshots the whole archive has; nil if all roots are in `status`.
    ///   - isBrief: whether each root gets one line.
    ///   - isQuiet: whether only roots and findings are shown.
    static func lines(
        _ status: ArchiveStatus, _ style: Style, snapshots: Int? = nil, isBrief: Bool = false, isQuiet: Bool = false
    ) -> [String] {
        var lines: [String] = []
        for root in status.roots {
            let isDamaged = status.isDamaged
            lines +=
                isBrief
                ? [briefLine(root, isDamaged: isDamaged, style)]
                : self.lines(root, isDamaged: isDamaged, style) + [""]
        }
        if isQuiet {
            return lines + (status.findings + status.replicas.flatMap(\.findings)).map { finding($0, style) }
        }
        if isBrief, !lines.isEmpty { lines.append("") }
        let snapshots = snapshots ?? status.roots.reduce(0) { $0 + $1.snapshotCount }
        let states =
            status.states.count > 0
            ? "\(Plural.of(status.states.count, "saved state")) (\(ByteCount.text(status.states.storedBytes))), " : ""
        lines.append(
            "archive \(name(status.directory)): \(Plural.of(snapshots, "snapshot")), \(states)"
                + "\(size(status)), "
                + "\(ByteCount.text(status.freeBytes)) free")
        if let room = MaintenanceText.budget(status.room) { lines.append(room) }
        if let line = EvictionText.line(status.places) { lines.append(line) }
        let limits = [
            status.limits.watches.map { "\($0) directories by inotify" },
            status.limits.marks.map { "\($0) by fanotify" },
            status.limits.queuedEvents.map { "\($0) events waiting" },
        ].compactMap { $0 }
        let used = status.roots.reduce(0) { $0 + ($1.watcher?.directories.watched ?? 0) }
        lines.append("limits: \(limits.joined(separator: ", ")); watched here: \(used)")
        if let check = status.lastCheck, check.findingCount == 0 {
            let verified = check.verifiedSince.map { "all bytes verified since \(LocalTime.text($0))" }
            lines.append(
                "checked \(LocalTime.text(check.time)): all is well, "
                    + (verified ?? "but not all bytes have been verified"))
        }
        for replica in status.replicas {
            lines.append(ReplicaText.line(replica))
            lines += replica.findings.map { finding($0, style) }
        }
        return lines + status.findings.map { finding($0, style) }
    }

    /// "6.1 MiB (5.9 MiB of it data) and 1.0 MiB reserved for a full disk": together what du(1) shows.
    private static func size(_ status: ArchiveStatus) -> String {
        let local = status.storedBytes - min(status.places.awayBytes, status.storedBytes)
        let (used, data) = (ByteCount.text(status.room.usedBytes), ByteCount.text(local))
        let reserved = status.room.reservedBytes
        return (used == data ? used : "\(used) (\(data) of it data)")
            + (reserved > 0 ? " and \(ByteCount.text(reserved)) reserved for a full disk" : "")
    }

    /// "up to date  /home/ann: 12 snapshots, the latest of 2026-11-21 10:15:30", or the first finding instead.
    private static func briefLine(_ root: RootStatus, isDamaged: Bool, _ style: Style) -> String {
        let mark = root.findings.isEmpty ? "" : style(.red, "! ")
        let isWell = root.findings.isEmpty && !isDamaged
        let state = style(isWell ? .green : .red, state(root, isDamaged: isDamaged))
        let start = "\(mark)\(state)  \(name(root.root.path)): "
        guard let first = root.findings.first else {
            let latest = root.latest.map { ", the latest of \(LocalTime.text($0.time))" } ?? ""
            let gaps = root.gaps.isEmpty ? "" : ", \(Plural.of(root.gaps.count, "gap")) in the last day"
            return start + Plural.of(root.snapshotCount, "snapshot") + latest + gaps
        }
        let others = root.findings.count - 1
        return start + words(first, of: root.root.path)
            + (others > 0 ? "; and \(Plural.of(others, "other finding"))" : "")
    }

    private static func lines(_ root: RootStatus, isDamaged: Bool, _ style: Style) -> [String] {
        let isWell = root.findings.isEmpty && !isDamaged
        var lines = [style(isWell ? .green : .red, state(root, isDamaged: isDamaged)) + "  " + name(root.root.path)]
        if let watcher = root.watcher {
            lines += self.lines(watcher)
        } else if let last = root.lastWatched {
            lines.append("  last watched \(LocalTime.text(last))")
        }
        if let retired = root.retired {
            lines.append("  retired \(LocalTime.text(retired)): no watcher is expected; its snapshots stay")
        }
        if let latest = root.latest {
            lines.append(
                "  latest snapshot \(latest.name), \(root.snapshotCount) in all, "
                    + "\(ByteCount.text(root.storedInLastDay)) stored in the last day")
        }
        if root.outOfOrder > 0 {
            lines.append(
                "  \(Plural.of(root.outOfOrder, "snapshot")) made with a wrong clock; 'archiver list' marks the times")
        }
        for gap in root.gaps { lines.append("  " + self.gap(gap)) }
        return lines + root.findings.map { finding($0, style, of: root.root.path) }
    }

    private static func state(_ root: RootStatus, isDamaged: Bool) -> String {
        guard root.isWatched else { return root.retired == nil ? "not watched" : "retired" }
        guard let watcher = root.watcher else { return "no answer" }
        switch watcher.phase {
        case .waiting: return "waiting"
        case .reading: return "reading"
        case .unavailable: return "unavailable"
        case .watching where !watcher.isCurrent: return "behind"
        case .watching: return isDamaged ? "captured, but the archive is damaged" : "up to date"
        }
    }

    private static func lines(_ watcher: WatcherStatus) -> [String] {
        let directories = watcher.directories
        var parts = [Plural.of(directories.watched, "directory", "directories") + " watched"]
        for (count, word) in [
            (directories.polled, "polled"), (directories.unreadable, "unreadable"),
            (directories.mountPoints, "mount points not entered"), (directories.excluded, "excluded"),
        ] where count > 0 { parts.append("\(count) \(word)") }
        var lines = [
            "  by process \(watcher.process) since \(LocalTime.text(watcher.since)), \(watcher.backend); "
                + "it answered in \(milliseconds(watcher.probeSeconds))",
            "  " + parts.joined(separator: ", ")
                + (watcher.backlog > 0 ? "; \(watcher.backlog) places to check" : ""),
            "  last event \(time(watcher.lastEvent)), last capture \(time(watcher.lastCapture))",
        ]
        lines += watcher.largeFiles.map { "  " + largeFile($0) }
        for gap in watcher.openGaps {
            lines.append("  since \(LocalTime.text(gap.start)) changes may be seen late (\(gap.cause.rawValue))")
        }
        if let audit = watcher.lastAudit {
            lines.append("  last audit \(LocalTime.text(audit.time)): \(outcome(audit))")
        }
        return lines
    }

    /// "large.db (3.0 GiB, 3.6 s to read) is captured every 36 s while it changes".
    static func rhythm(_ file: WatcherStatus.LargeFile) -> String {
        let cost = file.readSeconds.map { ", \(span($0)) to read" } ?? ""
        let rhythm = file.intervalSeconds.map { "captured every \(span($0)) while it changes" }
        return "\(Escaping.text(file.path)) (\(ByteCount.text(file.bytes))\(cost)) is "
            + (rhythm ?? "captured on its own")
    }

    /// The rhythm of a large file, and since when it waits.
    private static func largeFile(_ file: WatcherStatus.LargeFile) -> String {
        let captured = file.captured.map { ", captured \(LocalTime.text($0))" } ?? ""
        let state = file.changed.map { "waiting since \(LocalTime.text($0))" } ?? "being read now"
        return rhythm(file) + "; " + state + captured
    }

    /// "120 ms", "3.6 s", "36 s".
    private static func span(_ seconds: Double) -> String {
        let tenths = (seconds * 10).rounded() / 10
        return seconds < 1 || seconds >= 10 ? milliseconds(seconds) : "\(tenths) s"
    }

    /// The result of an audit.
    static func audit(_ root: FilePath, _ result: AuditResult) -> String { "\(name(root)): \(outcome(result))" }

    private static func outcome(_ result: AuditResult) -> String {
        let found =
            result.found == 0
            ? "nothing missed" : "\(Plural.of(result.found, "change")) without an event, captured now"
        let repaired =
            result.repaired > 0 ? ", \(Plural.of(result.repaired, "directory", "directories")) watched again" : ""
        return
            "\(Plural.of(result.entries, "entry", "entries")) in \(milliseconds(result.seconds)), \(found)\(repaired)"
    }

    /// "changes from … to … may have been seen late (too many events at once)".
    static func gap(_ gap: GapRecord) -> String {
        "changes from \(LocalTime.text(gap.start)) to \(LocalTime.text(gap.end)) may have been seen late "
            + "(\(gap.cause.words))"
    }

    private static func finding(_ finding: Finding, _ style: Style, of root: FilePath? = nil) -> String {
        style(.red, "! ") + words(finding, of: root)
    }

    private static func words(_ finding: Finding, of root: FilePath?) -> String {
        let remedy = CommandRemedy.text(finding.remedy, path: root)
        return Escaping.text(finding.message) + (remedy.map { " — " + Escaping.text($0) } ?? "")
    }

    private static func time(_ time: Timestamp?) -> String { time.map(LocalTime.text) ?? "none" }

    private static func milliseconds(_ seconds: Double) -> String {
        seconds < 10 ? "\(Int((seconds * 1000).rounded())) ms" : "\(Int(seconds.rounded())) s"
    }

    private static func name(_ path: FilePath) -> String { Escaping.text(path.bytes) }
}

extension GapCause {
    /// The cause in words.
    var words: String {
        switch self {
        case .overflow: "too many events at once"
        case .downtime: "no watcher was running"
        case .suspend: "the machine slept"
        case .polling: "some directories could only be polled"
        case .unavailable: "the directory was not there"
        default: rawValue
        }
    }
}
