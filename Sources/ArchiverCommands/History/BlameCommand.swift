// `archiver blame`: shows the version that introduced each line of a file.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct BlameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Show which version introduced each line of a file.",
        discussion: """
            Uses the file in the latest snapshot, or in the snapshot before the colon. Renames are followed. In a pipe \
            the columns are separated by tabs: id, time, line number, line number in that version, line.

            Examples:
              archiver blame notes/todo.txt
              archiver blame @2026-11-20:notes/todo.txt -L 10,40
            """)

    @Argument(help: ArgumentHelp("A file, or SNAPSHOT:FILE.", valueName: "[selector:]path"))
    var file: ByteArgument

    @Option(name: .customShort("L"), help: ArgumentHelp("Show only these lines.", valueName: "first,last"))
    var range: String?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let history = try HistoryContext(global, place)
        let range = try range.map(LineOption.range)
        let (snapshot, path) = try named(history)
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

    /// The snapshot and file that the argument names.
    private func named(_ history: HistoryContext) throws -> (ListedSnapshot, RelativePath) {
        // A path that exists under exactly this name wins, even if it contains colons.
        let latest = try history.latest()
        if let path = try? history.path(file), try history.archive.entry(at: path, in: latest) != nil {
            return (latest, path)
        }
        if !file.bytes.starts(with: ":/".utf8), file.bytes.contains(UInt8(ascii: ":")),
            let named = try? SnapshotPath(file), let path = named.path
        {
            let snapshot = try history.context.snapshot(named.selector)
            return (snapshot, try history.context.paths(in: history.root).path(path))
        }
        return (latest, try history.path(file))
    }

    private func write(_ lines: BlamedLines.SubSequence, _ console: Console) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for (index, line) in zip(lines.indices, lines) {
                try writer.append(BlamedLineJSON(number: index + 1, line: line))
            }
            return try writer.finish()
        }
        let width = "\(lines.endIndex)".utf8.count
        for (index, line) in zip(lines.indices, lines) {
            let snapshot = line.version.snapshot
            guard console.isForPerson else {
                let cells = [snapshot.id.short, snapshot.time.rfc3339, "\(index + 1)", "\(line.sourceLine)", ""]
                try console.output.write(Array(TextTable.plain(cells).utf8) + line.bytes + [UInt8(ascii: "\n")])
                continue
            }
            let number = String(repeating: " ", count: width - "\(index + 1)".utf8.count) + "\(index + 1)"
            try console.output.line(
                console.style(.yellow, snapshot.id.short) + " " + LocalTime.text(snapshot.time) + " "
                    + console.style(.dim, number) + "  " + Escaping.prose(Array(line.bytes), keepingTabs: true))
        }
    }
}

/// A line as `blame --json` shows it.
struct BlamedLineJSON: Encodable {
    let number: Int
    let line: BlamedLine

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(number, forKey: "line")
        try object.encode(line.sourceLine, forKey: "sourceLine")
        try object.encode(bytes: line.version.path.bytes, forKey: "path")
        try object.encode(line.version.snapshot.id.hex, forKey: "snapshot")
        try object.encode(line.version.snapshot.time, forKey: "time")
        try object.encode(line.version.snapshot.label, forKey: "label")
        try object.encode(bytes: line.bytes, forKey: "text")
    }
}
