// Where the events of a watcher and the requests of a page go besides the output: a log file, and a command.

internal import ArchiverKit
internal import ArgumentParser
internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Options of `service` and `watch`.
struct EventOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run this shell command for snapshots and problems: the event's name is $1, its JSON is on stdin.",
            valueName: "command"))
    var onEvent: String?

    @OptionGroup var log: LogOptions

    /// These options, and what `configured` says where none is given.
    func settings(over configured: EventSettings = EventSettings()) -> EventSettings {
        EventSettings(
            command: onEvent.map(ByteArgument.bytes) ?? configured.command,
            logFile: log.file ?? configured.logFile, isPrivate: log.privateLogs || configured.isPrivate)
    }
}

/// Options of every command that lasts.
struct LogOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Append one line per event to this file.", valueName: "file"))
    var logFile: PathArgument?

    @Flag(help: "Leave names of directories and files out of the log.")
    var privateLogs = false

    var file: FilePath? { logFile?.path.absolute }

    /// What they say of a process that has no events.
    var settings: EventSettings { EventSettings(logFile: file, isPrivate: privateLogs) }
}

extension EventOptions {
    /// These options over those of a configuration.
    ///
    /// - Throws: `Failure` if the log file is inside one of its roots.
    func settings(for configuration: ServiceConfiguration) throws(Failure) -> EventSettings {
        let settings = settings(over: configuration.events)
        try settings.requireLogOutside(configuration.roots.map { ($0.path, $0.exclusions) })
        return settings
    }
}

/// Where events go.
struct EventSettings: Sendable {
    /// A command for the shell; nil for none.
    var command: [UInt8]?
    var logFile: FilePath?
    /// Whether the log names no directories and files.
    var isPrivate = false

    /// - Throws: `Failure` if the log file of an option is inside one of the roots.
    func requireLogOutside(_ roots: [(path: FilePath, exclusions: ExclusionRules)]) throws(Failure) {
        guard let logFile, let root = root(watchingLog: roots) else { return }
        throw .usage(
            "the log file \(Escaping.text(logFile.bytes)) is inside the root \(Escaping.text(root.bytes)), so each line would "
                + "cause the next one", remedy: "write it elsewhere, or exclude its directory")
    }

    /// The root whose captures would contain the log, so that each line would cause the next; nil if there is none.
    func root(watchingLog roots: [(path: FilePath, exclusions: ExclusionRules)]) -> FilePath? {
        guard let logFile else { return nil }
        let folder = logFile.removingLastComponent().resolved
        return roots.first { root in
            folder.starts(with: root.path) && WatchService.captures(folder, within: root.path, root.exclusions)
        }?.path
    }
}
