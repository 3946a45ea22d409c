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

            A snapshot is named by the first digits of its id, latest, latest~2, @10m, @"2026-11-21 10:00" or its \
            label. Exit codes: 0 done; 1 failed; 2 archive damaged; 3 some files could not be read; 10 no such archive; \
            11 locked; 12 wrong passphrase; 64 usage; 130 interrupted.
            """,
        version: "archiver 0.1.0",
        subcommands: [
            WatchCommand.self, CaptureCommand.self, ListCommand.self, ShowCommand.self, DiffCommand.self,
            CatCommand.self, RestoreCommand.self, CheckCommand.self, RepairCommand.self,
        ])
}
