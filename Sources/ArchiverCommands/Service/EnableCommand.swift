// `archiver enable`: captures a directory from now on, also after the next start of the machine.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The options of `enable` and `disable`.
struct EnablingOptions: ParsableArguments {
    @OptionGroup var place: SystemOption

    @Option(help: .hidden)
    var destination: PathArgument?

    /// The configuration file.
    ///
    /// - Throws: `Failure` if the user cannot be meant.
    func file() throws -> ConfigurationFile {
        guard place.system else {
            if CurrentProcess.isRoot, let user = getenv("SUDO_UID"), String(cString: user) != "0" {
                throw Failure.usage(
                    "with sudo it is unclear whose service is meant",
                    remedy: "leave out sudo for your own, or give --system for the machine's")
            }
            return try place.file
        }
        guard CurrentProcess.isRoot else {
            throw Failure(
                status: .failed, code: ArchiverError.Code.permission.rawValue,
                message: "only root can set up the machine's service", remedy: "run it with sudo")
        }
        guard let destination else { return .ofSystem }
        return ConfigurationFile(path: destination.path.absolute.pushing("etc/archiver/config.toml"))
    }

    var start: ServiceStart { ServiceStart(isOfSystem: place.system, destination: destination?.path.absolute) }
}

struct EnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "enable",
        abstract: "Capture a directory from now on, also after the next start of the machine.",
        discussion: """
            Adds the directory to the configuration, captures it, and installs and starts the service that watches all \
            configured directories: with systemd as archiver.service of this user, or of the machine with --system; \
            without it by an autostart entry of the desktop, or by a line for cron. The exclusions and timing options \
            go into the configuration; what the archive remembers of the directory does, too. Running it twice changes \
            nothing. 'archiver disable' takes it back.

            Examples:
              archiver enable ~/thesis --exclude '*.aux'
              sudo archiver enable --system /etc
              archiver enable                  # start the service again
            """)

    @Argument(help: ArgumentHelp("The directory to watch (default: those configured).", valueName: "dir"))
    var directory: PathArgument?

    @OptionGroup(title: "Timing") var gathering: WatchSettingsOptions
    @OptionGroup(title: "Exclusions") var exclusions: ExclusionOptions
    @OptionGroup var enabling: EnablingOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let file = try enabling.file()
        try ConfigurationEdit.whileLocked(file) { try enable(try $0(), file, console) }
    }

    private func enable(_ former: ServiceConfiguration, _ file: ConfigurationFile, _ console: Console) throws {
        var configuration = former
        guard directory != nil || !configuration.roots.isEmpty else {
            throw Failure.usage("no directory is configured yet", remedy: "name one: 'archiver enable DIR'")
        }
        let place = try archivePlace(configuration)
        var added: FilePath?
        if let directory {
            let root = try RootDirectory.open(directory.path).path
            try RootDirectory.checkIsOutside(place.path, ifThere: root, as: directory.path)
            if let present = configuration.root(at: root) {
                try requireNoOptions(present, configuration)
            } else {
                let rules = try exclusions.given(for: [root])
                let edit = try ConfigurationEdit(
                    adding: root, gathering.settings, rules, archive: place, to: configuration,
                    remembered(place.path, root))
                configuration = edit.configuration
                added = root
                try edit.write()
            }
        }
        let archive = try openArchive(place, configuration)
        try configuration.apply(to: archive)
        // The first capture is shown; the service then has little to compare.
        let captured = try added.map { try capture($0, configuration, archive, console) }
        let way = try enabling.start.enable(archive: place.path)
        let running = enabling.destination == nil ? try ServicePlace(file).reload() : nil
        if let running { console.remark(running) }
        try EnableReport(console, way, enabling, configuration, archive, isRunning: running != nil).write(
            added, captured)
    }

    /// The archive: by an option or a variable, as configured, or the default.
    private func archivePlace(_ configuration: ServiceConfiguration) throws -> ConfigurationEdit.ArchivePlace {
        let (path, source) = try global.archivePlace(configuration)
        if let configured = configuration.archive {
            guard path.resolved == configured.resolved else {
                throw Failure.usage(
                    "\(source) names the archive \(Escaping.text(path.bytes)), but the configuration names "
                        + Escaping.text(configured.bytes),
                    remedy: "change \(Escaping.text(configuration.document.file.bytes))")
            }
            return .init(path: configured, isConfigured: true)
        }
        if enabling.place.system, source == "default" {
            let root = enabling.destination?.path.absolute ?? "/"
            return .init(path: root.pushing("var/lib/archiver/archive"), isConfigured: false)
        }
        return .init(path: path, isConfigured: false)
    }

    private func openArchive(
        _ place: ConfigurationEdit.ArchivePlace, _ configuration: ServiceConfiguration
    ) throws -> Archive {
        var global = global
        if global.archive == nil { global.archive = ArchiveArgument(argument: ByteArgument.text(of: place.path.bytes)) }
        return try global.openArchive(creating: true, configuration: configuration)
    }

    /// What the archive remembers of a directory that was watched before.
    private func remembered(_ place: FilePath, _ root: FilePath) -> ConfigurationEdit.Remembered {
        guard let archive = try? Archive.open(place) else { return .init() }
        return .init(
            settings: (try? archive.watchSettings(ofRoot: root)) ?? WatchSettings(),
            exclusions: (try? archive.exclusions(ofRoot: root)).flatMap { $0 })
    }

    private func requireNoOptions(_ root: ServiceConfiguration.Root, _ configuration: ServiceConfiguration) throws {
        let settings = gathering.settings.filled(from: root.settings)
        let rules = try exclusions.given(for: [root.path]) ?? root.exclusions
        guard settings != root.settings || rules != root.exclusions else { return }
        throw Failure.usage(
            "\(Escaping.text(root.path.bytes)) is configured already, with other settings, in "
                + Escaping.text(configuration.place(root.source.table.line)),
            remedy: "change them there; 'archiver reload' applies them")
    }

    private func capture(
        _ root: FilePath, _ configuration: ServiceConfiguration, _ archive: Archive, _ console: Console
    ) throws -> CaptureResult {
        let progress = OperationProgress()
        let line = ProgressLine("capturing \(Escaping.text(root.bytes))", progress, console)
        defer { line.end() }
        let rules = configuration.root(at: root)?.exclusions
        return try archive.capture(root, CaptureOptions(exclusions: rules, setsExclusions: true), progress: progress)
    }
}

/// What `enable` says at its end: how to look, how to undo, and what it costs.
private struct EnableReport {
    let console: Console
    let way: ServiceStart.Way
    let enabling: EnablingOptions
    let configuration: ServiceConfiguration
    let archive: Archive
    let isRunning: Bool

    init(
        _ console: Console, _ way: ServiceStart.Way, _ enabling: EnablingOptions,
        _ configuration: ServiceConfiguration, _ archive: Archive, isRunning: Bool
    ) {
        self.console = console
        self.way = way
        self.enabling = enabling
        self.configuration = configuration
        self.archive = archive
        self.isRunning = isRunning
    }

    func write(_ added: FilePath?, _ captured: CaptureResult?) throws {
        let (file, option) = (
            Escaping.text(configuration.document.file.bytes), enabling.place.system ? " --system" : ""
        )
        if console.isJSON { return try console.output.line(JSONText.of(EnableJSON(configuration, added, wayName))) }
        if let captured { try console.summary(CaptureSummary.text(captured, isForPerson: true)) }
        if let captured { console.warn(captured.problems, count: captured.problemCount, \.text) }
        switch way {
        case .systemd(let isChanged):
            let isNew = isChanged || added != nil
            try console.summary(
                isNew
                    ? "The service is running and starts by itself; \(Plural.of(configuration.roots.count, "root")) in \(file)."
                    : "Nothing to do: the service is enabled, with \(Plural.of(configuration.roots.count, "root")) in \(file)."
            )
            if enabling.start.isLingering == false {
                console.remark(
                    "It runs while you are logged in. 'loginctl enable-linger' lets it run from the start of the machine."
                )
            }
        case .desktop(let entry, _, let reason):
            try console.summary(
                "systemd cannot start the service (\(Escaping.text(reason))): the desktop starts it at your next login "
                    + "(\(Escaping.text(entry.bytes))).")
            startNow()
        case .cron(let line, let reason):
            try console.summary(
                "systemd cannot start the service (\(Escaping.text(reason))). To start it with the machine, add this line "
                    + "by 'crontab -e':")
            try console.summary("  " + line)
            startNow()
        }
        try console.summary(
            "Look: 'archiver status'. Undo: 'archiver disable\(option)\(name(added))'; the history stays.")
        try console.summary(try cost())
    }

    private func startNow() {
        if isRunning { return }
        try? console.output.flush()
        console.remark("To start it now: 'nohup archiver service\(enabling.place.system ? " --system" : "") &'.")
    }

    private func name(_ added: FilePath?) -> String { added.map { " " + ShellWord.text($0.bytes) } ?? "" }

    private func cost() throws -> String {
        let room = try archive.room()
        let used = "The archive \(Escaping.text(archive.directory.bytes)) takes \(ByteCount.text(room.usedBytes))"
        if let budget = MaintenanceText.budget(room) { return used + "; " + budget + "." }
        return used + " and keeps everything; 'archiver keep --usual --max-size 20G' limits it."
    }

    private var wayName: String {
        switch way {
        case .systemd: "systemd"
        case .desktop: "desktop"
        case .cron: "cron"
        }
    }
}

private struct EnableJSON: Encodable {
    let configuration: ServiceConfiguration
    let added: FilePath?
    let way: String

    init(_ configuration: ServiceConfiguration, _ added: FilePath?, _ way: String) {
        self.configuration = configuration
        self.added = added
        self.way = way
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: configuration.document.file.bytes, forKey: .configuration)
        try object.encode(configuration.roots.count, forKey: .rootCount)
        try object.encode(added != nil, forKey: .new)
        try object.encode(way, forKey: .service)
    }
}
