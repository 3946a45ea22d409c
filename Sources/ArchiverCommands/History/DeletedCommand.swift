// `archiver deleted`: lists deleted paths and the last snapshot with each.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

struct DeletedCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "deleted",
        abstract: "List deleted files and directories.",
        discussion: """
            The latest deletion comes first. Files deleted together with a directory are counted with it; renamed \
            files are not listed. With --format lines the columns are separated by tabs: time, last snapshot with the path, \
            kind, size, contained, path.

            Examples:
              archiver deleted docs '*.rs' --since 1w
              archiver deleted docs/plan.md --restore     # restore its last version
            """)

    @Argument(
        help: ArgumentHelp(
            "Files, directories or patterns to search for (default: the whole root).", valueName: "path"))
    var paths: [ByteArgument] = []

    @OptionGroup var window: WindowOptions

    @Flag(help: "Restore the last version of every listed path, all in one operation.")
    var restore = false

    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if restore && scope.all { throw ValidationError("--restore and --all exclude each other") }
    }

    func run() throws {
        // Before the first additional thread starts, such as that of a progress line.
        let interruption = restore ? Interruptions.observed() : nil
        let period = try window.period()
        let all = try HistoryContext.each(global, scope, paths: paths.map(\.pathInIt), isPaged: !restore)
        let rows = try all.flatMap { history in
            try found(history, period).map { DeletedRow(history: history, deleted: $0) }
        }
        let sorted = all.count == 1 ? rows : rows.sorted { $0.deleted.deletedIn.time > $1.deleted.deletedIn.time }
        let shown = window.newest(sorted)
        try DeletedCommand.listing.write(shown, Console(global))
        if restore, let history = all.first { try restoreAll(shown.map(\.deleted), history, interruption) }
        for history in all { try history.reportDamage() }
    }

    private func found(_ history: HistoryContext, _ period: Period) throws -> [DeletedPath] {
        var found: [DeletedPath] = []
        for target in try history.targets(paths) {
            let deleted = try history.indexing {
                try history.archive.deletedPaths(in: history.root, at: target.path, since: period.since, progress: $0)
            }
            if deleted.isEmpty, !target.isMatch, !window.hasPeriod, !history.console.isJSON {
                try history.requireKnown(target.path)
            }
            // A pattern names exactly what it matches, and a path also what is below.
            found += target.isMatch ? deleted.filter { $0.path == target.path } : deleted
        }
        if paths.count > 1 || found.count > 1 && paths.first.map({ $0.bytes.contains(UInt8(ascii: "*")) }) ?? false {
            var seen: Set<RelativePath> = []
            found = found.filter { seen.insert($0.path).inserted }
                .sorted { ($1.deletedIn.sequence, $0.path) < ($0.deletedIn.sequence, $1.path) }
        }
        return found.filter { period.contains($0.deletedIn.time) }
    }

    private static var listing: Listing<DeletedRow> {
        Listing(
            [
                .time("deleted") { $0.deleted.deletedIn.time },
                .text("last in", mark: .yellow) { $0.deleted.lastIn.id.short }, .pipe { $0.deleted.kind.word },
                .text(
                    "size", alignment: .right,
                    person: { $0.deleted.kind == .directory ? "" : ByteCount.text($0.deleted.size) },
                    pipe: { "\($0.deleted.size)" }),
                .pipe { "\($0.deleted.contained)" },
                .text(
                    "path", isElastic: true,
                    person: { row in
                        let contained = row.deleted.contained
                        let more = contained > 0 ? "/ (with \(contained) in it)" : "/"
                        return row.history.shown(row.deleted.path) + (row.deleted.kind == .directory ? more : "")
                    }, pipe: { $0.history.shown($0.deleted.path) }),
            ], emptiness: "No deleted paths match."
        ) { DeletedPathJSON(root: $0.history.root, deleted: $0.deleted) }
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
            console.remark(
                "\(Escaping.text(deleted.path)) is still there, excluded from snapshots, or was made again: "
                    + "it was left alone")
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

private struct DeletedRow {
    let history: HistoryContext
    let deleted: DeletedPath
}
