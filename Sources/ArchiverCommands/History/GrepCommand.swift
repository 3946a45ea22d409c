// `archiver grep`: searches the lines of all versions of all files.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import TextDiff

struct GrepCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "grep",
        abstract: "Search all versions of all files for a pattern.",
        discussion: """
            The pattern is an extended regular expression as for grep -E, matched byte by byte. Each line is shown \
            with the last snapshot that has it, the time when it appeared and the time when it disappeared. Binary \
            files are skipped. With --format lines the columns are separated by tabs: path, line number, appeared, disappeared, \
            first snapshot with the line, first snapshot without it, line; for a line that was missing in between, a \
            line that begins with “# missing” follows. If nothing is found, the exit code is 1.

            Examples:
              archiver grep 'TODO|FIXME'
              archiver grep -F 'the old ending' chapters/ -C 2
              archiver grep password --at @2026-11-20 -l
            """)

    @Argument(help: ArgumentHelp("The pattern to search for.", valueName: "pattern"))
    var pattern: ByteArgument

    @Argument(
        help: ArgumentHelp(
            "Files, directories or patterns to search, or SNAPSHOT:PATH (default: everything).",
            valueName: "[selector:]path"))
    var paths: [ByteArgument] = []

    @Flag(name: [.customShort("F"), .customLong("fixed")], help: "Search for the text literally.")
    var fixed = false

    @Flag(
        name: [.customShort("E"), .customLong("extended")],
        help: "The pattern is an extended regular expression (the default).")
    var extended = false

    @Flag(name: [.customShort("w"), .customLong("words")], help: "Match only whole words.")
    var words = false

    @Option(
        name: [.customShort("C", allowingJoined: true), .customLong("context")],
        help: ArgumentHelp("Show this many lines around each line.", valueName: "lines"))
    var context = 0

    @Flag(name: [.customShort("l"), .customLong("names")], help: "Print only the paths of files.")
    var names = false

    @OptionGroup var search: SearchOptions
    @OptionGroup var window: WindowOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try search.check(window, global)
        // As grep(1) has -v for the lines that do not match.
        if global.verbose {
            throw ValidationError(
                "--verbose shows nothing more here, and lines that do not match cannot be searched for")
        }
        if fixed && extended { throw ValidationError("-F and -E exclude each other") }
        if !(0...1000).contains(context) { throw ValidationError("--context must be between 0 and 1000") }
    }

    func run() throws {
        let console = Console(global)
        let period = try window.period()
        let all = try HistoryContext.each(
            global, scope, paths: paths.map(\.pathInIt), isPaged: !search.print0)
        var rows: [LineRow] = []
        var isDamaged = false
        for history in all {
            let found = try lines(in: history)
            let lines = found.lines.filter { period.overlaps($0.first.time, $0.gone == nil ? .now : $0.lastIn.time) }
            rows += lines.map { LineRow(history: history, line: $0) }
            console.warn(found.unreadable, count: found.unreadable.count) { path in
                "a version of \(history.shown(path)) cannot be read; run 'archiver check --data'"
            }
            isDamaged = isDamaged || !found.unreadable.isEmpty
        }
        if let limit = window.limit {
            // The newest lines, in the order of the list.
            let order = rows.indices.sorted { (rows[$1].line.first.time, $0) < (rows[$0].line.first.time, $1) }
            rows = order.prefix(limit).sorted().map { rows[$0] }
        }
        try write(rows, console)
        try console.output.flush()
        for history in all where search.at == nil { try history.reportDamage() }
        if isDamaged { throw ExitStatus.damaged }
        if rows.isEmpty { throw ExitStatus.failed }
    }

    /// The matching lines in all paths of a root.
    private func lines(in history: HistoryContext) throws -> FoundLines {
        let snapshot = try search.at.map { try history.snapshot(at: $0) }
        var all = FoundLines()
        let targets = try history.targets(paths)
        var seen: Set<RelativePath> = []
        for target in targets {
            let query = LineQuery(
                pattern.bytes, isLiteral: fixed, ignoresCase: search.ignoreCase, matchesWords: words, path: target.path,
                in: snapshot ?? target.through)
            let progress = OperationProgress()
            let line = ProgressLine(
                "searching \(Escaping.text(history.root.path.bytes))", progress, history.console, counting: "files")
            let found: FoundLines
            do {
                defer { line.end() }
                found = try history.archive.lines(matching: query, in: history.root, progress: progress)
            }
            if found.lines.isEmpty, found.unreadable.isEmpty, !target.isMatch {
                try history.requireKnown(target.path)
            }
            // A file may be in several of the given paths.
            let new = found.lines.filter { !seen.contains($0.path) }
            seen.formUnion(found.lines.map(\.path))
            all.append(lines: new, unreadable: found.unreadable)
        }
        return all
    }

    private func write(_ rows: [LineRow], _ console: Console) throws {
        if names || search.print0, !console.isJSON { return try writeNames(rows, console) }
        try listing(console).write(rows, console)
    }

    /// Writes each path once.
    private func writeNames(_ rows: [LineRow], _ console: Console) throws {
        var last: String?
        for row in rows {
            let name = row.history.shown(row.line.path)
            if name == last { continue }
            last = name
            try search.print0
                ? console.output.write(Escaping.bytes(ofName: Array(name.utf8)) + [0]) : console.output.line(name)
        }
        if rows.isEmpty { console.remark(GrepCommand.emptiness) }
    }

    private static let emptiness = "No line matches."

    private func listing(_ console: Console) -> Listing<LineRow> {
        let style = console.style
        var listing = Listing<LineRow>(
            [
                .pipe { $0.history.shown($0.line.path) }, .pipe { "\($0.line.number)" },
                .time("appeared") { $0.line.first.time }, .time("disappeared") { $0.line.gone?.time },
                .pipe { $0.line.first.id.short }, .pipe { $0.line.gone?.id.short ?? "" },
                .pipe(bytes: { $0.line.bytes }),
            ], emptiness: GrepCommand.emptiness
        ) { FoundLineJSON(root: $0.history.root, line: $0.line) }
        func around(_ lines: NumberedLines) -> [Listing<LineRow>.Line] {
            lines.map { line in
                let text = "            \(line.number)  " + Escaping.prose(Array(line.bytes), keepingTabs: true)
                let start = Array(TextTable.plain(["# context", "\(line.number)", ""]).utf8)
                return .init(person: style(.dim, text), pipe: start + line.bytes)
            }
        }
        func missing(_ row: LineRow) -> [Listing<LineRow>.Line] {
            row.line.interruptions.map { gap in
                let cells = [
                    "# missing", row.history.shown(row.line.path), LocalTime.plain(gap.gone.time),
                    LocalTime.plain(gap.back.time), gap.gone.id.short, gap.back.id.short,
                ]
                let span = "not from \(LocalTime.text(gap.gone.time)) … \(LocalTime.text(gap.back.time))"
                return .init(person: style(.dim, "          " + span), pipe: TextTable.plain(cells))
            }
        }
        let before = { (row: LineRow) in try context > 0 ? around(contextLines(row).before) : [] }
        let after = { (row: LineRow) in try (context > 0 ? around(contextLines(row).after) : []) + missing(row) }
        (listing.before, listing.after) = (before, after)
        var last: String?
        listing.personLines = { row in
            let (line, name) = (row.line, row.history.shown(row.line.path))
            let head = name == last ? [] : [style(.yellow, name)]
            last = name
            let when = LocalTime.text(line.first.time) + " … " + (line.gone.map { LocalTime.text($0.time) } ?? "now")
            let text =
                "  " + style(.yellow, line.lastIn.id.short) + "  " + style(.dim, "\(when)  \(line.number)") + "  "
                + Escaping.prose(line.bytes, keepingTabs: true)
            return try head + before(row).compactMap(\.person) + [text] + after(row).compactMap(\.person)
        }
        return listing
    }

    private typealias NumberedLines = [(number: Int, bytes: ArraySlice<UInt8>)]

    /// The lines before and after a line in the last snapshot that has it.
    private func contextLines(_ row: LineRow) throws -> (before: NumberedLines, after: NumberedLines) {
        let (archive, line) = (row.history.archive, row.line)
        guard let entry = try archive.entry(at: line.path, in: line.lastIn) else { return ([], []) }
        let all = TextLines(try FileContents.archive(archive).bytes(entry)).lines
        func numbered(_ range: Range<Int>) -> NumberedLines {
            range.clamped(to: 0..<all.count).map { (number: $0 + 1, bytes: all[$0]) }
        }
        let index = line.number - 1
        return (numbered(max(0, index - context)..<max(0, index)), numbered((index + 1)..<(index + 1 + context)))
    }
}

private struct LineRow {
    let history: HistoryContext
    let line: FoundLine
}
