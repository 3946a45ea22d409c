// Lists of versions: a table for people, lines with tabs or JSON for programs.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The numbers of lines that a version added and removed; nil if it is not text.
typealias LineCounts = (added: Int, removed: Int)?

/// Writes versions of files and directories.
struct VersionList {
    private let console: Console
    private let notes: [SnapshotID: [Note]]

    /// - Parameter notes: the notes to show, by snapshot.
    init(_ console: Console, notes: [SnapshotID: [Note]] = [:]) {
        self.console = console
        self.notes = notes
    }

    /// A list with all notes on the root's snapshots.
    init(_ history: HistoryContext) throws {
        self.init(history.console, notes: try history.archive.notesBySnapshot(of: history.root))
    }

    private func notes(of snapshot: ListedSnapshot) -> [Note] { notes.isEmpty ? [] : notes[snapshot.id] ?? [] }

    /// Writes the versions of a file.
    ///
    /// - Parameter lines: the line counts of each version, if they were counted.
    func write(_ versions: [PathVersion], _ lines: [LineCounts]? = nil) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for (index, version) in versions.enumerated() {
                try writer.append(
                    PathVersionJSON(version, lines.map { $0[index] }, notes: notes(of: version.snapshot)))
            }
            return try writer.finish()
        }
        guard console.isForPerson else {
            for (index, version) in versions.enumerated() {
                try console.output.line(VersionList.plain(version, lines.map { $0[index] }))
                for note in notes(of: version.snapshot) { try console.output.line(NoteText.plain(note)) }
            }
            return
        }
        let columns = ["id", "time", "change", "size"] + (lines == nil ? [] : ["lines"]) + ["cause", "label"]
        var table = TextTable(
            columns.map {
                TextTable.Column(
                    title: $0, alignment: $0 == "size" ? .right : .left, mark: $0 == "id" ? .yellow : nil,
                    dispensability: $0 == "cause" ? 1 : nil, isElastic: ["change", "label"].contains($0))
            })
        for (index, version) in versions.enumerated() {
            let snapshot = version.snapshot
            let size = version.isPresent && version.kind == .file ? ByteCount.text(version.size) : ""
            table.add(
                [snapshot.id.short, LocalTime.text(snapshot.time), VersionList.words(version), size]
                    + (lines.map { [VersionList.text($0[index])] } ?? [])
                    + [snapshot.cause.rawValue, Escaping.text(snapshot.label ?? "")])
            for note in notes(of: snapshot) { table.add(note: NoteText.below(note)) }
        }
        for line in versions.isEmpty ? [] : table.aligned(console.style, width: console.output.columns) {
            try console.output.line(line)
        }
    }

    func write(_ versions: [DirectoryVersion]) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for version in versions {
                try writer.append(DirectoryVersionJSON(version: version, notes: notes(of: version.snapshot)))
            }
            return try writer.finish()
        }
        guard console.isForPerson else {
            for version in versions {
                try console.output.line(
                    TextTable.plain([
                        version.snapshot.id.short, version.snapshot.time.rfc3339, "\(version.counts.added)",
                        "\(version.counts.modified)", "\(version.counts.removed)", Escaping.text(version.path),
                        version.snapshot.cause.rawValue, Escaping.text(version.snapshot.label ?? ""),
                    ]))
                for note in notes(of: version.snapshot) { try console.output.line(NoteText.plain(note)) }
            }
            return
        }
        var table = TextTable([
            TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "time"),
            TextTable.Column(title: "changes"), TextTable.Column(title: "cause", dispensability: 1),
            TextTable.Column(title: "label", isElastic: true),
        ])
        var path = versions.first?.path
        for version in versions {
            if version.path != path {
                table.add(note: "          before, it was called " + Escaping.text(version.path))
                path = version.path
            }
            table.add([
                version.snapshot.id.short, LocalTime.text(version.snapshot.time),
                version.isFirst ? "first snapshot" : version.counts.text, version.snapshot.cause.rawValue,
                Escaping.text(version.snapshot.label ?? ""),
            ])
            for note in notes(of: version.snapshot) { table.add(note: NoteText.below(note)) }
        }
        for line in versions.isEmpty ? [] : table.aligned(console.style, width: console.output.columns) {
            try console.output.line(line)
        }
    }

    /// "modified", "renamed from notes.txt".
    static func words(_ version: PathVersion) -> String {
        let other = version.otherPath.map { Escaping.text($0) } ?? ""
        return switch version.change {
        case .renamed: "renamed from \(other)"
        case .renamedAway: "renamed to \(other)"
        case .removed: "deleted"
        default: version.change.rawValue
        }
    }

    /// One line with tabs: id, time, change, size, path, other path, cause, label, and the line counts if given.
    private static func plain(_ version: PathVersion, _ lines: LineCounts?) -> String {
        var cells = [
            version.snapshot.id.short, version.snapshot.time.rfc3339, version.change.rawValue, "\(version.size)",
            Escaping.text(version.path), version.otherPath.map { Escaping.text($0) } ?? "",
            version.snapshot.cause.rawValue, Escaping.text(version.snapshot.label ?? ""),
        ]
        if let lines { cells += [lines.map { "\($0.added)" } ?? "", lines.map { "\($0.removed)" } ?? ""] }
        return TextTable.plain(cells)
    }

    static func text(_ lines: LineCounts) -> String { lines.map { "+\($0.added) -\($0.removed)" } ?? "" }
}

/// A version as `log --json` shows it.
struct PathVersionJSON: Encodable {
    let version: PathVersion
    let lines: LineCounts?
    /// Nil to leave out the field.
    let notes: [Note]?

    init(_ version: PathVersion, _ lines: LineCounts? = nil, notes: [Note]? = nil) {
        self.version = version
        self.lines = lines
        self.notes = notes
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(version.snapshot.id.hex, forKey: "snapshot")
        try object.encode(version.snapshot.time, forKey: "time")
        try object.encode(version.snapshot.cause.rawValue, forKey: "cause")
        try object.encode(version.snapshot.label, forKey: "label")
        try object.encode(version.change.rawValue, forKey: "change")
        try object.encode(bytes: version.path.bytes, forKey: "path")
        if let other = version.otherPath { try object.encode(bytes: other.bytes, forKey: "otherPath") }
        try object.encode(version.kind.word, forKey: "kind")
        if version.kind == .file { try object.encode(version.size, forKey: "size") }
        if case .some(.some(let lines)) = lines {
            try object.encode(lines.added, forKey: "linesAdded")
            try object.encode(lines.removed, forKey: "linesRemoved")
        }
        try object.encodeIfPresent(notes?.map(NoteJSON.init), forKey: "notes")
    }
}

/// A directory's version as `log --json` shows it.
struct DirectoryVersionJSON: Encodable {
    let version: DirectoryVersion
    let notes: [Note]

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(version.snapshot.id.hex, forKey: "snapshot")
        try object.encode(version.snapshot.time, forKey: "time")
        try object.encode(version.snapshot.cause.rawValue, forKey: "cause")
        try object.encode(version.snapshot.label, forKey: "label")
        try object.encode(bytes: version.path.bytes, forKey: "path")
        try object.encode(version.isFirst, forKey: "first")
        try object.encode(version.counts.added, forKey: "added")
        try object.encode(version.counts.modified, forKey: "modified")
        try object.encode(version.counts.removed, forKey: "removed")
        try object.encode(notes.map(NoteJSON.init), forKey: "notes")
    }
}
