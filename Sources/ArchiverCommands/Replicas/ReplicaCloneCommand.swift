// `archiver replica clone`: makes a local archive again from a replica.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import ObjectStore
internal import Replicas
internal import SystemPackage

struct ReplicaCloneCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "clone",
        abstract: "Make a local archive again from a replica.",
        discussion: """
            Every object is checked to be encrypted for you and signed by the machine that made it. A clone that was \
            interrupted is finished by the same command. What the replica lacks is named, everything else is there, and \
            the exit code is 3. Restore from the new archive, or watch directories with it.

            Examples:
              archiver replica clone file:///mnt/disk/desk ~/archive --identity ~/desk.key
              archiver --archive ~/archive roots
              archiver --archive ~/archive restore latest --root /home --target ~/new
            """)

    @Argument(help: ArgumentHelp("The replica's address.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The new archive: a directory that is missing or empty.", valueName: "dir"))
    var directory: PathArgument

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let identities = try global.identities()
        let isInterrupted = Interruptions.flag()
        let reader = try global.reader(at: url, identities)
        defer { reader.objects.close() }
        let progress = OperationProgress()
        let line = ProgressLine("cloning \(Escaping.text(url))", progress, console)
        let result: ReplicaClone.Result
        do {
            defer { line.end() }
            result = try ReplicaClone.run(reader, into: directory.path, isCancelled: isInterrupted, progress: progress)
        }
        if console.isJSON {
            try console.output.line(JSONText.of(ReplicaCloneJSON(result)))
        } else {
            try console.summary(ReplicaText.cloned(result, of: reader.manifest.host))
        }
        console.warn(result.problems, count: result.problems.count) { Escaping.text($0) }
        if !result.problems.isEmpty { throw ExitStatus.incomplete }
        let name = ShellWord.text(result.archive.directory.bytes)
        console.remark("'archiver --archive \(name) roots' shows what it holds.")
    }
}
