// The file with the identity that reads a replica, which may be protected by a passphrase; secrets that are typed.

internal import Age
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Replicas
internal import SystemPackage

/// Files with identities.
enum IdentityFile {
    /// The identities in a file.
    ///
    /// - Throws: `ArchiverError` with the code `wrongIdentity` if it holds none, or the passphrase is wrong.
    static func read(_ path: FilePath) throws(ArchiverError) -> [AgeIdentity] {
        let name = Escaping.text(path.bytes)
        do {
            let bytes = try SecretFile.read(path)
            return try AgeIdentityFile.identities(in: bytes) { try Passphrase.ask("Passphrase of \(name): ") }
        } catch let error as AgeError {
            throw ArchiverError(
                .wrongIdentity, "the identity in \(name) cannot be used: \(error)",
                remedy: error.code == .wrongPassphrase || error.code == .passphraseNeeded
                    ? "run the command again with the right passphrase"
                    : "name a file that 'archiver keys new' or age-keygen made",
                path: path)
        } catch { throw ArchiverError(any: error) }
    }
}

/// Small files that a command reads whole.
enum SecretFile {
    private static let byteLimit = 1 << 20

    /// Reads a file; `-` is stdin.
    static func read(_ path: FilePath) throws -> [UInt8] {
        let place: FilePath = path.string == "-" ? "/dev/stdin" : path
        return try Descriptor.open(place, O_RDONLY | O_NOCTTY).readToEnd(limit: byteLimit, path: path)
    }
}

/// Passphrases, which are typed and never shown.
enum Passphrase {
    /// Asks on the terminal.
    ///
    /// - Returns: nil if there is no terminal.
    static func ask(_ question: String) throws -> [UInt8]? {
        guard let terminal = try? Descriptor.open("/dev/tty", O_RDWR | O_NOCTTY) else { return nil }
        var former = termios()
        guard tcgetattr(terminal.number, &former) == 0 else { return nil }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(terminal.number, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { tcsetattr(terminal.number, TCSAFLUSH, &former) }
        write(question, to: terminal)
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 4096 {
            let number = terminal.number
            let count = Glibc.read(number, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 || byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        write("\n", to: terminal)
        return line
    }

    private static func write(_ text: String, to terminal: borrowing Descriptor) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(terminal.number, bytes, bytes.count)
    }
}
