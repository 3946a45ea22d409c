// `archiver cat`: a file's content as it was.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct CatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print a file as it was.",
        discussion: """
            Writes the file's bytes to standard output, and nothing else.

            Examples:
              archiver cat latest~3:notes/todo.txt
              archiver cat @24h:report.odt > old-report.odt
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label) and the file in it.", valueName: "selector:path"))
    var selector: ByteArgument

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let named = try SnapshotPath(selector)
        guard let path = named.path else {
            throw Failure.usage(
                "\(named.selector) names a snapshot, not a file in it", remedy: "add a colon and the file's path")
        }
        let context = try RootContext(global.openArchive(), place)
        try context.requireOneRoot(for: named.selector)
        let record = try context.snapshot(named.selector)
        let entry = try context.archive.requiredEntry(at: path, in: record)
        guard entry.kind == .file else { throw CatCommand.noContent(entry, record.id.short) }
        let output = Output.standard
        try visiting({ try context.archive.forEachPiece(of: entry, $0) }) { try output.write($0) }
    }

    private static func noContent(_ entry: Entry, _ id: String) -> Failure {
        let name = Escaping.text(entry.path)
        switch entry.content {
        case .linkTarget(let target):
            return .unsuitable(
                "\(name) is a symbolic link to \(Escaping.text(target))", remedy: "name the file it points to",
                path: entry.path.bytes)
        default:
            let kind = entry.kind == .directory ? "directory" : entry.kind.word
            return .unsuitable(
                "\(name) is a \(kind), not a file",
                remedy: entry.kind == .directory ? "'archiver show \(id):\(name)' lists it" : nil,
                path: entry.path.bytes)
        }
    }
}
