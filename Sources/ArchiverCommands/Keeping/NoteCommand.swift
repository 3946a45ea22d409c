// `archiver note`: adds a note to a snapshot, removes notes, or lists them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct NoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "note",
        abstract: "Add a note to a snapshot, remove notes, or list them.",
        discussion: """
            Adds a note to the latest snapshot, or to the one that --at names; 'list', 'show' and 'log' show it. \
            Without a text, it lists the notes, oldest first. With --format lines the columns are separated by tabs: time, \
            snapshot, text, root.

            --remove removes all notes with exactly this text; with --at only those of that snapshot. The next 'prune' \
            removes their bytes; 'archiver purge --text' removes a text everywhere at once.

            Examples:
              archiver note "sent to the publisher"
              archiver note --at session~1 "before the reviewer's remarks"
              archiver note "sent to the publisher" --remove
              archiver note --since 1w
            """)

    @Argument(help: ArgumentHelp("The note's text, at most 65,536 bytes.", valueName: "text"))
    var text: ByteArgument?

    @Flag(help: "Remove it instead of adding it.")
    var remove = false

    @OptionGroup var moment: MomentOptions
    @OptionGroup var window: WindowOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if text != nil, window.isGiven {
            throw ValidationError(
                "-n, --since and --until are for listing notes: leave out the text, or these options")
        }
        if text != nil, scope.all { throw ValidationError("a note is about one root: leave out --all") }
        if text == nil, remove { throw ValidationError("a text is missing: archiver note TEXT --remove") }
        if text == nil, moment.at != nil {
            throw ValidationError("a text is missing: archiver note --at SNAPSHOT TEXT")
        }
    }

    func run() throws {
        let all = try HistoryContext.each(global, scope, paths: [], isPaged: text == nil)
        guard let history = all.first else { return }
        if let text { return try write(String(decoding: text.bytes, as: UTF8.self), history) }
        try list(history)
    }

    private func write(_ text: String, _ history: HistoryContext) throws {
        let snapshot = try moment.at.map { try history.snapshot(at: $0) }
        if remove { return try removeNotes(text, of: snapshot?.id, history) }
        let about = try snapshot ?? history.archive.latestSnapshot(of: history.root)
        let note = try history.archive.note(text, about: history.root, snapshot: about?.id)
        if history.console.isJSON { return try history.console.output.line(JSONText.of(NoteJSON(note))) }
        let what = about.map { "snapshot \($0.name)" } ?? Escaping.text(history.root.path.bytes)
        try history.console.summary("added a note to \(what)")
    }

    private func removeNotes(_ text: String, of snapshot: SnapshotID?, _ history: HistoryContext) throws {
        let removed = try history.archive.removeNotes(text, about: history.root, snapshot: snapshot)
        if history.console.isJSON {
            for note in removed { try history.console.output.line(JSONText.of(RemovedNoteJSON(id: note.id.hex))) }
            return
        }
        try history.console.summary("removed \(Plural.of(removed.count, "note"))")
    }

    private func list(_ history: HistoryContext) throws {
        let period = try window.period()
        let notes = try history.archive.notes(
            of: scope.all ? nil : history.root, since: period.since, until: period.until)
        try NoteText.listing(isFiltered: window.isGiven, ofAll: scope.all)
            .write(window.last(notes), history.console)
    }
}

/// Notes as lines of text.
enum NoteText {
    /// - Parameter ofAll: whether the notes are about several roots.
    static func listing(isFiltered: Bool, ofAll: Bool) -> Listing<Note> {
        let root: [Listing<Note>.Column] =
            ofAll ? [.person("root", isElastic: true) { Escaping.text($0.root.path.bytes) }] : []
        return Listing(
            [
                .time("time") { $0.time }, .text("snapshot", mark: .yellow) { $0.snapshot?.short ?? "" },
                .text("note") { Escaping.text($0.text) }, .pipe { Escaping.text($0.root.path.bytes) },
            ] + root,
            emptiness: isFiltered ? "No note matches." : "There are no notes: 'archiver note TEXT' writes one."
        ) { NoteJSON($0) }
    }

    /// A line below the row of the note's snapshot in a table.
    static func below(_ note: Note) -> String { "          note: " + Escaping.text(note.text) }

    /// A line after the line of the note's snapshot in a pipe, with tabs: `# note`, snapshot, time, text.
    static func plain(_ note: Note) -> String {
        TextTable.plain(["# note", note.snapshot?.short ?? "", LocalTime.plain(note.time), Escaping.text(note.text)])
    }
}
