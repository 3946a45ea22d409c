// `archiver replica`: keeps copies of the archive in other places.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import ObjectStore
internal import Replicas
internal import Roots

struct ReplicaCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "replica",
        abstract: "Keep copies of the archive in other places.",
        discussion: """
            A replica follows the archive: a running watcher sends each commit within seconds, and captures never wait \
            for it. It is encrypted for recipients (age) and signed by this machine. Its address is a directory, such as \
            one on a USB disk (file:///mnt/disk/desk), one of another machine (sftp://host/path), or a bucket \
            (s3://bucket/desk). Commands that read take the address with --archive.

            Examples:
              archiver keys new -o ~/desk.key
              archiver replica add disk file:///mnt/disk/desk --recipient age1…
              archiver replica list
              archiver replica clone file:///mnt/disk/desk ~/archive --identity ~/desk.key
            """,
        subcommands: [
            ReplicaAddCommand.self, ReplicaListCommand.self, ReplicaRemoveCommand.self, ReplicaSyncCommand.self,
            ReplicaCheckCommand.self, ReplicaTestCommand.self, ReplicaPruneCommand.self, ReplicaFetchCommand.self,
            ReplicaCloneCommand.self,
        ],
        defaultSubcommand: ReplicaListCommand.self)
}

/// The replicas that a command works on.
struct ReplicaSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("The replica (default: all).", valueName: "name"))
    var name: String?

    func names(in archive: Archive) throws -> [ReplicaName] {
        let all = try archive.replicaNames()
        guard let name else {
            guard !all.isEmpty else {
                throw Failure(
                    status: .failed, code: ArchiverError.Code.noSuchReplica.rawValue,
                    message: "the archive has no replica", remedy: "add one with 'archiver replica add'")
            }
            return all
        }
        return [try ReplicaName(name)]
    }
}

/// Sends to replicas, and says what was sent.
enum ReplicaSending {
    /// Sends everything that was committed until now to all of `names`.
    ///
    /// - Throws: the last replica's `Failure`; the others are sent to all the same.
    static func send(_ names: [ReplicaName], of archive: Archive, _ console: Console) throws -> [ReplicaPassJSON] {
        var passes: [ReplicaPassJSON] = []
        var failures: [Failure] = []
        for name in names {
            let progress = OperationProgress()
            let line = ProgressLine("sending to '\(name)'", progress, console)
            do {
                defer { line.end() }
                let replicator = try archive.replicator(name, progress: progress)
                defer { replicator.objects.close() }
                passes.append(ReplicaPassJSON(name: name.text, pass: try replicator.send()))
            } catch { failures.append(Failure(error)) }
        }
        for failure in failures.dropLast() { FailureReport(failure).write(console) }
        for pass in passes {
            console.warn(pass.pass.problems, count: pass.pass.problems.count) { Escaping.text($0) }
        }
        if let last = failures.last { throw last }
        return passes
    }
}

struct ReplicaSyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "sync",
        abstract: "Send everything to the replicas now.",
        discussion: """
            Returns when everything that was committed before is in the replicas. A running watcher does this by itself.

            Examples:
              archiver replica sync
              archiver replica sync disk
            """)

    @OptionGroup var selection: ReplicaSelection
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let passes = try ReplicaSending.send(selection.names(in: archive), of: archive, console)
        if console.isJSON {
            try console.output.line(JSONText.of(passes))
        } else {
            for pass in passes { try console.summary(ReplicaText.sent(pass)) }
        }
        if passes.contains(where: { !$0.pass.problems.isEmpty }) { throw ExitStatus.damaged }
    }
}

struct ReplicaListCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "list", abstract: "List the replicas and how far they are behind.",
        discussion: """
            No store is asked. In a pipe each replica is one line, with tabs between the columns: name, address, missing \
            bytes, the time before which it has everything, the time of the last check, and that of the last test.

            Examples:
              archiver replica list
            """)

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let replicas = try global.openArchive().replicas()
        try ReplicaText.listing.write(replicas, console)
    }
}

struct ReplicaRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "remove", abstract: "Stop replicating to a place.",
        discussion: """
            The objects in the store stay. To go on with them later, add the replica again with the same address.

            Examples:
              archiver replica remove disk
            """)

    @Argument(help: ArgumentHelp("The replica.", valueName: "name"))
    var name: String

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let name = try ReplicaName(name)
        try global.openArchive().removeReplica(name)
        console.remark("The replica '\(name)' is removed here; its objects stay.")
    }
}

struct ReplicaPruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "prune", abstract: "Delete from the replicas what a prune has dropped here.",
        discussion: """
            Segments that 'archiver prune' dropped from the archive stay in a replica for --grace, and are ignored by its \
            readers. After a purge, '--grace 0s' deletes them immediately.

            Examples:
              archiver replica prune --dry-run
              archiver replica prune disk --grace 0s
            """)

    @OptionGroup var selection: ReplicaSelection

    @Option(help: ArgumentHelp("How long dropped segments stay.", valueName: "span"))
    var grace = SpanArgument(days: 30)

    @OptionGroup var change: ChangeOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        guard let seconds = grace.seconds else { throw Failure.usage("with '--grace forever' nothing is deleted") }
        var results: [ReplicaPruneJSON] = []
        for name in try selection.names(in: archive) {
            let replicator = try archive.replicator(name)
            defer { replicator.objects.close() }
            let pruned = try replicator.prune(grace: .seconds(Int64(seconds)), isDryRun: change.dryRun)
            results.append(ReplicaPruneJSON(name: name.text, pruned: pruned, isDryRun: change.dryRun))
        }
        if console.isJSON { return try console.output.line(JSONText.of(results)) }
        for result in results { try console.summary(ReplicaText.pruned(result)) }
    }
}

struct ReplicaFetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "fetch", abstract: "Bring back the segments that are only in replicas.",
        discussion: """
            Copies every segment back that 'archiver keep --local-size' has removed from this disk, and verifies it. An \
            interruption loses nothing; run the command again to finish. As long as a local size is set, they will leave \
            again: 'archiver keep --local-size none' ends that.

            Examples:
              archiver keep --local-size none
              archiver replica fetch
            """)

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let progress = OperationProgress()
        let line = ProgressLine("fetching", progress, console)
        let result: FetchResult
        do {
            defer { line.end() }
            result = try archive.fetchSegments(progress: progress, isCancelled: Interruptions.flag())
        }
        if console.isJSON { return try console.output.line(JSONText.of(FetchJSON(result: result))) }
        try console.summary(ReplicaText.fetched(result))
    }
}
