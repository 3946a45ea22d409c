// Snapshots as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// A snapshot as `list --json` and the `snapshot` event of `watch --json` show it.
struct SnapshotJSON: Encodable {
    let record: SnapshotRecord

    init(_ record: SnapshotRecord) { self.record = record }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(record.id.hex, forKey: "id")
        try object.encode(record.time, forKey: "time")
        try object.encode(bytes: record.rootPath, forKey: "root")
        try object.encode(record.host, forKey: "host")
        try object.encode(record.parent?.hex, forKey: "parent")
        try object.encode(record.cause.rawValue, forKey: "cause")
        try object.encode(record.label, forKey: "label")
        try object.encode(record.totals.files, forKey: "files")
        try object.encode(record.totals.directories, forKey: "directories")
        try object.encode(record.totals.others, forKey: "others")
        try object.encode(record.totals.bytes, forKey: "bytes")
        try object.encode(record.changes.added, forKey: "added")
        try object.encode(record.changes.modified, forKey: "modified")
        try object.encode(record.changes.removed, forKey: "removed")
        try object.encode(record.problems, forKey: "problems")
        try object.encode(record.storedBytes, forKey: "storedBytes")
    }
}

/// A snapshot in `list --json`, with the gaps between it and the one before it.
struct ListedSnapshotJSON: Encodable {
    let record: SnapshotRecord
    let gaps: [GapRecord]

    init(_ record: SnapshotRecord, _ gaps: [GapRecord]) {
        self.record = record
        self.gaps = gaps
    }

    func encode(to encoder: any Encoder) throws {
        try SnapshotJSON(record).encode(to: encoder)
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(gaps.map(GapJSON.init), forKey: "gapsBefore")
    }
}

/// All of a snapshot but its entries, as `show --json` shows it.
struct SnapshotDetailsJSON: Encodable {
    let record: SnapshotRecord
    let snapshot: Snapshot

    func encode(to encoder: any Encoder) throws {
        try SnapshotJSON(record).encode(to: encoder)
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(snapshot.tree.hex, forKey: "tree")
        try object.encode(snapshot.changedPaths.map(ChangedPathJSON.init), forKey: "changedPaths")
        try object.encode(snapshot.problems.map(ProblemJSON.init), forKey: "problemPaths")
    }
}

/// A changed path: `{"change": "added", "path": "a/b"}`.
struct ChangedPathJSON: Encodable {
    let changedPath: ChangedPath

    init(_ changedPath: ChangedPath) { self.changedPath = changedPath }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: changedPath.path.bytes, forKey: "path")
        try object.encode(changedPath.change.word, forKey: "change")
    }
}

/// A path that could not be captured as it is.
struct ProblemJSON: Encodable {
    let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: problem.path.bytes, forKey: "path")
        try object.encode(problem.reason.word, forKey: "reason")
        try object.encode(problem.detail, forKey: "detail")
    }
}
