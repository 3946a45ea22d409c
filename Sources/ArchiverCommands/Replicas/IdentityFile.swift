// The file with the identity that reads a replica, which may be protected by a passphrase; secrets that are typed.

internal import Age
internal import ArchiverKit
internal import CLinux
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
    private static let lengthLimit = 4096
    /// What the keys send that the terminal handles itself otherwise (termios(3)).
    private enum Key {
        static let interrupt: UInt8 = 0x03
        static let end: UInt8 = 0x04
        static let eraseLine: UInt8 = 0x15
        static let quit: UInt8 = 0x1c
        static let erase: Set<UInt8> = [0x08, 0x7f]
    }

    /// Asks on the terminal.
    ///
    /// The keys come one by one, Ctrl-C too, and other signals wait: if one of them ended the program, the terminal would
    /// stay silent. Call it before the first additional thread starts.
    ///
    /// - Returns: nil if there is no terminal.
    static func ask(_ question: String) throws -> [UInt8]? {
        guard let terminal = try? Descriptor.open("/dev/tty", O_RDWR | O_NOCTTY) else { return nil }
        var former = termios()
        guard tcgetattr(terminal.number, &former) == 0 else { return nil }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        withUnsafeMutableBytes(of: &silent.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        return try Signals.holding(Signals.termination) { () throws(ArchiverError) -> [UInt8]? in
            guard tcsetattr(terminal.number, TCSAFLUSH, &silent) == 0 else { return nil }
            defer {
                tcsetattr(terminal.number, TCSAFLUSH, &former)
                write("\n", to: terminal)
            }
            write(question, to: terminal)
            guard let line = line(from: terminal) else {
                if !Signals.isWaiting(Signals.termination) { kill(getpid(), SIGINT) }
                throw ArchiverError(.cancelled, "interrupted")
            }
            return line
        }
    }

    /// How often it is seen whether a signal waits.
    private static let signalMilliseconds: CInt = 100

    /// What is typed until the end of the line; nil for Ctrl-C, and if another signal waits.
    private static func line(from terminal: borrowing Descriptor) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            var waiting = pollfd(fd: terminal.number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, signalMilliseconds)
            if Signals.isWaiting(Signals.termination) { return nil }
            if ready == 0 { continue }
            var byte: UInt8 = 0
            let count = Glibc.read(terminal.number, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return line }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), Key.end: return line
            case Key.interrupt, Key.quit: return nil
            case Key.eraseLine: line = []
            case _ where Key.erase.contains(byte):
                // A whole character of UTF-8.
                while let last = line.popLast(), last & 0xc0 == 0x80 {}
            default: if line.count < lengthLimit { line.append(byte) }
            }
        }
    }

    private static func write(_ text: String, to terminal: borrowing Descriptor) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(terminal.number, bytes, bytes.count)
    }
}
