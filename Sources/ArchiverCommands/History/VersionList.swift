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

/// A version of a directory in a list.
struct DirectoryRow {
    let history: HistoryContext
    let version: DirectoryVersion
    /// The lines of all text files together, if they were counted.
    var lines: LineCounts?

    /// The lines that it added and removed.
    func counted() throws -> LineCounts { try VersionPatches(history).lineCounts(of: version) }
}

/// Lists of versions of files and directories.
struct VersionList {
    private let notes: [SnapshotID: [Note]]

    static let emptiness = "No version matches."

    /// A list with all notes on the roots' snapshots.
    init(_ histories: [HistoryContext]) throws {
        notes = try histories.reduce(into: [:]) { notes, history in
            // A note is about one snapshot, which is of one root.
            notes.merge(try history.archive.notesBySnapshot(of: history.root)) { first, _ in first }
        }
    }

    private func notes(of snapshot: ListedSnapshot) -> [Note] { notes.isEmpty ? [] : notes[snapshot.id] ?? [] }

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
        var listing = Listing<VersionRow>(columns, emptiness: VersionList.emptiness) { row in
            PathVersionJSON(row.version, row.lines, notes: notes(of: row.version.snapshot))
        }
        listing.after = { row in
            notes(of: row.version.snapshot).map { .init(person: NoteText.below($0), pipe: NoteText.plain($0)) }
        }
        return listing
    }

    /// The list of versions of a directory.
    ///
    /// - Parameter showsPath: whether the directory had several names.
    func directory(showsPath: Bool) -> Listing<DirectoryRow> {
        let path: [Listing<DirectoryRow>.Column] =
            showsPath ? [.person("path", isElastic: true) { $0.history.shown($0.version.path) }] : []
        var listing = Listing<DirectoryRow>(
            [
                .text("id", mark: .yellow) { $0.version.snapshot.id.short }, .time("time") { $0.version.snapshot.time },
                .person("changes") { $0.version.isFirst ? "first snapshot" : $0.version.counts.text },
                .pipe(number: { $0.version.counts.added }), .pipe(number: { $0.version.counts.modified }),
                .pipe(number: { $0.version.counts.removed }), .pipe { $0.history.shown($0.version.path) },
            ] + path + [
                .text("cause", dispensability: 1) { $0.version.snapshot.cause.rawValue },
                .text("label", isElastic: true) { Escaping.text($0.version.snapshot.label ?? "") },
            ], emptiness: VersionList.emptiness
        ) { row in
            DirectoryVersionJSON(version: row.version, lines: row.lines, notes: notes(of: row.version.snapshot))
        }
        listing.after = { row in
            notes(of: row.version.snapshot).map { .init(person: NoteText.below($0), pipe: NoteText.plain($0)) }
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
