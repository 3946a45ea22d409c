// `archiver diff`: compares two snapshots, or a snapshot with the directory as it is now.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SavedStates
internal import SystemPackage

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "diff",
        abstract: "Show the differences between two snapshots or two saved states.",
        discussion: """
            Compares two snapshots, or a snapshot with the directory as it is now; without arguments, the latest one. \
            A path after a colon limits the \
            comparison; it is relative to the current directory, and :/PATH to the root's top. Lines begin with + \
            (added), ~ (modified, and how), - (removed) or > (renamed). Directories that differ only in their time are shown \
            only with -v. With --patch the output is a patch for git apply or patch -p1; a terminal marks the changed words.

            For two saved states, the differing fields are shown: + items.3: {…}; ~ score: 9001 → 9002. List \
            positions are those in the later state; those of removed items are in the earlier one. A single state is \
            compared with the latest of its title, and the latest with the one before it.

            Examples:
              archiver diff                     # changes since the latest snapshot
              archiver diff @1d -p              # changes of the last day, line by line
              archiver diff latest:a.txt latest:b.txt
              archiver diff @1h --state "Best Game Ever"
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label), or a path in it (default: latest).",
            valueName: "selector[:path]"),
        completion: .selector)
    var left: ByteArgument?

    @Argument(
        help: ArgumentHelp(
            "The later snapshot, or a path in it (default: the directory as it is now).", valueName: "selector[:path]"),
        completion: .selector)
    var right: ByteArgument?

    @Flag(name: [.customShort("p"), .customLong("patch")], help: "Show the changes as a patch.")
    var patch = false

    @Flag(help: "Show the changed words of text files: [-removed-]{+added+}.")
    var wordDiff = false

    @Flag(help: "Count the lines that were added and removed.")
    var stat = false

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if [patch, wordDiff, stat].count(where: \.self) > 1 {
            throw ValidationError("--patch, --word-diff and --stat exclude each other")
        }
        if (patch || wordDiff) && global.json {
            throw ValidationError("--patch and --word-diff exclude --json")
        }
    }

    func run() throws {
        let console = Console(global)
        Pager.start(console, global)
        let left = left ?? ByteArgument(argument: "latest")
        // A path in the place of a snapshot is refused, with the right form for the root that holds it.
        let arguments = [left] + (right.map { [$0] } ?? [])
        let paths = arguments.flatMap { $0.bytes.first == UInt8(ascii: "/") ? [$0.bytes] : $0.pathAfterColon }
        let context = try RootContext(global.openArchive(), place, paths: paths)
        switch try context.selection(left, titled: state) {
        case .snapshot(let snapshot, let path): try compare(snapshot, at: path, context, console)
        case .state(let state): try compare(state, context, console)
        }
    }

    private func compare(
        _ leftSnapshot: ListedSnapshot, at leftPath: RelativePath?, _ context: RootContext, _ console: Console
    ) throws {
        let rightSide = try right.map { try self.rightSide($0, besides: leftSnapshot, context) }
        let directory = FilePath(bytes: leftSnapshot.rootPath)
        let archive = context.archive
        // A path or a pattern on one side applies to both.
        let scope = try self.scope(leftSnapshot, leftPath, rightSide, context)
        let path = scope.path
        let rightPath = scope.names == nil ? rightSide?.path ?? path : path

        if path != rightPath, let rightSnapshot = rightSide?.snapshot {
            _ = try context.requiredEntry(at: path, in: leftSnapshot)
            _ = try context.requiredEntry(at: rightPath, in: rightSnapshot)
        }
        var report = try report(console, archive, right: rightSide == nil ? .directory(directory) : .archive(archive))
        var renames = Renames(archive, left: leftSnapshot, right: rightSide?.snapshot)
        var isEmpty = true
        let compare: ((Difference) -> Bool) throws -> Void = { body in
            guard let rightSnapshot = rightSide?.snapshot else {
                return try archive.differences(from: leftSnapshot, toDirectory: directory, at: path, body)
            }
            if path == rightPath {
                return try archive.differences(from: leftSnapshot, to: rightSnapshot, at: path, body)
            }
            try archive.differences(from: leftSnapshot, at: path, to: rightSnapshot, at: rightPath, body)
        }
        try visiting(compare) { difference in
            let isDirectory = (difference.right ?? difference.left)?.kind == .directory
            guard scope.contains(difference.path, isDirectory: isDirectory) else { return }
            isEmpty = false
            if isShown(difference) { try renames.add(difference, to: &report) }
        }
        // A path that neither side has is a typing error, not an empty comparison.
        if isEmpty, let pattern = scope.written { _ = try context.paths([pattern], in: leftSnapshot) }
        if isEmpty, scope.names == nil, !path.isRoot { _ = try context.requiredEntry(at: path, in: leftSnapshot) }
        try renames.finish(&report)
        try report.finish()
    }

    /// What to compare: everything, or the path or pattern of one side.
    private func scope(
        _ left: ListedSnapshot, _ leftPath: RelativePath?,
        _ right: (snapshot: ListedSnapshot, path: RelativePath?)?, _ context: RootContext
    ) throws -> PathScope {
        let snapshots = [left] + (right.map { [$0.snapshot] } ?? [])
        if let leftPath, let argument = self.left { return try context.scope(argument, at: leftPath, in: snapshots) }
        if let path = right?.path, let argument = self.right {
            return try context.scope(argument, at: path, in: snapshots)
        }
        return PathScope(path: .root)
    }

    private func rightSide(
        _ argument: ByteArgument, besides left: ListedSnapshot, _ context: RootContext
    ) throws -> (snapshot: ListedSnapshot, path: RelativePath?) {
        if let named = try? SnapshotPath(argument), named.selector.isRelative {
            let snapshot = try context.snapshot(named.selector, besides: left)
            return (snapshot, try named.path.map { try context.paths(in: snapshot.root).path($0) })
        }
        switch try context.selection(argument, titled: state) {
        case .snapshot(let snapshot, let path): return (snapshot, path)
        case .state(let state): throw DiffCommand.differentKinds(snapshot: left, state)
        }
    }

    private func compare(_ left: ListedState, _ context: RootContext, _ console: Console) throws {
        if patch || wordDiff {
            throw Failure.usage(
                "--patch and --word-diff compare files, not saved states", remedy: "leave out the option")
        }
        let sides = try sides(left, context)
        if sides == nil {
            console.remark("There is no other state of \(Escaping.text(left.title)) to compare it with.")
        }
        let (left, right) = sides ?? (left, left)
        let archive = context.archive
        guard let leftValue = try archive.content(of: left).value(),
            let rightValue = try archive.content(of: right).value()
        else { throw DiffCommand.tooManyItems(left, right) }
        let differences = try StateComparison.differences(from: leftValue, to: rightValue)
        if stat {
            let statistics = DifferenceStatistics(differences, left, right)
            try console.output.line(console.isJSON ? JSONText.of(statistics) : statistics.text)
        } else {
            try StateDifferenceReport(console).write(differences)
        }
    }

    /// The states to compare; nil if there is only one.
    private func sides(
        _ left: ListedState, _ context: RootContext
    ) throws -> (left: ListedState, right: ListedState)? {
        guard let right else { return try context.archive.comparison(of: left) }
        switch try context.selection(right, titled: state, besides: left) {
        case .state(let state): return (left, state)
        case .snapshot(let snapshot, _): throw DiffCommand.differentKinds(snapshot: snapshot, left)
        }
    }

    private static func tooManyItems(_ left: ListedState, _ right: ListedState) -> Failure {
        .unsuitable(
            "\(left.id.short) or \(right.id.short) has more than \(StateContent.comparedItems) values, too many to compare",
            remedy: "compare what 'archiver cat \(left.id.short)' and 'archiver cat \(right.id.short)' print")
    }

    private static func differentKinds(snapshot: ListedSnapshot, _ state: ListedState) -> Failure {
        .usage(
            "\(snapshot.id.short) is a snapshot of a directory and \(state.id.short) a saved state: "
                + "they cannot be compared", remedy: "name two snapshots or two states")
    }

    /// Hides directories that differ only in their time from people, unless `--verbose` is given.
    private func isShown(_ difference: Difference) -> Bool {
        global.json || global.verbose || !difference.isDirectoryTimeOnly
    }

    private func report(_ console: Console, _ archive: Archive, right: FileContents) throws -> any DifferenceReport {
        if stat { return StatisticsReport(console, archive, right: right) }
        if patch || wordDiff {
            return TextReport(console, left: .archive(archive), right: right, showsWords: wordDiff)
        }
        return console.isJSON ? try JSONDifferenceReport(console) : NameReport(console: console)
    }
}
