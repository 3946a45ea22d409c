// `archiver disable`: takes back what `enable` has done; history stays.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import SystemPackage

struct DisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
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
        try ConfigurationEdit.whileLocked(file) { configuration in
            if let directory {
                try disable(directory, try configuration(), console)
            } else {
                // The file may be wrong: the service is stopped all the same.
                let isDone = try enabling.start.disable()
                try console.summary(
                    isDone
                        ? "The service is stopped and no longer starts; 'archiver enable' starts it again."
                        : "Nothing to do: the service is not enabled.")
                try remarkOnOtherStarts(file, console)
            }
        }
    }

    /// What `enable` has only advised cannot be taken back here.
    private func remarkOnOtherStarts(_ file: ConfigurationFile, _ console: Console) throws {
        if let line = enabling.start.cronLine {
            console.remark("This line in your crontab still starts it; 'crontab -e' removes it: \(Escaping.text(line))")
        }
        if let process = enabling.destination == nil ? try ServicePlace(file).holder : nil {
            console.remark("A service that was started by other means still runs: 'kill \(process)' ends it.")
        }
    }

    private func disable(
        _ directory: PathArgument, _ configuration: ServiceConfiguration, _ console: Console
    ) throws {
        let file = ConfigurationFile(path: configuration.document.file)
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
        if isLast { _ = try enabling.start.disable() }
        // One that was started by hand still runs after the last directory, and must let go of it.
        if enabling.destination == nil { _ = try ServicePlace(file).reload() }
        // Otherwise `status` would miss its watcher; another one may still watch it.
        if let archive = try? global.openArchive(reportsFindings: false, configuration: configuration),
            let archived = try? archive.root(holding: path), archived.path == path
        {
            try? archive.retire(archived)
        }
        try console.summary(
            "\(name) is no longer watched; its snapshots stay."
                + (isLast ? " It was the last one: the service is stopped and no longer starts." : ""))
        if isLast { try remarkOnOtherStarts(file, console) }
    }
}
