// `archiver pick`: chooses a snapshot on the terminal.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import Timeline

struct PickCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "pick",
        abstract: "Choose a snapshot from a list and print its id.",
        discussion: """
            Shows the snapshots, or the versions of a path, newest first, with the changes of the selected one below. \
            Arrow keys and Page Up and Down move, letters filter, Enter prints the id (and the path, after a colon), \
            and Escape cancels. Pass the output to another command; 'archiver undo' reverts a restore.

            Examples:
              archiver restore "$(archiver pick notes.md)"
              archiver diff "$(archiver pick)" latest
            """)

    @Argument(help: ArgumentHelp("A file or directory (default: the whole root).", valueName: "path"))
    var path: ByteArgument?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        Signals.block(Signals.termination)
        let history = try HistoryContext(global, place, paths: path.map { [$0.pathInIt] } ?? [], isPaged: false)
        var moments = try PickMoments(history, path.map { try history.target($0).path } ?? .root)
        guard let chosen = try choose(&moments, history.console) else { throw ExitStatus.interrupted }
        if history.console.isJSON {
            return try history.console.output.line(JSONText.of(SnapshotJSON(chosen.snapshot)))
        }
        try history.console.output.write(moments.argument(chosen) + [UInt8(ascii: "\n")])
    }

    /// Lets the user choose a moment.
    ///
    /// - Returns: nil if the user cancels.
    private func choose(_ moments: inout PickMoments, _ console: Console) throws -> PathMoment? {
        let terminal: RawTerminal
        do throws(FileError) { terminal = try RawTerminal() } catch {
            throw Failure.unsuitable(
                "pick needs a terminal", remedy: "use 'archiver log' or 'archiver list'")
        }
        defer { terminal.close() }
        let end = terminal.ending
        try? Signals.observe(Signals.termination) { signal, _ in
            end.restore()
            _exit(128 + signal)
        }
        let name = moments.path.isRoot ? moments.history.root.path.bytes : moments.path.bytes
        var screen = PickScreen(
            title: "\(Escaping.text(name)): ↑ ↓ move, letters filter, Enter chooses, Escape cancels",
            moments.all.map(moments.text), isWhole: moments.isWhole)
        var preview: (index: Int, lines: [String])?
        while true {
            if let current = screen.current, preview?.index != current {
                preview = (current, moments.preview(moments.all[current]))
            }
            let size = terminal.size
            let lines = screen.lines(
                rows: size.rows, columns: size.columns, Style(isOn: !global.noColor),
                preview: screen.current == nil ? [] : preview?.lines ?? [])
            terminal.show(lines)
            // Keys that were already typed are handled first.
            if screen.wantsMore, !terminal.hasKey {
                screen.add(try moments.readMore().map(moments.text), isWhole: moments.isWhole)
                continue
            }
            guard let key = terminal.key() else { return nil }
            switch screen.press(key) {
            case .chosen(let index): return moments.all[index]
            case .givenUp: return nil
            case nil: continue
            }
        }
    }
}
