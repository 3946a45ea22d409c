// `archiver blame`: shows the version that introduced each line of a file.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct BlameCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "blame",
        abstract: "Show which version introduced each line of a file.",
        discussion: """
            Uses the file in the latest snapshot, or in the snapshot before the colon. Renames are followed. With \
            --format lines the columns are separated by tabs: id, time, line number, line number in that version, line.

            Examples:
              archiver blame notes/todo.txt
              archiver blame @2026-11-20:notes/todo.txt -L 10,40
            """)

    @Argument(help: ArgumentHelp("A file, or SNAPSHOT:FILE.", valueName: "[selector:]path"))
    var file: ByteArgument

    @Option(
        name: .customShort("L", allowingJoined: true),
        help: ArgumentHelp("Show only these lines.", valueName: "first,last"))
    var range: String?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let history = try HistoryContext(global, place, paths: [file.pathInIt])
        let range = try range.map(LineOption.range)
        let target = try history.target(file)
        let (snapshot, path) = (try target.through ?? history.latest(), target.path)
        guard let entry = try history.archive.entry(at: path, in: snapshot) else {
            throw try history.context.absence(of: path, snapshot)
        }
        try history.requireText(entry)
        let versions = try history.indexing {
            try history.archive.history(
                of: path, in: history.root, HistoryQuery(through: snapshot), progress: $0)
        }
        let lines = try Blame(history.archive).lines(withLatest(versions, entry, snapshot, history))
        let first = min(range?.lowerBound ?? 1, lines.count + 1)
        let last = min(range?.upperBound ?? lines.count, lines.count)
        if let range, range.lowerBound > lines.count {
            throw LineOption.beyond(path, lines: lines.count)
        }
        try write(lines[first <= last ? (first - 1)..<last : 0..<0], history.console)
        try history.reportDamage()
    }

    /// The versions, with the file in `snapshot` added as the newest if damage hides that version.
    private func withLatest(
        _ versions: [PathVersion], _ entry: Entry, _ snapshot: ListedSnapshot, _ history: HistoryContext
    ) throws -> [PathVersion] {
        if try history.archive.damagedHistory(of: history.root).isEmpty { return versions }
        let newest = try versions.first.flatMap { try history.archive.entry(at: $0.path, in: $0.snapshot) }
        return newest?.content == entry.content ? versions : [PathVersion(asIn: snapshot, entry)] + versions
    }

    private func write(_ lines: BlamedLines.SubSequence, _ console: Console) throws {
        let (width, style) = ("\(lines.endIndex)".utf8.count, console.style)
        var listing = Listing<Row>(
            [
                .pipe { $0.line.version.snapshot.id.short }, .time("time") { $0.line.version.snapshot.time },
                .pipe { "\($0.number)" }, .pipe { "\($0.line.sourceLine)" }, .pipe(bytes: { Array($0.line.bytes) }),
            ], emptiness: ""
        ) { BlamedLineJSON(number: $0.number, line: $0.line) }
        listing.personLines = { row in
            let snapshot = row.line.version.snapshot
            let number = String(repeating: " ", count: width - "\(row.number)".utf8.count) + "\(row.number)"
            return [
                style(.yellow, snapshot.id.short) + " " + LocalTime.text(snapshot.time) + " " + style(.dim, number)
                    + "  " + Escaping.prose(Array(row.line.bytes), keepingTabs: true)
            ]
        }
        try listing.write(zip(lines.indices, lines).lazy.map { Row(number: $0 + 1, line: $1) }, console)
    }

    private struct Row {
        let number: Int
        let line: BlamedLine
    }
}
