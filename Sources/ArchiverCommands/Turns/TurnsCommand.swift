// `archiver turns`: lists the marks of a directory and the changes after each.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct TurnsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "turns",
        abstract: "List the marked turns and what each changed, newest first.",
        discussion: """
            A turn lasts from one 'archiver mark' to the next; the latest turn lasts to the latest snapshot. In a pipe \
            the columns are separated by tabs: number, time, name, added, modified, removed, snapshot before, snapshot \
            after.

            Examples:
              archiver turns --files
              archiver rewind 2                 # go back to before the second to last turn
            """)

    @Flag(help: "Also list the files that each turn changed.")
    var files = false

    @OptionGroup var window: WindowOptions
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`.
    private static let tableLimit = 50

    func run() throws {
        let history = try HistoryContext(global, place)
        let console = history.console
        let period = try window.period.period()
        let limit = window.limit ?? (console.isForPerson ? TurnsCommand.tableLimit : nil)
        // Turns are counted from the latest one, whatever the period.
        let turns = try history.archive.turns(of: history.root, limit: window.period.isGiven ? nil : limit)
            .enumerated().map { Row(number: $0 + 1, turn: $1, files: files ? try changed($1, history) : nil) }
            .filter { period.contains($0.turn.mark.time) }
        let isCut = window.limit == nil && turns.count >= TurnsCommand.tableLimit
        try TurnsCommand.listing(isFiltered: window.isGiven).write(
            turns.prefix(limit ?? turns.count), console,
            older: isCut ? "Older turns are not shown; -n shows more." : nil)
    }

    private struct Row {
        let number: Int
        let turn: Turn
        let files: [Difference]?
    }

    private static func listing(isFiltered: Bool) -> Listing<Row> {
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
                .person("name", isElastic: true) { Escaping.text($0.turn.mark.name) },
            ],
            emptiness: isFiltered
                ? "No turn matches." : "There are no marks yet; 'archiver mark NAME' marks the current state."
        ) { TurnJSON(number: $0.number, turn: $0.turn, files: $0.files) }
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

/// A turn as `turns --json` shows it.
struct TurnJSON: Encodable {
    let number: Int
    let turn: Turn
    let files: [Difference]?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(number, forKey: "number")
        try object.encode(turn.mark.name, forKey: "name")
        try object.encode(turn.mark.time, forKey: "time")
        try object.encode(turn.changes?.added, forKey: "added")
        try object.encode(turn.changes?.modified, forKey: "modified")
        try object.encode(turn.changes?.removed, forKey: "removed")
        try object.encode(turn.before?.id.hex, forKey: "before")
        try object.encode(turn.after?.id.hex, forKey: "after")
        try object.encodeIfPresent(files?.map { File(difference: $0) }, forKey: "changedPaths")
    }

    private struct File: Encodable {
        let difference: Difference

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: JSONKey.self)
            try object.encode(bytes: difference.path.bytes, forKey: "path")
            try object.encode(difference.kind.sign.word, forKey: "change")
        }
    }
}
