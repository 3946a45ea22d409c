// `archiver roots set`: changes a root's timing settings and exclusions.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import Exclusions
internal import FileIO
internal import SystemPackage

struct RootsSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "set",
        abstract: "Change a root's timing settings and exclusions.",
        discussion: """
            Settings without an option stay as they are. Changes take effect immediately, also in a running watcher. \
            Exclusions are stored in snapshots, so a change of exclusions captures the directory.

            Examples:
              archiver roots set ~/thesis --settle 5s --max-delay 1m
              archiver roots set ~/thesis --exclude '*.aux' --exclude build/
              archiver roots set ~/thesis --reset --reset-exclusions
            """)

    @Argument(help: ArgumentHelp("The directory, as 'archiver roots' shows it.", valueName: "dir"))
    var directory: PathArgument

    @Flag(help: "Return to the default, except for options given here.")
    var reset = false

    @OptionGroup(title: "Timing") var gathering: WatchSettingsOptions
    @OptionGroup(title: "Exclusions") var exclusions: ExclusionOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let rules = try exclusions.given(for: [directory.path])
        let isGathering = reset || gathering.settings != WatchSettings()
        guard isGathering || rules != nil else {
            throw Failure.usage("no setting is given", remedy: "see 'archiver roots set --help'")
        }
        let console = Console(global)
        let archive = try global.openArchive()
        let root = try RootContext.root(at: directory.path.resolved, in: archive)
        let name = Escaping.text(root.path.bytes)
        let configuration = try ServiceConfiguration.present
        if let configured = configuration.root(at: root.path) {
            throw Failure.usage(
                "\(name) is configured in \(Escaping.text(configuration.place(configured.source.table.line))), "
                    + "which overrides settings made here",
                remedy: "change them there; 'archiver reload' applies them")
        }
        if isGathering {
            let settings = try archive.setWatchSettings(gathering.settings, ofRoot: root.path, isReset: reset)
            console.remark("\(name): \(WatchSettingsText.text(settings) ?? "default timing")")
        }
        let isTakenUp = try archive.reconfigureWatcher(ofRoot: root.path, exclusions: rules)
        if let rules {
            if !isTakenUp {
                let options = CaptureOptions(exclusions: rules, setsExclusions: true)
                _ = try archive.capture(root.path, options)
            }
            console.remark("\(name): \(ExclusionText.text(rules) ?? "nothing is excluded")")
        }
        if isTakenUp { console.remark("The running watcher now uses these settings.") }
    }
}
