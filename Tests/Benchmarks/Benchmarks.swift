// `benchmarks`: measures archiver and its peers at the same work in the same run. `make bench` builds and runs it.

internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks", abstract: "Compare archiver with other installed programs.",
        subcommands: [RunCommand.self, HelpWithCommand.self], defaultSubcommand: RunCommand.self)
}

/// Runs lines and prints the table.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run all programs in turn, round by round, and print the table.")

    @Argument(help: "The archiver binary.")
    var archiver: String

    @Option(help: ArgumentHelp("The number of rounds; tables show medians.", valueName: "count"))
    var rounds = 3

    @Option(help: ArgumentHelp("An older archiver binary, which takes turns with the other.", valueName: "file"))
    var beside: String?

    @Option(
        help: ArgumentHelp("Only these lines, separated by commas; 'first' selects all 'first-…'.", valueName: "names"))
    var only: String?

    @Option(help: "The size of the corpora: full, or small for a quick check.")
    var scale = Scale.full

    @Option(help: ArgumentHelp("The tree to copy (default: /usr/share).", valueName: "dir"))
    var tree: String?

    @Option(help: ArgumentHelp("A git repository whose states are replayed; it is not changed.", valueName: "dir"))
    var repository: String?

    @Option(help: ArgumentHelp("The directory for the work directory (default: $TMPDIR).", valueName: "dir"))
    var work: String?

    @Flag(help: "Do not remove the work directory at the end.")
    var keep = false

    @Option(help: ArgumentHelp("Write all single runs to this file as JSON.", valueName: "file"))
    var json: String?

    @Flag(help: "List the lines.")
    var list = false

    func validate() throws {
        if rounds < 1 { throw ValidationError("--rounds must be at least 1") }
    }

    func run() throws {
        let corpus = Corpus.copy(of: FilePath(tree ?? scale.tree))
        let lines = try Lines.chosen(only, of: Lines.all(scale, tree: corpus))
        if list {
            for line in lines { print("\(line.name)\t\(line.summary)") }
            return
        }
        Interruption.install()
        try withWorkshop { workshop in
            guard workshop.archiver.isInstalled else { throw BenchmarkError("\(archiver) is not a program") }
            let older = beside.map { Archiver(binary: $0, name: "archiver before") }
            if let older, !older.isInstalled { throw BenchmarkError("\(older.binary) is not a program") }
            try checkSpace(for: lines, in: workshop)
            var report = Report(circumstances: Circumstances.now(workshop))
            var failed: [String] = []
            for line in lines {
                workshop.say("\(line.name): \(line.summary)")
                do {
                    report.rows +=
                        try older.map { try workshop.taking(turnsWith: $0) { try line.run(in: workshop) } }
                        ?? line.run(in: workshop)
                } catch {
                    try Interruption.check()
                    workshop.say("\(line.name) failed: \(error)")
                    failed.append(line.name)
                }
                workshop.tidyUp()
                // After an interrupted run, the results so far remain.
                if let json { try report.write(to: FilePath(json)) }
            }
            print(report.text)
            if !failed.isEmpty { throw BenchmarkError("failed: \(failed.joined(separator: ", "))") }
        }
    }

    /// Runs `body` with a work directory that is removed afterwards, unless `--keep` is given.
    private func withWorkshop(_ body: (Workshop) throws -> Void) throws {
        let directory = try makeDirectory()
        let workshop = Workshop(
            directory: directory, rounds: rounds, scale: scale, archiver: FilePath(archiver),
            repository: repository.map { FilePath($0) })
        defer {
            if keep {
                workshop.say("kept: \(directory)")
            } else {
                Interruption.forget()
                workshop.remove(directory)
            }
        }
        try body(workshop)
    }

    /// Creates a new directory in `--work` or `$TMPDIR`, so that existing files are never touched.
    private func makeDirectory() throws -> FilePath {
        let place = work ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(place)/archiver-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil, let path = realpath(template, nil) else {
            throw BenchmarkError("cannot create a directory in \(place): \(Errno(rawValue: errno))")
        }
        defer { free(path) }
        return FilePath(platformString: path)
    }

    private func checkSpace(for lines: [any Line], in workshop: Workshop) throws {
        // Corpora and stores stay for later lines.
        let kept = lines.count > 1 ? 8 << 30 : 0
        let needed = ((lines.map(\.diskBytes).max() ?? 0) + kept) / (scale == .full ? 1 : 20)
        let free = try workshop.freeBytes()
        guard free >= needed else {
            throw BenchmarkError(
                "\(workshop.directory) has \(Figure.bytes(free)) left, but up to \(Figure.bytes(needed)) are needed; "
                    + "choose another place with --work, or fewer lines with --only")
        }
    }
}

/// A part of the benchmark that runs in a process of its own.
struct HelpWithCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "help-with", shouldDisplay: false)

    @Argument var what: String
    @Argument var subject: String
    @Argument var count: Int
    @Option var segmentBytes: Int?
    @Option var part: Int?

    func run() throws {
        switch what {
        case "snapshots": try ManySnapshotsArchive.grow(in: FilePath(subject), to: count)
        case "history":
            try LongHistory.make(in: FilePath(subject), snapshots: count, segmentBytes: segmentBytes)
        case "versions": try LargeVersions.make(in: FilePath(subject), versions: count)
        case "noise": try NoisyArchive.make(in: FilePath(subject), snapshots: count)
        case "chunks": try ManyChunksArchive.make(in: FilePath(subject), chunks: count)
        case "labels": try ManyRecordsArchive.makeLabels(in: FilePath(subject), count)
        case "gaps": try ManyRecordsArchive.makeGaps(in: FilePath(subject), count)
        case "walk", "pack":
            let tree = FilePath(subject)
            func run(_ part: Int) throws {
                try what == "walk"
                    ? FileWalk.run(tree, part: part, of: count) : FilePacking.run(tree, part: part, of: count)
            }
            if let part { try run(part) } else { try Helper.share(what, of: tree, among: count, run) }
        case "time": print(try CoreLoop.named(subject).secondsPerOperation(rounds: count))
        case "repeat": try CoreLoop.named(subject).prepare()(count)
        default: throw ValidationError("no help with '\(what)'")
        }
    }
}
