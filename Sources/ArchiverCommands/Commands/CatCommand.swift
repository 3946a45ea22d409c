// `archiver cat`: prints a file from a snapshot, or a saved state.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct CatCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "cat",
        abstract: "Print a file from a snapshot, or a saved state.",
        discussion: """
            Writes a file's content to standard output. A saved state, named by its id, label or title, is written \
            as JSON. The path is relative to the current directory; :/PATH is relative to the root's top.

            Examples:
              archiver cat latest~3:notes/todo.txt
              archiver cat @yesterday ch1.md ch2.md
              archiver cat latest~2 --state "Best Game Ever"
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label) and the file in it; or a saved state.",
            valueName: "selector[:path]"), completion: .selector)
    var selector: ByteArgument

    @Argument(help: ArgumentHelp("Files or patterns in the snapshot.", valueName: "path"))
    var paths: [ByteArgument] = []

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let context = try RootContext(
            global.openArchive(), place, paths: selector.pathAfterColon + paths.map(\.bytes))
        switch try context.selection(selector, titled: state) {
        case .snapshot(_, path: nil) where paths.isEmpty:
            throw Failure.usage(
                "\(Escaping.text(selector.bytes)) names a snapshot, not a file in it",
                remedy: "add a colon and the file's path")
        case .snapshot(let snapshot, let path):
            for path in try context.paths(selector, at: path, paths, in: snapshot) {
                try write(path, of: snapshot, context)
            }
        case .state(let state):
            guard paths.isEmpty else {
                throw Failure.usage(
                    "\(state.id.short) is a saved state, which has no paths", remedy: "leave out the paths")
            }
            try StateDetails.write(context.archive.content(of: state), Output.standard)
        }
    }

    private func write(_ path: RelativePath, of snapshot: ListedSnapshot, _ context: RootContext) throws {
        let entry = try context.requiredEntry(at: path, in: snapshot)
        guard entry.kind == .file else {
            let argument = Array("\(snapshot.id.short):".utf8) + context.paths(in: snapshot.root).argument(for: path)
            throw CatCommand.noContent(entry, ShellWord.text(argument))
        }
        let output = Output.standard
        try visiting({ try context.archive.forEachPiece(of: entry, $0) }) { try output.write($0) }
    }

    private static func noContent(_ entry: Entry, _ argument: String) -> Failure {
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
                remedy: entry.kind == .directory ? "'archiver show \(argument)' lists it" : nil,
                path: entry.path.bytes)
        }
    }
}
