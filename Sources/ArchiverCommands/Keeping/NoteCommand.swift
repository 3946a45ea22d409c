// `archiver note`: adds a note to a snapshot, removes notes, or lists them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct NoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Add a note to a snapshot, remove notes, or list them.",
        discussion: """
            Adds a note to the latest snapshot, or to the one that --at names; 'list', 'show' and 'log' show it. \
            Without a text, it lists the notes, oldest first. In a pipe the columns are separated by tabs: time, \
            snapshot, text.

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

    @Flag(help: "Remove the notes with exactly this text.")
    var remove = false

    @Option(
        help: ArgumentHelp("The snapshot to add the note to (default: latest).", valueName: "selector"),
        completion: .selector)
    var at: ByteArgument?

    @Option(help: ArgumentHelp("Show only notes written at this time or later.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Show only notes written up to this time.", valueName: "time"))
    var until: String?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if text != nil, since != nil || until != nil {
            throw ValidationError("--since and --until are for listing notes: leave out the text, or these options")
        }
        if text == nil, remove { throw ValidationError("a text is missing: archiver note TEXT --remove") }
        if text == nil, at != nil { throw ValidationError("a text is missing: archiver note --at SNAPSHOT TEXT") }
    }

    func run() throws {
        let history = try HistoryContext(global, place, isPaged: text == nil)
        if let text { return try write(String(decoding: text.bytes, as: UTF8.self), history) }
        try list(history)
    }

    private func write(_ text: String, _ history: HistoryContext) throws {
        let snapshot = try at.map { try history.context.snapshot(SnapshotPath($0).withoutPath("--at")) }
        if let snapshot, snapshot.root != history.root {
            throw Failure.usage(
                "snapshot \(snapshot.id.short) belongs to \(Escaping.text(snapshot.rootPath)), not to "
                    + Escaping.text(history.root.path.bytes),
                remedy: "name the root with --root DIR")
        }
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
        let notes = try history.archive.notes(
            of: history.root, since: since.map { try TimeOption.time($0, isStart: true) },
            until: until.map { try TimeOption.time($0, isStart: false) })
        let console = history.console
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for note in notes { try writer.append(NoteJSON(note)) }
            return try writer.finish()
        }
        if notes.isEmpty { return console.remark("There are no notes: 'archiver note TEXT' writes one.") }
        for note in notes { try console.output.line(NoteText.line(note, console)) }
    }
}

/// Notes as lines of text.
enum NoteText {
    /// A line of the list of notes.
    static func line(_ note: Note, _ console: Console) -> String {
        guard console.isForPerson else {
            return TextTable.plain([note.time.rfc3339, note.snapshot?.short ?? "", Escaping.text(note.text)])
        }
        let snapshot = note.snapshot.map { console.style(.yellow, $0.short) + "  " } ?? ""
        return console.style(.dim, LocalTime.text(note.time)) + "  " + snapshot + Escaping.text(note.text)
    }

    /// A line below the row of the note's snapshot in a table.
    static func below(_ note: Note) -> String { "          note: " + Escaping.text(note.text) }

    /// A line after the line of the note's snapshot in a pipe, with tabs: `# note`, snapshot, time, text.
    static func plain(_ note: Note) -> String {
        TextTable.plain(["# note", note.snapshot?.short ?? "", note.time.rfc3339, Escaping.text(note.text)])
    }
}
