// The commands by what a person wants to do, and the few that the first help shows.

internal import ArgumentParser

/// All commands, in groups.
enum CommandGroups {
    static let all = [
        CommandGroup(
            name: "Watch",
            subcommands: [
                EnableCommand.self, DisableCommand.self, WatchCommand.self, CaptureCommand.self, SyncCommand.self,
                RunCommand.self, MarkCommand.self, ServiceCommand.self, ReloadCommand.self, ConfigCommand.self,
            ]),
        CommandGroup(
            name: "Look",
            subcommands: [
                StatusCommand.self, ListCommand.self, ShowCommand.self, DiffCommand.self, CatCommand.self,
                ChangesCommand.self, SessionsCommand.self, TurnsCommand.self, BrowseCommand.self, PickCommand.self,
            ]),
        CommandGroup(
            name: "Find",
            subcommands: [
                LogCommand.self, FindCommand.self, GrepCommand.self, DeletedCommand.self, BlameCommand.self,
                BisectCommand.self,
            ]),
        CommandGroup(
            name: "Go back",
            subcommands: [
                RestoreCommand.self, UndoCommand.self, RedoCommand.self, RewindCommand.self, OperationsCommand.self,
            ]),
        CommandGroup(
            name: "Keep",
            subcommands: [
                KeepCommand.self, LabelCommand.self, PinCommand.self, UnpinCommand.self, NoteCommand.self,
                ForgetCommand.self, UnforgetCommand.self, PurgeCommand.self, PruneCommand.self, UsageCommand.self,
            ]),
        CommandGroup(name: "Replicate", subcommands: [ReplicaCommand.self, FleetCommand.self, KeysCommand.self]),
        CommandGroup(
            name: "Look after",
            subcommands: [
                RootsCommand.self, DoctorCommand.self, CheckCommand.self, AuditCommand.self, RepairCommand.self,
            ]),
    ]

    /// What someone needs on the first day.
    private static let first: Set = [
        "enable", "disable", "watch", "status", "list", "diff", "browse", "log", "grep", "deleted", "restore", "undo",
    ]

    private static let nameWidth = 12

    /// The first commands with their groups: what follows the overview in `archiver help`.
    static func firstLines(columns: Int) -> String {
        var count = 0
        var lines: [String] = []
        for group in all {
            count += group.subcommands.count
            var shown: [String] = []
            for type in group.subcommands {
                let command = type.configuration
                guard let name = command.commandName, first.contains(name) else { continue }
                let blanks = String(repeating: " ", count: max(1, nameWidth - name.count))
                shown.append(TextWrap.wrapped("    \(name)\(blanks)\(command.abstract)", to: columns))
            }
            if !shown.isEmpty { lines += ["  \(group.name)"] + shown }
        }
        lines.insert("FIRST COMMANDS ('archiver help commands' lists all \(count)):", at: 0)
        return lines.joined(separator: "\n")
    }
}
