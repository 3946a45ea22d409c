// `archiver watch`: remembers every state from now on.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Remember every state of directories from now on.",
        discussion: """
            Captures the directories as they are, then again whenever something in them has changed and settled, until \
            interrupted: Ctrl-C, SIGTERM and closing the terminal capture a last time and end cleanly; a second Ctrl-C or \
            SIGTERM ends at once. Each snapshot gets a line once it is safe on disk. Output that nobody reads holds nothing \
            up: what finds no room is counted. Nothing is ever written into a watched directory. The archive is made on first use.

            What .archiverignore files name, in the words of .gitignore, is left out: neither read nor watched, and never \
            touched by a restore. What the options leave out is remembered, and so is how changes are gathered: a watcher \
            without such options does as the one before did; 'archiver roots' shows what holds, 'archiver roots set' changes \
            it. Every hour the watcher forgets what the policies let go, and gives space back ('archiver keep'); where the disk \
            gets full, at once. SIGUSR1 makes the watcher print what 'archiver status' tells.

            Examples:
              archiver watch ~/project --exclude '*.o' --exclude build/
              archiver watch /etc /srv --json   one event a line, for programs
            """)

    @Argument(help: ArgumentHelp("The directories to watch.", valueName: "dir"))
    var directories: [PathArgument]

    @Option(
        help: ArgumentHelp(
            "How changes are noticed: auto, inotify, fanotify, or poll (look at intervals).", valueName: "backend"))
    var backend = BackendArgument.auto

    @Flag(help: "Wait for directories that do not exist yet.")
    var wait = false

    @Flag(help: "Forget nothing by itself, and give no space back.")
    var noPrune = false

    @Option(help: .hidden)
    var timeScale = 1

    @OptionGroup(title: "How changes are gathered") var gathering: WatchSettingsOptions
    @OptionGroup(title: "What is left out") var exclusions: ExclusionOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if timeScale < 1 { throw ValidationError("--time-scale must be at least 1") }
    }

    func run() async throws {
        let console = Console(global)
        var settings = WatchService.Options(
            gathering.settings, backend: backend.backend, exclusions: try exclusions.given(), waitsForRoots: wait,
            maintenance: noPrune ? nil : .unattended)
        settings.timeScale = timeScale
        let directories = directories.map(\.path)
        // First of all: while an archive is opened, or a lock waited for, signals must have their effect.
        let ending = WatchEnding()
        try Signals.observe(Signals.termination, ending.take)
        let archive = try await Blocking.run { () throws(ArchiverError) in
            try global.openArchive(creating: true)
        }
        for directory in directories {
            let remembered = try? archive.exclusions(ofRoot: directory)
            let note = ExclusionText.note(
                directory.bytes, given: settings.exclusions, remembered: remembered, isAside: false)
            if let note { console.note(note) }
            let former = try archive.watchSettings(ofRoot: directory)
            let kept = WatchSettingsText.note(directory.bytes, given: settings.settings, remembered: former)
            if let kept { console.note(kept) }
        }
        let service = WatchService(archive, roots: directories, settings)
        let names = directories.map { Escaping.text($0.bytes) }.joined(separator: ", ")
        let progress = ProgressLine("capturing \(names)", service.progress, console)
        let report = WatchReport(
            console, roots: Set(directories.map(\.resolved)).count, progress,
            status: { WatchCommand.status(directories, archive) })
        let subscription = service.events.subscribe(report.add)
        ending.begin(service, report)
        defer { report.end() }
        try await service.run()
        subscription.cancel()
        let failures = service.failures.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
        if let first = failures.first { throw Failure(first.value) }
    }

    /// What `archiver status` tells of each directory, for the log.
    private static func status(_ directories: [FilePath], _ archive: Archive) -> String {
        var lines: [String] = []
        for directory in Set(directories.map(\.resolved)) {
            do throws(ArchiverError) {
                lines += StatusText.lines(try archive.status(of: directory), .plain)
            } catch {
                lines.append("archiver: \(error.message)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
