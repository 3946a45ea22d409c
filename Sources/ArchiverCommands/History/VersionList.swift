// Lists of versions: a table for people, lines with tabs or JSON for programs.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The numbers of lines that a version added and removed; nil if it is not text.
typealias LineCounts = (added: Int, removed: Int)?

/// A version of a file in a list.
struct VersionRow {
    let version: PathVersion
    /// The line counts, if they were counted.
    var lines: LineCounts?
}

/// Lists of versions of files and directories.
struct VersionList {
    private let notes: [SnapshotID: [Note]]

    /// A list with all notes on the root's snapshots.
    init(_ history: HistoryContext) throws { notes = try history.archive.notesBySnapshot(of: history.root) }

    private func notes(of snapshot: ListedSnapshot) -> [Note] { notes.isEmpty ? [] : notes[snapshot.id] ?? [] }

    private func lines(of snapshot: ListedSnapshot) -> [Listing<VersionRow>.Line] {
        notes(of: snapshot).map { .init(person: NoteText.below($0), pipe: NoteText.plain($0)) }
    }

    /// The list of versions of files.
    ///
    /// - Parameters:
    ///   - isCounted: whether the lines of each version were counted.
    ///   - showsPath: whether the versions are of several files.
    func files(isCounted: Bool, showsPath: Bool) -> Listing<VersionRow> {
        var columns: [Listing<VersionRow>.Column] = [
            .text("id", mark: .yellow) { $0.version.snapshot.id.short }, .time("time") { $0.version.snapshot.time },
            .text(
                "change", isElastic: true, person: { VersionList.words($0.version) },
                pipe: { $0.version.change.rawValue }),
            .text(
                "size", alignment: .right,
                person: { $0.version.isPresent && $0.version.kind == .file ? ByteCount.text($0.version.size) : "" },
                pipe: { "\($0.version.size)" }),
        ]
        if showsPath { columns.append(.person("path", isElastic: true) { Escaping.text($0.version.path) }) }
        columns += [
            .pipe { Escaping.text($0.version.path) },
            .pipe { $0.version.otherPath.map { Escaping.text($0) } ?? "" },
        ]
        if isCounted { columns.append(.person("lines") { VersionList.text($0.lines ?? nil) }) }
        columns += [
            .text("cause", dispensability: 1) { $0.version.snapshot.cause.rawValue },
            .text("label", isElastic: true) { Escaping.text($0.version.snapshot.label ?? "") },
        ]
        if isCounted {
            columns += [
                .pipe { ($0.lines ?? nil).map { "\($0.added)" } ?? "" },
                .pipe { ($0.lines ?? nil).map { "\($0.removed)" } ?? "" },
            ]
        }
        var listing = Listing<VersionRow>(columns, emptiness: "No version matches.") { row in
            PathVersionJSON(row.version, row.lines, notes: notes(of: row.version.snapshot))
        }
        listing.after = { lines(of: $0.version.snapshot) }
        return listing
    }

    /// The list of versions of a directory.
    ///
    /// - Parameter showsPath: whether the directory had several names.
    func directory(showsPath: Bool) -> Listing<DirectoryVersion> {
        let path: [Listing<DirectoryVersion>.Column] =
            showsPath ? [.person("path", dispensability: 2, isElastic: true) { Escaping.text($0.path) }] : []
        var listing = Listing<DirectoryVersion>(
            [
                .text("id", mark: .yellow) { $0.snapshot.id.short }, .time("time") { $0.snapshot.time },
                .person("changes") { $0.isFirst ? "first snapshot" : $0.counts.text },
                .pipe { "\($0.counts.added)" }, .pipe { "\($0.counts.modified)" }, .pipe { "\($0.counts.removed)" },
                .pipe { Escaping.text($0.path) },
            ] + path + [
                .text("cause", dispensability: 1) { $0.snapshot.cause.rawValue },
                .text("label", isElastic: true) { Escaping.text($0.snapshot.label ?? "") },
            ], emptiness: "No version matches."
        ) { version in DirectoryVersionJSON(version: version, notes: notes(of: version.snapshot)) }
        listing.after = { version in
            notes(of: version.snapshot).map { .init(person: NoteText.below($0), pipe: NoteText.plain($0)) }
        }
        return listing
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
