// `archiver deleted`: lists deleted paths and the last snapshot with each.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

struct DeletedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deleted",
        abstract: "List deleted files and directories.",
        discussion: """
            The latest deletion comes first. Files deleted together with a directory are counted with it; renamed \
            files are not listed. In a pipe the columns are separated by tabs: time, last snapshot with the path, \
            kind, size, contained, path.

            Examples:
              archiver deleted docs --since 1w
              archiver deleted docs/plan.md --restore     restore its last version
            """)

    @Argument(help: ArgumentHelp("Search this directory (default: the whole root).", valueName: "path"))
    var path: ByteArgument?

    @Option(help: ArgumentHelp("Show only what was deleted at this time or later.", valueName: "time"))
    var since: String?

    @Flag(help: "Restore the last version of every listed path, all in one operation.")
    var restore = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        // Before the first additional thread starts, such as that of a progress line.
        let interruption = restore ? Interruptions.observed() : nil
        let history = try HistoryContext(global, place, isPaged: !restore)
        let path = try history.path(path)
        let since = try since.map { try TimeOption.time($0, isStart: true) }
        let found = try history.indexing {
            try history.archive.deletedPaths(in: history.root, at: path, since: since, progress: $0)
        }
        try write(found, history.console)
        if found.isEmpty, !history.console.isJSON, since == nil { try history.requireKnown(path) }
        if restore { try restoreAll(found, history, interruption) }
        try history.reportDamage()
    }

    private func write(_ found: [DeletedPath], _ console: Console) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for deleted in found { try writer.append(DeletedPathJSON(deleted: deleted)) }
            return try writer.finish()
        }
        guard console.isForPerson else {
            for deleted in found {
                try console.output.line(
                    TextTable.plain([
                        deleted.deletedIn.time.rfc3339, deleted.lastIn.id.short, deleted.kind.word, "\(deleted.size)",
                        "\(deleted.contained)", Escaping.text(deleted.path),
                    ]))
            }
            return
        }
        if found.isEmpty { return console.remark("No deleted paths match.") }
        var table = TextTable([
            TextTable.Column(title: "deleted"), TextTable.Column(title: "last in", mark: .yellow),
            TextTable.Column(title: "size", alignment: .right), TextTable.Column(title: "path", isElastic: true),
        ])
        for deleted in found {
            let isDirectory = deleted.kind == .directory
            let more = deleted.contained > 0 ? "/ (with \(deleted.contained) in it)" : "/"
            table.add([
                LocalTime.text(deleted.deletedIn.time), deleted.lastIn.id.short,
                isDirectory ? "" : ByteCount.text(deleted.size),
                Escaping.text(deleted.path) + (isDirectory ? more : ""),
            ])
        }
        for line in table.aligned(console.style, width: console.output.columns) { try console.output.line(line) }
    }

    /// Restores each path from the last snapshot with it, all in one operation.
    private func restoreAll(
        _ found: [DeletedPath], _ history: HistoryContext, _ interruption: RestoreInterruption?
    ) throws {
        let console = history.console
        guard let root = try found.first.map({ try history.context.place(of: $0.lastIn) }) else { return }
        // A path that is excluded from snapshots by now counts as deleted, but may still be there.
        let directory = try? Descriptor.open(root, O_RDONLY | O_DIRECTORY)
        var present: [DeletedPath] = []
        if let directory { present = try found.filter { try FileStatus.read($0.path, beneath: directory) != nil } }
        for deleted in present {
            console.remark("\(Escaping.text(deleted.path)) is still there, excluded from snapshots: it was left alone")
        }
        let missing = found.filter { deleted in !present.contains { $0.path == deleted.path } }
        guard !missing.isEmpty else { return }
        let wanted = missing.map { WantedPath($0.path, in: $0.lastIn) }
        let options = RestoreOptions(root: root, interruption: interruption)
        let result = try history.archive.restore(wanted, options)
        if !console.isJSON, !result.isInterrupted {
            let failed = result.problems.map(\.path)
            for deleted in missing.reversed() where !failed.contains(where: deleted.path.contains) {
                try console.output.line("restored \(Escaping.text(deleted.path)) from \(deleted.lastIn.name)")
            }
            try console.output.flush()
            let word = try history.context.word(for: result.destination)
            if result.operation != nil { console.remark("'archiver undo\(word)' removes them again") }
        }
        console.warn(result)
        if let status = ExitStatus(result) { throw status }
    }
}

/// A deleted path as `deleted --json` shows it.
struct DeletedPathJSON: Encodable {
    let deleted: DeletedPath

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: deleted.path.bytes, forKey: "path")
        try object.encode(deleted.kind.word, forKey: "kind")
        if deleted.kind == .file { try object.encode(deleted.size, forKey: "size") }
        try object.encode(deleted.contained, forKey: "contained")
        try object.encode(deleted.deletedIn.time, forKey: "time")
        try object.encode(deleted.deletedIn.id.hex, forKey: "deletedIn")
        try object.encode(deleted.lastIn.id.hex, forKey: "lastIn")
    }
}
