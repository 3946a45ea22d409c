// The program's command line as a whole.

internal import ArgumentParser

/// The root command.
struct ArchiverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archiver",
        abstract: "Gives a directory a memory: every state it had can be listed, compared and restored.",
        discussion: """
            archiver watch ~/project            remember every state from now on
            archiver list                       what is remembered
            archiver restore @10m               go back ten minutes
            archiver undo                       no, forward again

            A snapshot is named by the first digits of its id, by latest, latest~2 (the second before it), @10m (the \
            state ten minutes ago), @"2026-11-21 10:00", or its label; a path after a colon names what it holds there: \
            latest:notes/todo.txt. Paths are relative to the current directory; :/PATH is relative to the root's top, and \
            so are all paths when you are outside of the root or name it with --root. Commands are about the remembered directory that you are in; elsewhere, say which \
            one with --root. The states that programs save in the archive are named by their ids, labels and titles, and with \
            --state TITLE by latest~2 and times.

            The archive is kept in $ARCHIVER_ARCHIVE, else in ~/.local/share/archiver. SIGUSR1 makes a running command \
            say how far it is.

            Exit codes: 0 done; 1 failed; 2 archive damaged; 3 some files could not be read; 10 no such archive; \
            11 locked; 64 usage; 130 interrupted.
            """,
        version: "archiver 0.1.0",
        subcommands: [
            WatchCommand.self, StatusCommand.self, AuditCommand.self, DoctorCommand.self, CaptureCommand.self,
            ListCommand.self, RootsCommand.self,
            ShowCommand.self, DiffCommand.self, CatCommand.self, RestoreCommand.self, UndoCommand.self,
            RedoCommand.self, OperationsCommand.self, CheckCommand.self, RepairCommand.self,
        ])
}
