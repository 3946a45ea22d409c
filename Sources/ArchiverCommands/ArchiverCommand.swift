// The program's command line as a whole.

internal import ArgumentParser

/// The root command.
struct ArchiverCommand: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "archiver",
        abstract: "Records every state of a directory, to list, compare and restore.",
        discussion: """
            archiver watch ~/project            remember every state from now on
            archiver list                       what is remembered
            archiver restore @10m               go back ten minutes
            archiver undo                       no, forward again

            A snapshot is named by the first digits of its id, by latest, latest~2 (the second before it), oldest, @10m (the \
            state ten minutes ago), @"2026-11-21 10:00", or its label. A path in it follows after a colon: latest:todo.txt. \
            Commands use the root that contains the current directory; elsewhere, name it with --root. See also:

            archiver help selectors             how to name snapshots and paths
            archiver help times                 how to name times
            archiver help exclusions            what is left out of snapshots
            archiver help json                  output for programs

            The archive is kept in $ARCHIVER_ARCHIVE, else in ~/.local/share/archiver. SIGUSR1 makes a running command \
            say how far it is.

            Exit codes: 0 done; 1 failed; 2 archive damaged; 3 some files could not be read; 10 no such archive; \
            11 locked; 64 usage; 130 interrupted.
            """,
        version: "archiver \(version)",
        subcommands: [
            WatchCommand.self, StatusCommand.self, AuditCommand.self, DoctorCommand.self, CaptureCommand.self,
            ListCommand.self, RootsCommand.self, SyncCommand.self, RunCommand.self, MarkCommand.self, TurnsCommand.self,
            RewindCommand.self,
            KeepCommand.self, PinCommand.self, UnpinCommand.self, LabelCommand.self, NoteCommand.self,
            ForgetCommand.self, UnforgetCommand.self,
            LogCommand.self, FindCommand.self, GrepCommand.self, DeletedCommand.self, ChangesCommand.self,
            SessionsCommand.self, BlameCommand.self, BisectCommand.self, PickCommand.self, BrowseCommand.self,
            ShowCommand.self, DiffCommand.self, CatCommand.self, RestoreCommand.self, UndoCommand.self,
            RedoCommand.self, OperationsCommand.self, CheckCommand.self, UsageCommand.self, PruneCommand.self,
            PurgeCommand.self, RepairCommand.self,
        ])

    /// Here, too, so that these options can be written before the command.
    @OptionGroup var global: GlobalOptions
}

/// What `--version --json` prints.
struct VersionJSON: Encodable {
    let name = "archiver"
    let version = ArchiverCommand.version
}
