// The status in the text format of OpenMetrics, which Prometheus and node_exporter's textfile collector read.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import WatchControl

/// The metrics of an archive and its roots.
struct StatusMetrics {
    private var lines: [String] = []

    /// The lines that a scraper reads, with the end mark.
    static func text(_ status: ArchiveStatus, at now: Timestamp = .now) -> String {
        var metrics = StatusMetrics()
        metrics.addRoots(status.roots, now)
        metrics.addArchive(status)
        metrics.addReplicas(status.replicas, now)
        return (metrics.lines + ["# EOF"]).joined(separator: "\n")
    }

    private mutating func addRoots(_ roots: [RootStatus], _ now: Timestamp) {
        addAll("root_well", "Whether the root has no finding.", roots) { $0.findings.isEmpty ? 1 : 0 }
        addAll("root_retired", "Whether the root need not be watched.", roots) { $0.retired == nil ? 0 : 1 }
        addAll("root_watched", "Whether a process watches the root.", roots) { $0.isWatched ? 1 : 0 }
        addAll("root_current", "Whether its watcher answers that everything is captured.", roots) {
            $0.watcher?.isCurrent == true ? 1 : 0
        }
        addAll("root_lag_seconds", "How long ago the archive was known to hold everything of the root.", roots) {
            $0.lagSeconds(at: now)
        }
        addAll("root_backlog", "Changes that wait to be captured.", roots) { $0.watcher.map { Double($0.backlog) } }
        addAll("root_watched_directories", "Directories watched by events.", roots) {
            $0.watcher.map { Double($0.directories.watched) }
        }
        addAll("root_polled_directories", "Directories that are polled.", roots) {
            $0.watcher.map { Double($0.directories.polled) }
        }
        addAll("root_unreadable_directories", "Directories that cannot be read.", roots) {
            $0.watcher.map { Double($0.directories.unreadable) }
        }
        addAll("root_problems", "Paths that could not be captured as they are.", roots) {
            $0.watcher.map { Double($0.problemCount) }
        }
        addAll("root_open_gaps", "Reasons why changes may be missed now.", roots) {
            $0.watcher.map { Double($0.openGaps.count) }
        }
        addAll("root_day_gaps", "Gaps that ended in the last day.", roots) { Double($0.gaps.count) }
        addAll("root_snapshots", "Listed snapshots.", roots) { Double($0.snapshotCount) }
        addAll("root_latest_timestamp_seconds", "When the latest snapshot was made.", roots) {
            $0.latest.map { Double($0.time.seconds) }
        }
        addAll("root_audit_timestamp_seconds", "When the last audit of this watcher began.", roots) {
            ($0.watcher?.lastAudit).map { Double($0.time.seconds) }
        }
        addAll("root_day_stored_bytes", "Bytes that the snapshots of the last day added to the archive.", roots) {
            Double($0.storedInLastDay)
        }
    }

    private mutating func addArchive(_ status: ArchiveStatus) {
        add("archive_used_bytes", "Bytes that the archive takes.", Double(status.room.usedBytes))
        add("archive_limit_bytes", "Bytes that the archive may take.", status.room.budget.maxSize.map { Double($0) })
        add("archive_free_bytes", "Bytes that are free on the archive's file system.", Double(status.freeBytes))
        add("archive_lacking_bytes", "Bytes above the limits.", Double(status.room.lackingBytes))
        add("archive_damages", "Damaged or unreadable parts of the archive.", Double(status.damage.count))
        add(
            "archive_check_timestamp_seconds", "When the archive was checked last.",
            (status.lastCheck?.time).map { Double($0.seconds) })
        add(
            "archive_check_findings", "Faults that the last check found.",
            (status.lastCheck?.findingCount).map { Double($0) })
        add(
            "archive_verified_timestamp_seconds", "Since when all bytes have been read and verified.",
            (status.lastCheck?.verifiedSince).map { Double($0.seconds) })
        add("archive_findings", "Findings about the archive, apart from its roots.", Double(status.findings.count))
        add("archive_states", "States that programs have saved.", Double(status.states.count))
        add("watch_limit", "How many directories inotify may watch.", status.limits.watches.map { Double($0) })
    }

    private mutating func addReplicas(_ replicas: [ReplicaStatus], _ now: Timestamp) {
        func add(_ name: String, _ help: String, _ value: (ReplicaStatus) -> Double?) {
            self.add(
                name, help,
                replicas.compactMap { replica in
                    value(replica).map { (label: "{replica=\"\(replica.name)\"}", value: $0) }
                })
        }
        add("replica_well", "Whether the replica has no finding.") { $0.findings.isEmpty ? 1 : 0 }
        add("replica_lag_seconds", "How long ago the replica had everything.") { $0.lagSeconds(at: now) }
        add("replica_missing_bytes", "Committed bytes that the replica lacks.") { Double($0.missingBytes) }
        add("replica_check_timestamp_seconds", "When the replica was last compared with the archive.") {
            $0.checked.map { Double($0.seconds) }
        }
        add("replica_test_timestamp_seconds", "When files of the replica alone were last compared.") {
            $0.tested.map { Double($0.seconds) }
        }
    }

    private mutating func addAll(
        _ name: String, _ help: String, _ roots: [RootStatus], _ value: (RootStatus) -> Double?
    ) {
        let samples = roots.compactMap { root in
            value(root).map { (label: "{root=\"\(StatusMetrics.label(root.root.path.bytes))\"}", value: $0) }
        }
        add(name, help, samples)
    }

    private mutating func add(_ name: String, _ help: String, _ value: Double?) {
        add(name, help, value.map { [("", $0)] } ?? [])
    }

    private mutating func add(_ name: String, _ help: String, _ samples: [(label: String, value: Double)]) {
        guard !samples.isEmpty else { return }
        let name = "archiver_" + name
        lines += ["# HELP \(name) \(help)", "# TYPE \(name) gauge"]
        for unit in ["seconds", "bytes"] where name.hasSuffix("_" + unit) { lines.append("# UNIT \(name) \(unit)") }
        lines += samples.map { "\(name)\($0.label) \(StatusMetrics.number($0.value))" }
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    /// A label's value: the name as it is always shown, with the format's own escapes.
    private static func label(_ bytes: [UInt8]) -> String {
        Escaping.text(bytes).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
