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
              archiver rewind 2                 go back to before the second to last turn
            """)

    @Option(
        name: [.customShort("n"), .customLong("limit")],
        help: ArgumentHelp("Show at most this many, the latest.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Also list the files that each turn changed.")
    var files = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`.
    private static let tableLimit = 50

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        let history = try HistoryContext(global, place)
        let console = history.console
        let turns = try history.archive.turns(
            of: history.root, limit: limit ?? (console.isForPerson ? TurnsCommand.tableLimit : nil))
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for (index, turn) in turns.enumerated() {
                try writer.append(
                    TurnJSON(number: index + 1, turn: turn, files: files ? try changed(turn, history) : nil))
            }
            return try writer.finish()
        }
        if turns.isEmpty {
            return console.remark("There are no marks yet; 'archiver mark NAME' marks the current state.")
        }
        if console.isForPerson { return try writeTable(turns, history) }
        for (index, turn) in turns.enumerated() {
            try console.output.line(TurnsCommand.plain(index + 1, turn))
            if files {
                for difference in try changed(turn, history) { try console.output.line("\t" + line(difference)) }
            }
        }
    }

    private func writeTable(_ turns: [Turn], _ history: HistoryContext) throws {
        let console = history.console
        var table = TextTable([
            TextTable.Column(title: "turn", alignment: .right, mark: .yellow), TextTable.Column(title: "time"),
            TextTable.Column(title: "changes"), TextTable.Column(title: "before it"),
            TextTable.Column(title: "name", isElastic: true),
        ])
        for (index, turn) in turns.enumerated() {
            table.add([
                "\(index + 1)", LocalTime.text(turn.mark.time), turn.changes?.text ?? "",
                turn.before?.id.short ?? "gone", Escaping.text(turn.mark.name),
            ])
            if files { for difference in try changed(turn, history) { table.add(note: "        " + line(difference)) } }
        }
        for line in table.aligned(console.style, width: console.output.columns) { try console.output.line(line) }
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

    private func line(_ difference: Difference) -> String {
        "\(difference.kind.sign.rawValue) \(Escaping.text(difference.path))"
    }

    private static func plain(_ number: Int, _ turn: Turn) -> String {
        TextTable.plain([
            "\(number)", turn.mark.time.rfc3339, Escaping.text(turn.mark.name), "\(turn.changes?.added ?? 0)",
            "\(turn.changes?.modified ?? 0)", "\(turn.changes?.removed ?? 0)", turn.before?.id.short ?? "",
            turn.after?.id.short ?? "",
        ])
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
