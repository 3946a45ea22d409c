// `archiver turns`: lists the marks of a directory and the changes after each.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct TurnsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "turns",
        abstract: "List the marked turns and what each changed, newest first.",
        discussion: """
            A turn lasts from one 'archiver mark' to the next; the latest turn lasts to the latest snapshot. With \
            --format lines the columns are separated by tabs: number, time, name, added, modified, removed, snapshot before, snapshot \
            after, root.

            Examples:
              archiver turns --files
              archiver rewind 2                 # go back to before the second to last turn
            """)

    @Flag(help: "Also list the files that each turn changed.")
    var files = false

    @OptionGroup var window: WindowOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`.
    private static let tableLimit = 50

    func run() throws {
        let console = Console(global)
        let period = try window.period()
        let limit = window.limit ?? (console.isShortened ? TurnsCommand.tableLimit : nil)
        var rows = try HistoryContext.each(global, scope, paths: []).flatMap { history in
            // Turns are counted from the latest one, whatever the period.
            try history.archive.turns(of: history.root, limit: window.hasPeriod ? nil : limit)
                .enumerated().map { Row(history: history, number: $0 + 1, turn: $1) }
                .filter { period.contains($0.turn.mark.time) }
        }
        if scope.all { rows.sort { $0.turn.mark.time > $1.turn.mark.time } }
        let isCut = window.limit == nil && rows.count >= TurnsCommand.tableLimit
        let shown = try rows.prefix(limit ?? rows.count).map { row in
            var row = row
            if files { row.files = try changed(row.turn, row.history) }
            return row
        }
        try listing.write(shown, console, older: isCut ? "Older turns are not shown; -n shows more." : nil)
    }

    private struct Row {
        let history: HistoryContext
        let number: Int
        let turn: Turn
        /// Nil if they are not asked for.
        var files: [Difference]?
    }

    private var listing: Listing<Row> {
        let root: [Listing<Row>.Column] =
            scope.all ? [.person("root", isElastic: true) { Escaping.text($0.history.root.path.bytes) }] : []
        var listing = Listing<Row>(
            [
                .text("turn", alignment: .right, mark: .yellow) { "\($0.number)" }, .time("time") { $0.turn.mark.time },
                .pipe { Escaping.text($0.turn.mark.name) }, .person("changes") { $0.turn.changes?.text ?? "" },
                .pipe { "\($0.turn.changes?.added ?? 0)" }, .pipe { "\($0.turn.changes?.modified ?? 0)" },
                .pipe { "\($0.turn.changes?.removed ?? 0)" },
                .text(
                    "before it", person: { $0.turn.before?.id.short ?? "gone" },
                    pipe: { $0.turn.before?.id.short ?? "" }),
                .pipe { $0.turn.after?.id.short ?? "" },
                .pipe { Escaping.text($0.history.root.path.bytes) },
            ] + root + [.person("name", isElastic: true) { Escaping.text($0.turn.mark.name) }],
            emptiness: window.isGiven
                ? "No turn matches." : "There are no marks yet; 'archiver mark NAME' marks the current state."
        ) { TurnJSON(root: $0.history.root, number: $0.number, turn: $0.turn, files: $0.files) }
        listing.after = { row in
            (row.files ?? []).map { difference in
                let text = "\(difference.kind.sign.rawValue) \(Escaping.text(difference.path))"
                return .init(person: "        " + text, pipe: "\t" + text)
            }
        }
        return listing
    }

    /// The differences between the states before and after a turn.
    private func changed(_ turn: Turn, _ history: HistoryContext) throws -> [Difference] {
        guard let before = turn.before, let after = turn.after, turn.changes != nil else { return [] }
        var found: [Difference] = []
        try history.archive.differences(from: before, to: after) { difference in
            if !difference.isDirectoryTimeOnly { found.append(difference) }
            return true
        }
        return found
    }
}
