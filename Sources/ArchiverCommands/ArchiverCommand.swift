// The root command with its subcommands and global options.

internal import ArgumentParser

/// The root command.
struct ArchiverCommand: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "archiver",
        abstract: "Records every state of a directory, to list, compare and restore.",
        discussion: """
            archiver enable ~/project           # capture every change from now on
            archiver status                     # is every change captured?
            archiver list                       # list the snapshots
            archiver restore @10m               # go back ten minutes
            archiver undo                       # undo that restore

            Name a snapshot by the first digits of its id, latest, latest~2 (the second before it), oldest, @10m (ten \
            minutes ago), @"2026-11-21 10:00", or its label. A path in it follows a colon: latest:todo.txt. Commands \
            use the root that holds the path or the current directory; elsewhere, name one with --root. See also:

            archiver help selectors             # how to name snapshots and paths
            archiver help times                 # how to name times
            archiver help exclusions            # how to exclude files
            archiver help json                  # output for programs
            archiver help commands              # all commands and options

            The archive is $ARCHIVER_ARCHIVE, the one that the configuration names, or ~/.local/share/archiver. On SIGUSR1 a running \
            command prints its progress.

            Exit codes: 0 success; 1 failure; 2 archive damaged; 3 some files could not be read or restored; 10 no \
            archive; 11 locked; 12 no identity fits; 64 wrong usage; 130 interrupted.
            """,
        version: "archiver \(version)",
        groupedSubcommands: CommandGroups.all)

    /// Repeated here so that these options can precede the command's name.
    @OptionGroup var global: GlobalOptions
}

extension CommandConfiguration {
    /// The configuration of a command below the program itself.
    ///
    /// It names the program as what is above it. Then the parser does not look for a request for a completion script,
    /// which only the program answers, when the command is parsed alone: that would take a twentieth of the time of `list`.
    static func subcommand(
        commandName: String, abstract: String, usage: String? = nil, discussion: String = "",
        shouldDisplay: Bool = true, subcommands: [any ParsableCommand.Type] = [],
        defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: commandName, _superCommandName: "archiver", abstract: abstract, usage: usage,
            discussion: discussion, shouldDisplay: shouldDisplay, subcommands: subcommands,
            defaultSubcommand: defaultSubcommand)
    }
}
