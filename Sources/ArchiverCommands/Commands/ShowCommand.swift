// `archiver show`: shows a snapshot, its entries, or a saved state.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "show",
        abstract: "Show a snapshot, a file or directory in it, or a saved state.",
        discussion: """
            Name a snapshot by the first digits of its id, latest, latest~2 (the second before it), @10m (ten minutes \
            ago), @"2026-11-21 10:00", or its label. A path after a colon selects a file or directory in it: relative \
            to the current directory, or to the root's top as :/PATH.

            Name a saved state by its id, its label, or its title, which means the latest. With --state TITLE, \
            latest~2 and the like mean states with that title. Saved states are shown as JSON.

            Examples:
              archiver show latest              # its time, cause and changes
              archiver show latest:notes        # the directory's contents, like ls -l
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label), or a path in it (default: latest).",
            valueName: "selector[:path]"),
        completion: .selector)
    var selector: ByteArgument?

    @Flag(help: "List every entry, at any depth.")
    var entries = false

    @Flag(help: "Print the stored snapshot as JSON.")
    var raw = false

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if raw && entries { throw ValidationError("--raw and --entries exclude each other") }
    }

    func run() throws {
        let console = Console(global)
        Pager.start(console, global)
        let selector = selector ?? ByteArgument(argument: "latest")
        let context = try RootContext(global.openArchive(), place, paths: selector.pathAfterColon)
        switch try context.selection(selector, titled: state) {
        case .snapshot(let snapshot, let path?):
            if let pattern = try context.pattern(selector, at: path, in: [snapshot]), !raw {
                let found = try context.paths([pattern], in: snapshot)
                return try showEntries(context, snapshot, at: found, areWhole: entries, console)
            }
            try show(snapshot, path, context, console)
        case .snapshot(let snapshot, path: nil): try show(snapshot, nil, context, console)
        case .state(let state): try show(state, context.archive, console)
        }
    }

    private func show(_ state: ListedState, _ archive: Archive, _ console: Console) throws {
        if entries {
            throw Failure.usage("--entries is for snapshots, not for saved states", remedy: "leave out --entries")
        }
        if raw { return try console.output.line(archive.rawJSON(of: state)) }
        let content = try archive.content(of: state)
        if console.isJSON { return try StateDetailsJSON(state: state, content: content).write(to: console.output) }
        let pin = try archive.pin(of: .state(state))
        for line in StateDetails.lines(state, pin: pin, console) + [""] { try console.output.line(line) }
        try StateDetails.write(content, console.output)
    }

    private func show(
        _ snapshot: ListedSnapshot, _ path: RelativePath?, _ context: RootContext, _ console: Console
    ) throws {
        let archive = context.archive
        let notes = try archive.notesBySnapshot(of: snapshot.root)[snapshot.id] ?? []
        if raw {
            try console.output.line(try archive.rawJSON(of: snapshot))
        } else if entries {
            try showEntries(context, snapshot, at: [path ?? .root], areWhole: true, console)
        } else if let path {
            try show(path, context, snapshot, notes, console)
        } else if console.isJSON {
            let details = SnapshotDetailsJSON(
                snapshot: snapshot, details: try archive.details(of: snapshot),
                pin: try archive.pin(of: .snapshot(snapshot)),
                notes: notes)
            try console.output.line(JSONText.of(details))
        } else {
            let details = try archive.details(of: snapshot)
            let changes = try ShownChanges(archive, snapshot, details, console)
            let pin = try archive.pin(of: .snapshot(snapshot))
            for line in SnapshotDetails.lines(snapshot, details, changes, pin: pin, notes, console) {
                try console.output.line(line)
            }
        }
    }

    /// Lists entries with their paths.
    ///
    /// - Parameter areWhole: whether to list what directories contain, too.
    private func showEntries(
        _ context: RootContext, _ snapshot: ListedSnapshot, at paths: [RelativePath], areWhole: Bool, _ console: Console
    ) throws {
        let archive = context.archive
        let entries = try paths.map { try context.requiredEntry(at: $0, in: snapshot) }
        let listing = EntryListing(try archive.details(of: snapshot)).listing(console.style) { Escaping.text($0.path) }
        try listing.write(console) { write in
            for entry in entries {
                guard areWhole else {
                    try write(entry)
                    continue
                }
                try visiting({ try archive.forEachEntry(in: snapshot, at: entry.path, $0) }, write)
            }
        }
    }

    /// Shows a file's entry, or the contents of a directory.
    private func show(
        _ path: RelativePath, _ context: RootContext, _ snapshot: ListedSnapshot, _ notes: [Note], _ console: Console
    ) throws {
        let archive = context.archive
        let entry = try context.requiredEntry(at: path, in: snapshot)
        var children = [Entry]()
        if entry.kind == .directory {
            try archive.forEachEntry(in: snapshot, at: path) { child in
                if child.path.parent == path { children.append(child) }
                return true
            }
        }
        if console.isJSON {
            let json = EntryJSON(entry, children: entry.kind == .directory ? children : nil)
            let details = SnapshotDetailsJSON(
                snapshot: snapshot, details: try archive.details(of: snapshot),
                pin: try archive.pin(of: .snapshot(snapshot)),
                notes: notes, entry: json)
            return try console.output.line(JSONText.of(details))
        }
        let listing = EntryListing(try archive.details(of: snapshot))
        try listing.listing(console.style) { Escaping.text($0.path.isRoot ? [] : $0.path.name) }
            .write(entry.kind == .directory ? children : [entry], console)
    }
}

/// The lines of `archiver show <selector>`.
enum SnapshotDetails {
    static func lines(
        _ snapshot: ListedSnapshot, _ details: Snapshot, _ changes: ShownChanges, pin: Pin? = nil, _ notes: [Note] = [],
        _ console: Console
    ) -> [String] {
        let said = PinList.fields(pin) + notes.map { .init("note", Escaping.text($0.text)) }
        var lines = FieldList(fields: fields(snapshot) + said).lines(console)
        lines += changes.lines
        if changes.more > 0 { lines.append("… and \(Plural.of(changes.more, "more changed path"))") }
        lines += details.problems.map { "! \($0.text)" }
        if snapshot.problems > details.problems.count {
            lines.append("… and \(Plural.of(snapshot.problems - details.problems.count, "more problem"))")
        }
        return lines
    }

    private static func fields(_ snapshot: ListedSnapshot) -> [FieldList.Field] {
        let totals = snapshot.totals
        return [
            .init("id", snapshot.id.hex), .time("time", snapshot.time),
            .init("root", Escaping.text(snapshot.rootPath)), .init("host", Escaping.text(snapshot.host)),
            .init(
                "sequence", "\(snapshot.sequence)" + (snapshot.isAside ? " (aside: with exclusions of its own)" : "")),
            .init("cause", snapshot.cause.rawValue), .init("label", snapshot.label.map { Escaping.text($0) } ?? "-"),
            .init("parent", snapshot.parent?.hex ?? "-"), .init("files", "\(totals.files)"),
            .init("directories", "\(totals.directories)"), .init("others", "\(totals.others)"),
            .bytes("size", totals.bytes), .bytes("stored", snapshot.storedBytes),
            .init("changes", snapshot.changes.text), .init("problems", "\(snapshot.problems)"),
        ]
    }
}
