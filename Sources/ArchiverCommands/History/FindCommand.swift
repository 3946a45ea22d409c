// `archiver find`: finds names in all snapshots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "find",
        abstract: "Find files and directories by name, including deleted ones.",
        discussion: """
            A plain word matches anywhere in a name: 'test' finds test.py and latest.txt. Other patterns are as in a \
            .gitignore file: '*.md' at any depth, '/docs/*.md' from the root's top, 'docs/**' for everything below. \
            Each name is shown with its first and last version; a minus marks deleted names. With --format lines the columns \
            are separated by tabs: path, kind, size, versions, first, last, “deleted” or nothing.

            Examples:
              archiver find test
              archiver find '*.key' --deleted
              archiver find 'report*' --at @2026-11-20
              archiver find --content ~/lost.jpg --all
            """)

    @Argument(help: ArgumentHelp("Part of a name, or a pattern.", valueName: "pattern"))
    var pattern: ByteArgument?

    @Option(
        help: ArgumentHelp("Files with exactly the content of this one, under any name.", valueName: "file"),
        completion: .file())
    var content: PathArgument?

    @Flag(help: "Show only what was deleted.")
    var deleted = false

    @Option(help: ArgumentHelp("Show only files (f), directories (d) or links (l).", valueName: "f|d|l"))
    var type: String?

    @Option(name: .customLong("larger-than"), help: ArgumentHelp("Show only what was once larger.", valueName: "size"))
    var largerThan: SizeArgument?

    @OptionGroup var search: SearchOptions
    @OptionGroup var window: WindowOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let type, kind(type) == nil { throw ValidationError("--type must be f, d or l") }
        if deleted && search.at != nil { throw ValidationError("--deleted and --at exclude each other") }
        if search.at != nil, content != nil { throw ValidationError("--at and --content exclude each other") }
        try search.check(window, global)
        if pattern == nil, content == nil { throw ValidationError("give a pattern, or --content FILE") }
    }

    private func kind(_ letter: String) -> FileKind? {
        ["f": .file, "d": .directory, "l": .symbolicLink][letter]
    }

    func run() throws {
        let period = try window.period()
        let all = try HistoryContext.each(global, scope, paths: [], isPaged: !search.print0)
        let pattern = NameWords.pattern(pattern?.bytes ?? Array("*".utf8))
        if let at = search.at {
            let found = try all.flatMap { history in
                try history.archive.entries(
                    matching: pattern, ignoringCase: search.ignoreCase, in: history.snapshot(at: at)
                ).filter(isWanted).map { EntryRow(history: history, entry: $0) }
            }
            return try write(window.newest(found))
        }
        let sought = try content.map { try SoughtContent($0.path) }
        var found: [NameRow] = []
        for history in all {
            let names = try history.indexing {
                try history.archive.names(
                    matching: pattern, ignoringCase: search.ignoreCase, largerThan: largerThan?.bytes, in: history.root,
                    progress: $0)
            }
            found += try names.filter { name in
                try (!deleted || name.isDeleted) && isWanted(name.kind)
                    && period.overlaps(name.first.time, name.isDeleted ? name.lastChange.time : .now)
                    && sought?.isIn(name, history) ?? true
            }.map { NameRow(history: history, name: $0) }
        }
        if window.limit != nil { found.sort { $0.name.lastChange.time > $1.name.lastChange.time } }
        try write(window.newest(found))
        for history in all { try history.reportDamage() }
    }

    private func isWanted(_ found: FileKind) -> Bool { type.flatMap(kind).map { $0 == found } ?? true }

    private func isWanted(_ entry: Entry) -> Bool {
        isWanted(entry.kind) && (largerThan.map { entry.size > $0.bytes } ?? true)
    }

    private func write(_ found: [EntryRow]) throws {
        if search.print0 { return try writeNames(found.map { ($0.history, $0.entry.path) }) }
        let listing = Listing<EntryRow>(
            [
                .person("size", alignment: .right) { $0.entry.kind == .file ? ByteCount.text($0.entry.size) : "" },
                .text("path", isElastic: true) { $0.history.shown($0.entry.path) },
            ], emptiness: "No name matches."
        ) { EntryJSON($0.entry, root: $0.history.root) }
        try listing.write(found, Console(global))
    }

    /// Paths, each followed by a NUL byte.
    private func writeNames(_ names: [(history: HistoryContext, path: RelativePath)]) throws {
        for name in names {
            let top = name.history.isOneOfAll ? name.history.root.path.bytes + [UInt8(ascii: "/")] : []
            try Output.standard.write(top + name.path.bytes + [0])
        }
    }

    private func write(_ found: [NameRow]) throws {
        if search.print0 { return try writeNames(found.map { ($0.history, $0.name.path) }) }
        try FindCommand.listing.write(found, Console(global))
    }

    private static var listing: Listing<NameRow> {
        Listing(
            [
                .pipe { $0.history.shown($0.name.path) }, .pipe { $0.name.kind.word }, .pipe { "\($0.name.size)" },
                .pipe { "\($0.name.versionCount)" }, .time("first", dispensability: 1) { $0.name.first.time },
                .time("last change") { $0.name.lastChange.time },
                .person("last in", mark: .yellow) { $0.name.lastIn.id.short },
                .person("versions", alignment: .right, dispensability: 2) { "\($0.name.versionCount)" },
                .person("size", alignment: .right) { $0.name.kind == .file ? ByteCount.text($0.name.size) : "" },
                .text("", person: { $0.name.isDeleted ? "-" : "" }, pipe: { $0.name.isDeleted ? "deleted" : "" }),
                .person("path", isElastic: true) {
                    $0.history.shown($0.name.path) + ($0.name.kind == .directory ? "/" : "")
                },
            ], emptiness: "No name matches."
        ) { FoundNameJSON(root: $0.history.root, name: $0.name) }
    }
}

private struct NameRow {
    let history: HistoryContext
    let name: FoundName
}

private struct EntryRow {
    let history: HistoryContext
    let entry: Entry
}

/// The content of a file on disk, to be compared with versions.
private struct SoughtContent {
    private let bytes: [UInt8]

    private static let limit = 1 << 30

    init(_ path: FilePath) throws {
        bytes = try Descriptor.open(path, O_RDONLY).readToEnd(limit: SoughtContent.limit, path: path)
    }

    /// Whether some version under this name has the content.
    func isIn(_ name: FoundName, _ history: HistoryContext) throws -> Bool {
        if name.kind != .file { return false }
        let versions = try history.archive.history(
            of: name.path, in: history.root, HistoryQuery(followsRenames: false))
        var lastEntry: Entry?
        for version in versions where version.isPresent && version.size == UInt64(bytes.count) {
            guard let entry = try history.archive.entry(at: name.path, in: version.snapshot), entry.kind == .file,
                entry.content != lastEntry?.content
            else { continue }
            lastEntry = entry
            if try isEqual(entry, history.archive) { return true }
        }
        return false
    }

    private func isEqual(_ entry: Entry, _ archive: Archive) throws -> Bool {
        var place = 0
        var isEqual = true
        try archive.forEachPiece(of: entry) { piece in
            let end = place + piece.count
            isEqual = end <= bytes.count && bytes[place..<end].elementsEqual(piece)
            place = end
            return isEqual
        }
        return isEqual && place == bytes.count
    }
}
