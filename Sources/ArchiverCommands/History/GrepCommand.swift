// `archiver grep`: searches the lines of all versions of all files.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct GrepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grep",
        abstract: "Search all versions of all files for a pattern.",
        discussion: """
            The pattern is an extended regular expression as for grep -E, matched byte by byte. Each line is shown \
            with the time when it appeared and the time when it disappeared. Binary files are skipped. In a pipe the \
            columns are separated by tabs: path, line number, appeared, disappeared, first snapshot with the line, \
            first snapshot without it, line. If nothing is found, the exit code is 1.

            Examples:
              archiver grep 'TODO|FIXME'
              archiver grep -F 'the old ending' chapters/
              archiver grep password --at @2026-11-20 -l
            """)

    @Argument(help: ArgumentHelp("The pattern to search for.", valueName: "pattern"))
    var pattern: ByteArgument

    @Argument(help: ArgumentHelp("A file or directory to search (default: everything).", valueName: "path"))
    var path: ByteArgument?

    @Flag(name: [.customShort("F"), .customLong("fixed")], help: "Search for the text literally.")
    var fixed = false

    @Flag(name: [.customShort("i"), .customLong("ignore-case")], help: "Ignore the case of A to Z.")
    var ignoreCase = false

    @Flag(name: [.customShort("l"), .customLong("names")], help: "Print only the paths of files.")
    var names = false

    @Option(help: ArgumentHelp("Search this snapshot only.", valueName: "selector"), completion: .selector)
    var at: ByteArgument?

    @Flag(help: "Print only paths, each followed by a NUL byte.")
    var print0 = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if print0 && global.json { throw ValidationError("--print0 and --json exclude each other") }
    }

    func run() throws {
        let history = try HistoryContext(global, place, isPaged: !print0)
        let console = history.console
        let snapshot = try at.map { try history.archive.snapshot(selector($0), of: history.root) }
        let path = try history.path(path)
        let query = LineQuery(pattern.bytes, isLiteral: fixed, ignoresCase: ignoreCase, path: path, in: snapshot)
        let progress = OperationProgress()
        let line = ProgressLine(
            "searching \(Escaping.text(history.root.path.bytes))", progress, console, counting: "files")
        let found: FoundLines
        do {
            defer { line.end() }
            found = try history.archive.lines(matching: query, in: history.root, progress: progress)
        }
        if found.lines.isEmpty, found.unreadable.isEmpty { try history.requireKnown(path) }
        try write(found.lines, console)
        try console.output.flush()
        console.warn(found.unreadable, count: found.unreadable.count) { path in
            "a version of \(Escaping.text(path)) cannot be read; run 'archiver check --data'"
        }
        if snapshot == nil { try history.reportDamage() }
        if !found.unreadable.isEmpty { throw ExitStatus.damaged }
        if found.lines.isEmpty { throw ExitStatus.failed }
    }

    private func selector(_ argument: ByteArgument) throws -> SnapshotSelector {
        try SnapshotPath(argument).withoutPath("--at")
    }

    private func write(_ lines: [FoundLine], _ console: Console) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for line in lines { try writer.append(FoundLineJSON(line: line)) }
            return try writer.finish()
        }
        var last: RelativePath?
        for line in lines {
            let isNew = line.path != last
            last = line.path
            if names || print0 {
                guard isNew else { continue }
                try print0
                    ? console.output.write(line.path.bytes + [0]) : console.output.line(Escaping.text(line.path))
                continue
            }
            guard console.isForPerson else {
                let cells = [
                    Escaping.text(line.path), "\(line.number)", line.first.time.rfc3339, line.gone?.time.rfc3339 ?? "",
                    line.first.id.short, line.gone?.id.short ?? "", "",
                ]
                try console.output.write(Array(TextTable.plain(cells).utf8) + line.bytes + [UInt8(ascii: "\n")])
                continue
            }
            if isNew { try console.output.line(console.style(.yellow, Escaping.text(line.path))) }
            let when = LocalTime.text(line.first.time) + " … " + (line.gone.map { LocalTime.text($0.time) } ?? "now")
            try console.output.line(
                "  " + console.style(.dim, "\(when)  \(line.number)") + "  "
                    + Escaping.prose(line.bytes, keepingTabs: true))
        }
        if lines.isEmpty { console.remark("No line matches.") }
    }
}

/// A line as `grep --json` shows it.
private struct FoundLineJSON: Encodable {
    let line: FoundLine

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: line.path.bytes, forKey: "path")
        try object.encode(line.number, forKey: "line")
        try object.encode(bytes: line.bytes, forKey: "text")
        try object.encode(line.first.id.hex, forKey: "first")
        try object.encode(line.first.time, forKey: "since")
        try object.encode(line.gone?.id.hex, forKey: "goneIn")
        try object.encode(line.gone?.time.rfc3339, forKey: "gone")
    }
}
