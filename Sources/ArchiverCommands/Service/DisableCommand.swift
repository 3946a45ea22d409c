// `archiver disable`: takes back what `enable` has done; history stays.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import SystemPackage

struct DisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Stop capturing a directory, or the whole service; history stays.",
        discussion: """
            With a directory: removes it from the configuration, and the service ends watching it after a last capture. \
            The service itself is stopped and removed with the last directory. Without a directory: stops the service \
            and removes it; the configuration stays, and 'archiver enable' starts it again. The archive is not touched.

            Examples:
              archiver disable ~/thesis
              archiver disable                 # stop everything
            """)

    @Argument(help: ArgumentHelp("The directory (default: the whole service).", valueName: "dir"))
    var directory: PathArgument?

    @OptionGroup var enabling: EnablingOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let file = try enabling.file()
        let lock = try ConfigurationEdit.lock(file)
        defer { withExtendedLifetime(lock) {} }
        guard let directory else {
            let isDone = try enabling.start.disable()
            return try console.summary(
                isDone
                    ? "The service is stopped and no longer starts; 'archiver enable' starts it again."
                    : "Nothing to do: the service is not enabled.")
        }
        let configuration = try ServiceConfiguration(file)
        let path = (try? RootDirectory.resolvedAsFarAsItExists(directory.path)) ?? directory.path.absolute
        let name = Escaping.text(path.bytes)
        guard let root = configuration.root(at: path) else {
            let known = configuration.roots.map { Escaping.text($0.path.bytes) }.joined(separator: ", ")
            throw Failure(
                status: .failed, code: ArchiverError.Code.noSuchPath.rawValue, message: "\(name) is not configured",
                remedy: known.isEmpty ? "nothing is" : "the configured directories are \(known)", path: path.bytes)
        }
        let edit = try ConfigurationEdit(removing: root, from: configuration)
        try edit.write()
        let isLast = edit.configuration.roots.isEmpty
        if isLast {
            _ = try enabling.start.disable()
        } else if enabling.destination == nil {
            _ = try ServicePlace(file).reload()
        }
        // Otherwise `status` would miss its watcher; another one may still watch it.
        if let archive = try? global.openArchive(reportsFindings: false, configuration: configuration),
            let archived = try? archive.root(holding: path), archived.path == path
        {
            try? archive.retire(archived)
        }
        try console.summary(
            "\(name) is no longer watched; its snapshots stay."
                + (isLast ? " It was the last one: the service is stopped and no longer starts." : ""))
    }
}
