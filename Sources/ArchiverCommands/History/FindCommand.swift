// `archiver find`: finds names in all snapshots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find files and directories by name, including deleted ones.",
        discussion: """
            A plain word matches anywhere in a name: 'test' finds test.py and latest.txt. Other patterns are as in a \
            .gitignore file: '*.md' at any depth, '/docs/*.md' from the root's top, 'docs/**' for everything below. \
            Each name is shown with its first and last version; a minus marks deleted names. In a pipe the columns \
            are separated by tabs: path, kind, size, versions, first, last, “deleted” or nothing.

            Examples:
              archiver find test
              archiver find '*.key' --deleted
              archiver find 'report*' --at 2026-11-20
            """)

    @Argument(help: ArgumentHelp("Part of a name, or a pattern.", valueName: "pattern"))
    var pattern: ByteArgument

    @Flag(help: "Show only what was deleted.")
    var deleted = false

    @Option(help: ArgumentHelp("Show only files (f), directories (d) or links (l).", valueName: "f|d|l"))
    var type: String?

    @Option(name: .customLong("larger-than"), help: ArgumentHelp("Show only what was once larger.", valueName: "size"))
    var largerThan: SizeArgument?

    @Option(help: ArgumentHelp("Show only what existed at this time.", valueName: "time"))
    var at: String?

    @Flag(help: "Print only paths, each followed by a NUL byte.")
    var print0 = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let type, kind(type) == nil { throw ValidationError("--type must be f, d or l") }
        if deleted && at != nil { throw ValidationError("--deleted and --at exclude each other") }
        if print0 && global.json { throw ValidationError("--print0 and --json exclude each other") }
    }

    private func kind(_ letter: String) -> FileKind? {
        ["f": .file, "d": .directory, "l": .symbolicLink][letter]
    }

    func run() throws {
        let history = try HistoryContext(global, place)
        let pattern = NameWords.pattern(pattern.bytes)
        let kind = type.flatMap(kind)
        if let at {
            let selector = try SnapshotSelector(at.hasPrefix("@") ? at : "@" + at)
            let snapshot = try history.archive.snapshot(selector, of: history.root)
            let found = try history.archive.entries(matching: pattern, in: snapshot)
                .filter { entry in
                    (kind == nil || entry.kind == kind) && (largerThan.map { entry.size > $0.bytes } ?? true)
                }
            return try write(found, history.console)
        }
        let found = try history.indexing {
            try history.archive.names(
                matching: pattern, largerThan: largerThan?.bytes, in: history.root, progress: $0)
        }.filter { name in (!deleted || name.isDeleted) && (kind == nil || name.kind == kind) }
        try write(found, history.console)
        try history.reportDamage()
    }

    private func write(_ found: [Entry], _ console: Console) throws {
        if print0 { return try writeNames(found.map(\.path), console) }
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for entry in found { try writer.append(EntryJSON(entry)) }
            return try writer.finish()
        }
        if found.isEmpty { return console.remark("No name matches.") }
        for entry in found { try console.output.line(Escaping.text(entry.path)) }
    }

    private func writeNames(_ paths: [RelativePath], _ console: Console) throws {
        for path in paths { try console.output.write(path.bytes + [0]) }
    }

    private func write(_ found: [FoundName], _ console: Console) throws {
        if print0 { return try writeNames(found.map(\.path), console) }
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for name in found { try writer.append(FoundNameJSON(name: name)) }
            return try writer.finish()
        }
        guard console.isForPerson else {
            for name in found { try console.output.line(FindCommand.plain(name)) }
            return
        }
        if found.isEmpty { return console.remark("No name matches.") }
        var table = TextTable([
            TextTable.Column(title: "first", dispensability: 1), TextTable.Column(title: "last change"),
            TextTable.Column(title: "versions", alignment: .right, dispensability: 2),
            TextTable.Column(title: "size", alignment: .right), TextTable.Column(title: ""),
            TextTable.Column(title: "path", isElastic: true),
        ])
        for name in found {
            table.add([
                LocalTime.text(name.first.time), LocalTime.text(name.lastChange.time), "\(name.versionCount)",
                name.kind == .file ? ByteCount.text(name.size) : "", name.isDeleted ? "-" : "",
                Escaping.text(name.path) + (name.kind == .directory ? "/" : ""),
            ])
        }
        for line in table.aligned(console.style, width: console.output.columns) { try console.output.line(line) }
    }

    private static func plain(_ name: FoundName) -> String {
        TextTable.plain([
            Escaping.text(name.path), name.kind.word, "\(name.size)", "\(name.versionCount)",
            name.first.time.rfc3339, name.lastChange.time.rfc3339, name.isDeleted ? "deleted" : "",
        ])
    }
}

/// A name as `find --json` shows it.
struct FoundNameJSON: Encodable {
    let name: FoundName

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: name.path.bytes, forKey: "path")
        try object.encode(name.kind.word, forKey: "kind")
        if name.kind == .file { try object.encode(name.size, forKey: "size") }
        try object.encode(name.versionCount, forKey: "versions")
        try object.encode(name.isDeleted, forKey: "deleted")
        try object.encode(name.first.time, forKey: "first")
        try object.encode(name.lastChange.time, forKey: "lastChanged")
        try object.encode(name.lastChange.id.hex, forKey: "lastChangedIn")
        try object.encode(name.lastIn.id.hex, forKey: "lastIn")
        try object.encode(name.deletedIn?.id.hex, forKey: "deletedIn")
    }
}
