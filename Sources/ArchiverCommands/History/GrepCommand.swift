// `archiver grep`: searches the lines of all versions of all files.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import TextDiff

struct GrepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grep",
        abstract: "Search all versions of all files for a pattern.",
        discussion: """
            The pattern is an extended regular expression as for grep -E, matched byte by byte. Each line is shown \
            with the last snapshot that has it, the time when it appeared and the time when it disappeared. Binary \
            files are skipped. In a pipe the columns are separated by tabs: path, line number, appeared, disappeared, \
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

    @Flag(name: [.customShort("i"), .customLong("ignore-case")], help: "Ignore the case of A to Z.")
    var ignoreCase = false

    @Flag(name: [.customShort("l"), .customLong("names")], help: "Print only the paths of files.")
    var names = false

    @Option(
        help: ArgumentHelp("Use this snapshot; a time may be given without @.", valueName: "selector"),
        completion: .selector)
    var at: ByteArgument?

    @Flag(help: "Print only paths, each followed by a NUL byte.")
    var print0 = false

    @OptionGroup var window: WindowOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if print0 && global.json { throw ValidationError("--print0 and --json exclude each other") }
        if fixed && extended { throw ValidationError("-F and -E exclude each other") }
        if at != nil, window.period.isGiven { throw ValidationError("--at excludes --since and --until") }
        if !(0...1000).contains(context) { throw ValidationError("--context must be between 0 and 1000") }
    }

    func run() throws {
        let console = Console(global)
        let period = try window.period.period()
        let all = try HistoryContext.each(
            global, scope, paths: paths.map(\.pathInIt), isPaged: !print0)
        var rows: [LineRow] = []
        var isDamaged = false
        for history in all {
            let found = try search(history)
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
        for history in all where at == nil { try history.reportDamage() }
        if isDamaged { throw ExitStatus.damaged }
        if rows.isEmpty { throw ExitStatus.failed }
    }

    /// The matching lines in all paths of a root.
    private func search(_ history: HistoryContext) throws -> FoundLines {
        let snapshot = try at.map { try history.snapshot(at: $0) }
        var all = FoundLines()
        let targets = try history.targets(paths)
        var seen: Set<RelativePath> = []
        for target in targets {
            let query = LineQuery(
                pattern.bytes, isLiteral: fixed, ignoresCase: ignoreCase, matchesWords: words, path: target.path,
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
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for row in rows { try writer.append(FoundLineJSON(root: row.history.root, line: row.line)) }
            return try writer.finish()
        }
        var last: (root: ArchivedRoot, path: RelativePath)?
        for row in rows {
            let line = row.line
            let isNew = last.map { $0.root != row.history.root || $0.path != line.path } ?? true
            last = (row.history.root, line.path)
            let name = row.history.shown(line.path)
            if names || print0 {
                guard isNew else { continue }
                try print0
                    ? console.output.write(Escaping.bytes(ofName: Array(name.utf8)) + [0]) : console.output.line(name)
                continue
            }
            let text = try context > 0 ? contextLines(row) : nil
            guard console.isForPerson else {
                let cells = [
                    name, "\(line.number)", LocalTime.plain(line.first.time),
                    line.gone.map { LocalTime.plain($0.time) } ?? "", line.first.id.short, line.gone?.id.short ?? "",
                    "",
                ]
                for around in text?.before ?? [] { try writeContext(around, console) }
                try console.output.write(Array(TextTable.plain(cells).utf8) + line.bytes + [UInt8(ascii: "\n")])
                for around in text?.after ?? [] { try writeContext(around, console) }
                for gap in line.interruptions {
                    try console.output.line(
                        TextTable.plain([
                            "# missing", name, LocalTime.plain(gap.gone.time), LocalTime.plain(gap.back.time),
                            gap.gone.id.short, gap.back.id.short,
                        ]))
                }
                continue
            }
            if isNew { try console.output.line(console.style(.yellow, name)) }
            let when = LocalTime.text(line.first.time) + " … " + (line.gone.map { LocalTime.text($0.time) } ?? "now")
            for around in text?.before ?? [] { try writeContext(around, console) }
            try console.output.line(
                "  " + console.style(.yellow, line.lastIn.id.short) + "  "
                    + console.style(.dim, "\(when)  \(line.number)") + "  "
                    + Escaping.prose(line.bytes, keepingTabs: true))
            for around in text?.after ?? [] { try writeContext(around, console) }
            for gap in line.interruptions {
                try console.output.line(
                    console.style(
                        .dim,
                        "            not from \(LocalTime.text(gap.gone.time)) to \(LocalTime.text(gap.back.time))"))
            }
        }
        if rows.isEmpty { console.remark("No line matches.") }
    }

    private func writeContext(_ line: (number: Int, bytes: ArraySlice<UInt8>), _ console: Console) throws {
        guard console.isForPerson else {
            let start = Array(TextTable.plain(["# context", "\(line.number)", ""]).utf8)
            return try console.output.write(start + line.bytes + [UInt8(ascii: "\n")])
        }
        try console.output.line(
            console.style(.dim, "            \(line.number)  " + Escaping.prose(Array(line.bytes), keepingTabs: true)))
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

/// A line as `grep --json` shows it.
private struct FoundLineJSON: Encodable {
    let root: ArchivedRoot
    let line: FoundLine

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: "root")
        try object.encode(bytes: line.path.bytes, forKey: "path")
        try object.encode(line.number, forKey: "line")
        try object.encode(bytes: line.bytes, forKey: "text")
        try object.encode(line.first.id.hex, forKey: "first")
        try object.encode(line.first.time, forKey: "since")
        try object.encode(line.gone?.id.hex, forKey: "goneIn")
        try object.encode(line.gone?.time.rfc3339, forKey: "gone")
        try object.encode(line.lastIn.id.hex, forKey: "lastIn")
        try object.encode(line.interruptions.map(Interruption.init), forKey: "interruptions")
    }

    /// A span without the line.
    private struct Interruption: Encodable {
        let gone: String
        let back: String
        let goneIn: String
        let backIn: String

        init(_ gap: FoundLine.Interruption) {
            (gone, back) = (gap.gone.time.rfc3339, gap.back.time.rfc3339)
            (goneIn, backIn) = (gap.gone.id.hex, gap.back.id.hex)
        }
    }
}
