// `archiver replica check` and `archiver replica test`: is everything there, and can it be restored?

internal import Age
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import ObjectStore
internal import Replicas
internal import SystemPackage

struct ReplicaCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "check",
        abstract: "Compare the replicas with the archive.",
        discussion: """
            Compares names and lengths; what is missing is sent again. With --data it also reads every byte back, checks \
            the signatures and compares it with the archive, which needs the identity. If anything is still wrong at the \
            end, it is named, and the exit code is 2.

            Examples:
              archiver replica check
              archiver replica check disk --data --identity ~/desk.key
            """)

    @OptionGroup var selection: ReplicaSelection

    @Flag(help: "Read and verify every byte.")
    var data = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        var results: [ReplicaCheckJSON] = []
        for name in try selection.names(in: archive) {
            let identities = data ? try ReplicaIdentity.read(global, of: name, archive) : nil
            let progress = OperationProgress()
            let line = ProgressLine("checking '\(name)'", progress, console)
            defer { line.end() }
            let replicator = try archive.replicator(name)
            defer { replicator.objects.close() }
            let result = try replicator.check(readingWith: identities, progress: progress)
            results.append(ReplicaCheckJSON(name: name.text, result: result, hasReadData: data))
        }
        if console.isJSON {
            try console.output.line(JSONText.of(results))
        } else {
            for result in results {
                try console.summary(ReplicaText.checked(result))
                for line in ReplicaText.details(result) { console.warn("archiver: " + line) }
            }
        }
        if results.contains(where: { !$0.result.problems.isEmpty }) { throw ExitStatus.damaged }
    }
}

struct ReplicaTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "test",
        abstract: "Read random files from the replicas alone, and compare them.",
        discussion: """
            Opens a replica as a machine does that has nothing else, reads 20 files of random snapshots, and compares them \
            with the archive. 'archiver status' shows when that last worked. It needs the identity: also to know that \
            you still have it.

            Examples:
              archiver replica test --identity ~/desk.key
            """)

    @OptionGroup var selection: ReplicaSelection
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        var results: [ReplicaTestJSON] = []
        for name in try selection.names(in: archive) {
            let identities = try ReplicaIdentity.read(global, of: name, archive)
            results.append(ReplicaTestJSON(name: name.text, result: try archive.testReplica(name, identities)))
        }
        if console.isJSON {
            try console.output.line(JSONText.of(results))
        } else {
            for result in results {
                try console.summary(ReplicaText.tested(result))
                console.warn(result.result.problems, count: result.result.problems.count) { Escaping.text($0) }
            }
        }
        if results.contains(where: { !$0.result.problems.isEmpty }) { throw ExitStatus.damaged }
    }
}

/// The identity that reads a replica.
enum ReplicaIdentity {
    /// The identities of the named file, or of the one that was named when the replica was added.
    static func read(_ options: GlobalOptions, of name: ReplicaName, _ archive: Archive) throws -> [AgeIdentity] {
        if options.identity != nil { return try options.identities() }
        guard let file = try archive.identityFile(of: name) else { return [] }
        return try IdentityFile.read(FilePath(file))
    }
}
