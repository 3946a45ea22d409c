// The status of the archive, its roots and watchers, as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The output of `status --json`.
struct ArchiveStatusJSON: Encodable {
    let status: ArchiveStatus

    init(_ status: ArchiveStatus) { self.status = status }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(status.isWell, forKey: .well)
        try object.encode(status.roots.map(RootStatusJSON.init), forKey: .roots)
        try object.encode(status.findings.map { FindingJSON($0) }, forKey: .findings)
        try object.encode(status.replicas.map(ReplicaStatusJSON.init), forKey: .replicas)
        var archive = object.nestedContainer(keyedBy: JSONKey.self, forKey: .archive)
        try archive.encode(bytes: status.directory.bytes, forKey: .path)
        try archive.encode(status.storedBytes, forKey: .storedBytes)
        try archive.encode(status.freeBytes, forKey: .freeBytes)
        try archive.encode(status.room.usedBytes, forKey: .usedBytes)
        try archive.encode(status.room.reservedBytes, forKey: .reservedBytes)
        try archive.encode(status.places.limit, forKey: .localSizeBytes)
        try archive.encode(status.places.awaySegments, forKey: .awaySegments)
        try archive.encode(status.places.awayBytes, forKey: .awayBytes)
        try archive.encode(status.room.budget.maxSize, forKey: .maxSizeBytes)
        try archive.encode(status.room.budget.minFree(of: status.room.totalBytes), forKey: .minFreeBytes)
        try archive.encode(status.room.lackingBytes, forKey: .lackingBytes)
        try archive.encode(status.states.count, forKey: .states)
        try archive.encode(status.states.storedBytes, forKey: .stateStoredBytes)
        if let check = status.lastCheck {
            var last = archive.nestedContainer(keyedBy: JSONKey.self, forKey: .lastCheck)
            try last.encode(check.time.rfc3339, forKey: .time)
            try last.encode(check.findingCount, forKey: .findingCount)
            try last.encode(check.verifiedSince?.rfc3339, forKey: .verifiedSince)
        } else {
            try archive.encodeNil(forKey: .lastCheck)
        }
        var limits = object.nestedContainer(keyedBy: JSONKey.self, forKey: .limits)
        try limits.encode(status.limits.watches, forKey: .inotifyWatches)
        try limits.encode(status.limits.instances, forKey: .inotifyInstances)
        try limits.encode(status.limits.queuedEvents, forKey: .inotifyQueuedEvents)
        try limits.encode(status.limits.marks, forKey: .fanotifyMarks)
    }
}

/// The status of one root; `watcher` is null if no watcher runs or it does not answer.
struct RootStatusJSON: Encodable {
    let status: RootStatus

    init(_ status: RootStatus) { self.status = status }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: status.root.path.bytes, forKey: .root)
        try object.encode(status.findings.isEmpty, forKey: .well)
        try object.encode(status.isWatched, forKey: .watched)
        try object.encode(status.watcher.map(WatcherJSON.init), forKey: .watcher)
        try object.encode(status.lastWatched?.rfc3339, forKey: .lastWatched)
        try object.encode(status.retired?.rfc3339, forKey: .retired)
        try object.encode(status.latest.map(SnapshotJSON.init), forKey: .latest)
        try object.encode(status.snapshotCount, forKey: .snapshots)
        try object.encode(status.storedInLastDay, forKey: .storedInLastDay)
        try object.encode(status.outOfOrder, forKey: .outOfOrder)
        try object.encode(status.gaps.map(GapJSON.init), forKey: .gapsInLastDay)
        try object.encode(status.findings.map { FindingJSON($0, of: status.root.path) }, forKey: .findings)
    }
}

/// A running watcher.
private struct WatcherJSON: Encodable {
    let status: WatcherStatus

    init(_ status: WatcherStatus) { self.status = status }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(status.process, forKey: .process)
        try object.encode(status.phase.rawValue, forKey: .phase)
        try object.encode(status.backend, forKey: .backend)
        try object.encode(status.since, forKey: .since)
        try object.encode(status.isCurrent, forKey: .current)
        try object.encode(status.probeSeconds, forKey: .probeSeconds)
        try object.encode(status.lastEvent?.rfc3339, forKey: .lastEvent)
        try object.encode(status.lastCapture?.rfc3339, forKey: .lastCapture)
        try object.encode(status.backlog, forKey: .backlog)
        try object.encode(status.directories, forKey: .directories)
        try object.encode(status.problems.map(ProblemJSON.init), forKey: .problemPaths)
        try object.encode(status.problemCount, forKey: .problems)
        try object.encode(status.largeFiles.map(LargeFileJSON.init), forKey: .largeFiles)
        try object.encode(status.openGaps.map(OpenGapJSON.init), forKey: .openGaps)
        try object.encode(status.lastAudit.map { AuditJSON(root: nil, result: $0) }, forKey: .lastAudit)
    }
}

/// A large file that waits to be captured.
private struct LargeFileJSON: Encodable {
    let file: WatcherStatus.LargeFile

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try file.encode(into: &object)
    }
}

extension WatcherStatus.LargeFile {
    /// Encodes the fields that `status` and `watch` share.
    func encode(into object: inout KeyedEncodingContainer<JSONKey>) throws {
        try object.encode(bytes: path.bytes, forKey: .path)
        try object.encode(bytes, forKey: .bytes)
        try object.encode(changed?.rfc3339, forKey: .changed)
        try object.encode(captured?.rfc3339, forKey: .captured)
        try object.encode(readSeconds, forKey: .readSeconds)
        try object.encode(intervalSeconds, forKey: .intervalSeconds)
    }
}

/// A gap that has not ended.
private struct OpenGapJSON: Encodable {
    let cause: String
    let start: String

    init(_ gap: WatcherStatus.OpenGap) {
        cause = gap.cause.rawValue
        start = gap.start.rfc3339
    }
}

/// A finding of the status.
struct FindingJSON: Encodable {
    let message: String
    let remedy: String?

    init(_ finding: Finding, of root: FilePath? = nil) {
        message = finding.message
        remedy = CommandRemedy.text(finding.remedy, path: root)
    }
}

/// A gap.
struct GapJSON: Encodable {
    let gap: GapRecord

    init(_ gap: GapRecord) { self.gap = gap }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: gap.rootPath, forKey: .root)
        try object.encode(gap.cause.rawValue, forKey: .cause)
        try object.encode(gap.start, forKey: .start)
        try object.encode(gap.end, forKey: .end)
        try object.encode(gap.detail, forKey: .detail)
    }
}

/// The result of an audit.
struct AuditJSON: Encodable {
    /// Nil if the enclosing object names the root.
    let root: FilePath?
    let result: AuditResult

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        if let root { try object.encode(bytes: root.bytes, forKey: .root) }
        try object.encode(result.time, forKey: .time)
        try object.encode(result.seconds, forKey: .seconds)
        try object.encode(result.entries, forKey: .entries)
        try object.encode(result.found, forKey: .found)
        try object.encode(result.repaired, forKey: .repaired)
        try object.encode(result.snapshot?.hex, forKey: .snapshot)
    }
}
