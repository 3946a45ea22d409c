// Snapshots as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A snapshot as `list --json` and the `snapshot` event of `watch --json` show it.
struct SnapshotJSON: Encodable {
    let record: ListedSnapshot

    init(_ record: ListedSnapshot) { self.record = record }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(record.id.hex, forKey: "id")
        try object.encode(record.time, forKey: "time")
        try object.encode(bytes: record.rootPath, forKey: "root")
        try object.encode(record.host, forKey: "host")
        try object.encode(record.machine.hex, forKey: "machine")
        try object.encode(record.sequence, forKey: "sequence")
        try object.encode(record.isAside, forKey: "aside")
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

/// A snapshot in `list --json`, with the gaps between it and the one before it, and the notes about it.
struct ListedSnapshotJSON: Encodable {
    let record: ListedSnapshot
    let gaps: [GapRecord]
    let notes: [Note]
    /// Nil where nobody asks.
    let isPinned: Bool?

    init(_ record: ListedSnapshot, _ gaps: [GapRecord], _ notes: [Note] = [], isPinned: Bool? = nil) {
        self.record = record
        self.gaps = gaps
        self.notes = notes
        self.isPinned = isPinned
    }

    func encode(to encoder: any Encoder) throws {
        try SnapshotJSON(record).encode(to: encoder)
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(gaps.map(GapJSON.init), forKey: "gapsBefore")
        try object.encode(notes.map(NoteJSON.init), forKey: "notes")
        try object.encodeIfPresent(isPinned, forKey: "pinned")
    }
}

/// Writes snapshots as `list --json` shows them, with the gaps between each and the one before it: what
/// `ListedSnapshotJSON` encodes, in a fraction of the time.
struct SnapshotJSONRows {
    private var times = TimeWriter()
    private var root: (path: [UInt8], json: String) = ([], "")
    private var host: (name: String, json: String) = ("", "\"\"")
    private var machine: (id: MachineID, hex: String) = (.unknown, MachineID.unknown.hex)

    mutating func append(
        _ record: ListedSnapshot, _ gaps: [GapRecord], _ notes: [Note] = [], isPinned: Bool, to line: inout LineBuffer
    ) throws {
        if record.rootPath != root.path || root.json.isEmpty {
            root = (record.rootPath, try SnapshotJSONRows.members(root: record.rootPath))
        }
        if record.host != host.name { host = (record.host, try JSONText.of(record.host)) }
        if record.machine != machine.id { machine = (record.machine, record.machine.hex) }
        append("{\"added\":", record.changes.added, to: &line)
        append(",\"aside\":", record.isAside ? "true" : "false", to: &line)
        append(",\"bytes\":", record.totals.bytes, to: &line)
        // A cause is letters and hyphens.
        append(",\"cause\":\"", record.cause.rawValue, to: &line)
        append("\",\"directories\":", record.totals.directories, to: &line)
        append(",\"files\":", record.totals.files, to: &line)
        append(",\"gapsBefore\":", gaps.isEmpty ? "[]" : try JSONText.of(gaps.map(GapJSON.init)), to: &line)
        append(",\"host\":", host.json, to: &line)
        line.append(",\"id\":\"")
        line.append(record.id.chunk)
        append("\",\"label\":", try record.label.map { try JSONText.of($0) } ?? "null", to: &line)
        append(",\"machine\":\"", machine.hex, to: &line)
        append("\",\"modified\":", record.changes.modified, to: &line)
        append(",\"notes\":", notes.isEmpty ? "[]" : try JSONText.of(notes.map(NoteJSON.init)), to: &line)
        append(",\"others\":", record.totals.others, to: &line)
        line.append(",\"parent\":")
        if let parent = record.parent {
            line.append(byte: "\"")
            line.append(parent.chunk)
            line.append(byte: "\"")
        } else {
            line.append("null")
        }
        append(",\"pinned\":", isPinned ? "true" : "false", to: &line)
        append(",\"problems\":", UInt64(clamping: record.problems), to: &line)
        append(",\"removed\":", record.changes.removed, to: &line)
        append(",", root.json, to: &line)
        append(",\"sequence\":", record.sequence, to: &line)
        append(",\"storedBytes\":", record.storedBytes, to: &line)
        line.append(",\"time\":\"")
        times.append(record.time, to: &line)
        line.append("\"}")
    }

    private func append(_ key: String, _ value: String, to line: inout LineBuffer) {
        line.append(key)
        line.append(value)
    }

    private func append(_ key: String, _ value: UInt64, to line: inout LineBuffer) {
        line.append(key)
        line.append(value)
    }

    /// `"root":"/home/ann"`, and `"rootBytes"` where it has to be.
    private static func members(root: [UInt8]) throws -> String {
        struct Root: Encodable {
            let path: [UInt8]

            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: JSONKey.self)
                try object.encode(bytes: path, forKey: "root")
            }
        }
        return String(try JSONText.of(Root(path: root)).dropFirst().dropLast())
    }
}

/// A snapshot as `show --json` shows it, and the entry that was asked for.
struct SnapshotDetailsJSON: Encodable {
    let record: ListedSnapshot
    let snapshot: Snapshot
    /// Nil where it is not pinned.
    let pin: Pin?
    let notes: [Note]
    /// What the path names; nil where there was none.
    var entry: EntryJSON?

    func encode(to encoder: any Encoder) throws {
        try SnapshotJSON(record).encode(to: encoder)
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(snapshot.tree.hex, forKey: "tree")
        try object.encode(snapshot.changedPaths.map(ChangedPathJSON.init), forKey: "changedPaths")
        try object.encode(snapshot.problems.map(ProblemJSON.init), forKey: "problemPaths")
        try object.encode(pin.map(PinJSON.init), forKey: "pin")
        try object.encode(notes.map(NoteJSON.init), forKey: "notes")
        try object.encode(entry, forKey: "entry")
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
