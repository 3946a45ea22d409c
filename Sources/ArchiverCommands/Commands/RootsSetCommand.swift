// `archiver roots set`: how a root is watched, and what is left out of it, from now on.

internal import ArchiverKit
internal import ArgumentParser
internal import Exclusions
internal import FileIO
internal import SystemPackage

struct RootsSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change how a directory is watched and what is left out of it.",
        discussion: """
            What no option says stays as it is. It holds at once: a watcher that runs takes it up. What is left out belongs to \
            the snapshots: to change it, the directory is captured.

            Examples:
              archiver roots set ~/thesis --settle 5s --max-delay 1m
              archiver roots set ~/thesis --exclude '*.aux' --exclude build/
              archiver roots set ~/thesis --usual --reset-exclusions
            """)

    @Argument(help: ArgumentHelp("The directory, as 'archiver roots' shows it.", valueName: "dir"))
    var directory: PathArgument

    @Flag(help: "Return to the default settings, except for options given here.")
    var usual = false

    @OptionGroup(title: "How changes are gathered") var gathering: WatchSettingsOptions
    @OptionGroup(title: "What is left out") var exclusions: ExclusionOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let rules = try exclusions.given()
        let isGathering = usual || gathering.settings != WatchSettings()
        guard isGathering || rules != nil else {
            throw Failure.usage("nothing is to be set", remedy: "see 'archiver roots set --help' for what can be")
        }
        let console = Console(global)
        let archive = try global.openArchive()
        let root = try RootContext.root(at: directory.path.resolved, in: archive)
        let name = Escaping.text(root.path.bytes)
        if isGathering {
            let settings = try archive.setWatchSettings(gathering.settings, ofRoot: root.path, isReset: usual)
            console.remark("\(name): \(WatchSettingsText.text(settings) ?? "changes are gathered as usual")")
        }
        let isTakenUp = try archive.reconfigureWatcher(ofRoot: root.path, exclusions: rules)
        if let rules {
            if !isTakenUp {
                let options = CaptureOptions(exclusions: rules, setsExclusions: true)
                _ = try archive.capture(root.path, options)
            }
            console.remark("\(name): \(ExclusionText.text(rules) ?? "nothing left out")")
        }
        if isTakenUp { console.remark("Its watcher does so from now on.") }
    }
}
