// `archiver keys`: makes identities, which read replicas.

internal import Age
internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "keys",
        abstract: "Make keys for replicas.",
        discussion: """
            An identity reads replicas; its public key, the recipient, is all that a machine needs to write them. The \
            files are those of age-keygen, and 'age' reads them.

            Examples:
              archiver keys new -o ~/desk.key
            """,
        subcommands: [KeysNewCommand.self])
}

struct KeysNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "new",
        abstract: "Make an identity.",
        discussion: """
            Prints the public key. The identity goes to the file, which only its owner may read, or to stdout. With \
            --passphrase it is encrypted, as 'age -p' does it: restoring then needs both. Keep it where the archive is not.

            Examples:
              archiver keys new -o ~/desk.key
              archiver keys new -o ~/desk.key --passphrase
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The new file (default: stdout).", valueName: "file"))
    var output: PathArgument?

    @Flag(help: "Protect it by a passphrase, which is asked for.")
    var passphrase = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let identity = AgeIdentity.generate()
        guard let recipient = identity.recipient.map({ "\($0)" }) else { return }
        let text = AgeIdentityFile.text(of: identity, created: Timestamp.now.rfc3339)
        let bytes = passphrase ? try KeysNewCommand.protect(text) : Array(text.utf8)
        guard let output else {
            console.warn("Public key: \(recipient)")
            try console.output.write(bytes)
            return
        }
        do {
            try DurableFile.create(EnclosedPath(file: output.path.absolute), contents: bytes)
        } catch {
            guard error.code == .fileExists else { throw error }
            throw Failure.unsuitable(
                "\(Escaping.text(output.path.bytes)) exists, and may be a key that is needed",
                remedy: "name a new file",
                path: output.path.bytes)
        }
        if console.isJSON { return try console.output.line(JSONText.of(KeyJSON(recipient: recipient))) }
        try console.output.line(recipient)
        console.remark("The identity is in \(Escaping.text(output.path.bytes)). Keep a copy where the archive is not.")
    }

    private static func protect(_ text: String) throws -> [UInt8] {
        guard let first = try Passphrase.ask("New passphrase: "), let second = try Passphrase.ask("Again: ") else {
            throw Failure.usage("there is no terminal to ask for a passphrase on")
        }
        guard first == second else {
            throw Failure(ArchiverError(.wrongIdentity, "the two passphrases differ", remedy: "run the command again"))
        }
        do { return try AgeIdentityFile.protect(text, AgePassphrase(first)) } catch {
            throw Failure(ArchiverError(.wrongIdentity, "\(error)", remedy: "choose another passphrase"))
        }
    }
}
