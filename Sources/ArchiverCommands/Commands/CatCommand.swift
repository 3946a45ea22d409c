// `archiver cat`: prints a file from a snapshot, or a saved state.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct CatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print a file from a snapshot, or a saved state.",
        discussion: """
            Writes a file's content to standard output. A saved state, named by its id, label or title, is written \
            as JSON. The path is relative to the current directory; :/PATH is relative to the root's top.

            Examples:
              archiver cat latest~3:notes/todo.txt
              archiver cat latest~2 --state "Best Game Ever"
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label) and the file in it; or a saved state.",
            valueName: "selector:path"), completion: .selector)
    var selector: ByteArgument

    @OptionGroup var states: StateOptions
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let context = try RootContext(global.openArchive(), place)
        switch try context.selection(selector, states, isOfOneRoot: false) {
        case .snapshot(_, path: nil):
            throw Failure.usage(
                "\(Escaping.text(selector.bytes)) names a snapshot, not a file in it",
                remedy: "add a colon and the file's path")
        case .snapshot(let snapshot, let path?): try write(path, of: snapshot, context)
        case .state(let state):
            let content = try context.archive.content(of: state)
            try StateDetails.write(content, Output.standard)
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
