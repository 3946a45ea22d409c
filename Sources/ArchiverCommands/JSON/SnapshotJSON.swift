// Snapshots as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A snapshot as `list --json` and the `snapshot` event of `watch --json` show it.
struct SnapshotJSON: Encodable {
    let snapshot: ListedSnapshot

    init(_ snapshot: ListedSnapshot) { self.snapshot = snapshot }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(snapshot.id.hex, forKey: .id)
        try object.encode(snapshot.time, forKey: .time)
        try object.encode(bytes: snapshot.rootPath, forKey: .root)
        try object.encode(snapshot.host, forKey: .host)
        try object.encode(snapshot.machine.hex, forKey: .machine)
        try object.encode(snapshot.sequence, forKey: .sequence)
        try object.encode(snapshot.isAside, forKey: .aside)
        try object.encode(snapshot.parent?.hex, forKey: .parent)
        try object.encode(snapshot.cause.rawValue, forKey: .cause)
        try object.encode(snapshot.label, forKey: .label)
        try object.encode(snapshot.totals.files, forKey: .files)
        try object.encode(snapshot.totals.directories, forKey: .directories)
        try object.encode(snapshot.totals.others, forKey: .others)
        try object.encode(snapshot.totals.bytes, forKey: .bytes)
        try object.encode(snapshot.changes.added, forKey: .added)
        try object.encode(snapshot.changes.modified, forKey: .modified)
        try object.encode(snapshot.changes.removed, forKey: .removed)
        try object.encode(snapshot.problems, forKey: .problems)
        try object.encode(snapshot.storedBytes, forKey: .storedBytes)
    }
}

/// A snapshot as `list --json` shows it, with the gaps since the previous one and its notes.
struct ListedSnapshotJSON: Encodable {
    private let row: SnapshotRow

    init(_ row: SnapshotRow) { self.row = row }

    func encode(to encoder: any Encoder) throws {
        try SnapshotJSON(row.snapshot).encode(to: encoder)
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(row.gaps.map(GapJSON.init), forKey: .gapsBefore)
        try object.encode(row.notes.map(NoteJSON.init), forKey: .notes)
        try object.encode(row.isPinned, forKey: .pinned)
        try object.encode(row.isOutOfOrder, forKey: .outOfOrder)
    }
}

/// Writes the same JSON as `ListedSnapshotJSON`, in a fraction of the time.
struct SnapshotJSONRows {
    private var times = TimeWriter()
    private var root: (path: [UInt8], json: String) = ([], "")
    private var host: (name: String, json: String) = ("", "\"\"")
    private var machine: (id: MachineID, hex: String) = (.unknown, MachineID.unknown.hex)

    mutating func append(_ row: SnapshotRow, to line: inout LineBuffer) throws {
        let (snapshot, gaps, notes) = (row.snapshot, row.gaps, row.notes)
        if snapshot.rootPath != root.path || root.json.isEmpty {
            root = (snapshot.rootPath, try SnapshotJSONRows.members(root: snapshot.rootPath))
        }
        if snapshot.host != host.name { host = (snapshot.host, try JSONText.of(snapshot.host)) }
        if snapshot.machine != machine.id { machine = (snapshot.machine, snapshot.machine.hex) }
        append("{\"added\":", snapshot.changes.added, to: &line)
        append(",\"aside\":", snapshot.isAside ? "true" : "false", to: &line)
        append(",\"bytes\":", snapshot.totals.bytes, to: &line)
        // A cause has only letters and hyphens, so it needs no escapes.
        append(",\"cause\":\"", snapshot.cause.rawValue, to: &line)
        append("\",\"directories\":", snapshot.totals.directories, to: &line)
        append(",\"files\":", snapshot.totals.files, to: &line)
        append(",\"gapsBefore\":", gaps.isEmpty ? "[]" : try JSONText.of(gaps.map(GapJSON.init)), to: &line)
        append(",\"host\":", host.json, to: &line)
        line.append(",\"id\":\"")
        line.append(snapshot.id.chunk)
        append("\",\"label\":", try snapshot.label.map { try JSONText.of($0) } ?? "null", to: &line)
        append(",\"machine\":\"", machine.hex, to: &line)
        append("\",\"modified\":", snapshot.changes.modified, to: &line)
        append(",\"notes\":", notes.isEmpty ? "[]" : try JSONText.of(notes.map(NoteJSON.init)), to: &line)
        append(",\"others\":", snapshot.totals.others, to: &line)
        append(",\"outOfOrder\":", row.isOutOfOrder ? "true" : "false", to: &line)
        line.append(",\"parent\":")
        if let parent = snapshot.parent {
            line.append(byte: "\"")
            line.append(parent.chunk)
            line.append(byte: "\"")
        } else {
            line.append("null")
        }
        append(",\"pinned\":", row.isPinned ? "true" : "false", to: &line)
        append(",\"problems\":", UInt64(clamping: snapshot.problems), to: &line)
        append(",\"removed\":", snapshot.changes.removed, to: &line)
        append(",", root.json, to: &line)
        append(",\"sequence\":", snapshot.sequence, to: &line)
        append(",\"storedBytes\":", snapshot.storedBytes, to: &line)
        line.append(",\"time\":\"")
        times.append(snapshot.time, to: &line)
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

    /// `"root":"/home/ann"`, and `"rootBytes"` if the path is not UTF-8.
    private static func members(root: [UInt8]) throws -> String {
        struct Root: Encodable {
            let path: [UInt8]

            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: JSONKey.self)
                try object.encode(bytes: path, forKey: .root)
            }
        }
        return String(try JSONText.of(Root(path: root)).dropFirst().dropLast())
    }
}

/// A snapshot as `show --json` shows it, with the requested entry.
struct SnapshotDetailsJSON: Encodable {
    let snapshot: ListedSnapshot
    let details: Snapshot
    /// Nil if it is not pinned.
    let pin: Pin?
    let notes: [Note]
    /// The entry at the given path; nil if no path was given.
    var entry: EntryJSON?

    func encode(to encoder: any Encoder) throws {
        try SnapshotJSON(snapshot).encode(to: encoder)
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(details.tree.hex, forKey: .tree)
        try object.encode(details.changedPaths.map(ChangedPathJSON.init), forKey: .changedPaths)
        try object.encode(details.problems.map(ProblemJSON.init), forKey: .problemPaths)
        try object.encode(pin.map(PinJSON.init), forKey: .pin)
        try object.encode(notes.map(NoteJSON.init), forKey: .notes)
        try object.encode(entry, forKey: .entry)
    }
}

/// A changed path: `{"change": "added", "path": "a/b"}`.
struct ChangedPathJSON: Encodable {
    let changedPath: ChangedPath

    init(_ changedPath: ChangedPath) { self.changedPath = changedPath }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: changedPath.path.bytes, forKey: .path)
        try object.encode(changedPath.change.word, forKey: .change)
    }
}

/// A path that could not be captured completely.
struct ProblemJSON: Encodable {
    let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: problem.path.bytes, forKey: .path)
        try object.encode(problem.reason.word, forKey: .reason)
        try object.encode(problem.detail, forKey: .detail)
    }
}
