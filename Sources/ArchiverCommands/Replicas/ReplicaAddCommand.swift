// `archiver replica add`: tries a store, and adds a replica in it.

internal import Age
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Replicas

struct ReplicaAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "add",
        abstract: "Add a replica at an address.",
        discussion: """
            Tries what the store can do, and says what is missing. Only the recipients can read the replica: this \
            machine keeps their public keys, so it can write and not read. Keep the identities elsewhere, too: \
            without them nothing can be restored from the replica. A running watcher begins to send within a minute; \
            'archiver replica sync' sends now.

            The address is a directory that exists (file:///mnt/disk/desk), one of another machine (sftp://host/path), \
            or a bucket (s3://bucket/desk). Each archive of each machine needs its own.

            Examples:
              archiver replica add disk file:///mnt/disk/desk --recipient age1…
              archiver replica add cloud s3://backups/desk --recipient age1…
              archiver replica add usb file:///mnt/usb --recipient age1… --limit-rate 2M
            """)

    @Argument(help: ArgumentHelp("How to call it.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("Where it is to be.", valueName: "url"))
    var url: String

    @Option(help: ArgumentHelp("A public key that can read it (age1…); may be repeated.", valueName: "age1…"))
    var recipient: [String] = []

    @Option(help: ArgumentHelp("A file with public keys, one a line.", valueName: "file"))
    var recipientsFile: PathArgument?

    @Option(help: ArgumentHelp("The most bytes to send in a second.", valueName: "size"))
    var limitRate: SizeArgument?

    @Flag(help: "Let everybody read it who can read the store.")
    var noEncryption = false

    @OptionGroup var global: GlobalOptions

    /// A slower replica never catches up, and its store takes its silence for the end of the connection.
    private static let leastRate: UInt64 = 1 << 10

    func validate() throws {
        if noEncryption, !recipient.isEmpty || recipientsFile != nil {
            throw ValidationError("--no-encryption excludes recipients")
        }
        if let limitRate, limitRate.bytes < ReplicaAddCommand.leastRate {
            throw ValidationError("--limit-rate must be at least 1K, as in --limit-rate 2M")
        }
    }

    func run() throws {
        let console = Console(global)
        let name = try ReplicaName(name)
        var request = ReplicaRequest(address: url)
        request.isEncrypted = !noEncryption
        request.rateLimit = limitRate?.bytes
        request.recipients = try recipients()
        if let file = global.identity {
            request.identityFile = file.path.absolute.string
            let own = try global.identities().compactMap(\.recipient)
            if !noEncryption, !own.contains(where: request.recipients.contains) {
                throw Failure(
                    ArchiverError(
                        .wrongIdentity, "the identity in \(Escaping.text(file.path.bytes)) fits none of the recipients",
                        remedy: "name its public key with --recipient, or another identity"))
            }
        }
        let archive = try global.openArchive()
        let added = try archive.addReplica(name, request)
        if console.isJSON {
            return try console.output.line(JSONText.of(AddedReplicaJSON(name: name.text, added: added)))
        }
        try console.summary("added the replica '\(name)' at \(Escaping.text(url)); its signer is \(added.signer)")
        for line in ReplicaText.abilities(added) { console.remark(line) }
        console.remark(
            noEncryption
                ? "It is not encrypted: everybody who can read the store can read the archive."
                : "Without an identity of its recipients nothing can be restored from it: keep one elsewhere.")
        console.remark("A running watcher begins to send within a minute; 'archiver replica sync \(name)' sends now.")
    }

    private func recipients() throws -> [AgeRecipient] {
        var recipients: [AgeRecipient] = []
        for text in recipient {
            do { recipients.append(try AgeRecipient(text)) } catch {
                throw Failure.usage("'\(Escaping.text(String(text.prefix(80))))' is no recipient: \(error)")
            }
        }
        guard let file = recipientsFile?.path else { return recipients }
        let text = String(decoding: try SecretFile.read(file), as: UTF8.self)
        do { return recipients + (try AgeRecipient.list(text)) } catch {
            throw Failure.usage("\(Escaping.text(file.bytes)) has no list of recipients: \(error)")
        }
    }
}
