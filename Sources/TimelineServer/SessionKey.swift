// The key that signs sessions: kept for servers at a fixed address, so that their pages go on after a restart.

internal import ArchiverKit
internal import Crypto
internal import FileIO
internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// A secret key.
struct SessionKey: Sendable {
    private let key: SymmetricKey

    private static let byteCount = 32

    /// A key of this process.
    init() { key = SymmetricKey(size: .bits256) }

    /// The key in a file that only the user can read; it is made if there is none.
    ///
    /// If that fails, the key is one of this process: pages then end with it.
    init(in file: FilePath) {
        key =
            (SessionKey.read(file) ?? SessionKey.make(file)).map { SymmetricKey(data: $0) }
            ?? SymmetricKey(size: .bits256)
    }

    /// Returns a new session or token: a random name with its signature.
    func sign(_ name: String) -> String {
        "\(name).\(SessionKey.text(HMAC<SHA256>.authenticationCode(for: Array(name.utf8), using: key)))"
    }

    func isSigned(_ text: String) -> Bool {
        guard text.utf8.count < 200, let dot = text.lastIndex(of: ".") else { return false }
        let (given, wanted) = (Array(text.utf8), Array(sign(String(text[..<dot])).utf8))
        // In the same time for every wrong signature.
        return given.count == wanted.count && zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { Base64URL.encoded(Array(bytes)) }

    /// Reads a key; nil unless it is a file of this user that nobody else can read or write.
    private static func read(_ file: FilePath) -> [UInt8]? {
        guard let opened = try? Descriptor.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
        guard let status = try? FileStatus.read(opened, path: .root), status.kind == .file, status.owner == geteuid(),
            status.permissions & 0o077 == 0, let bytes = try? opened.readToEnd(limit: byteCount, path: file)
        else { return nil }
        return bytes.count == byteCount ? bytes : nil
    }

    private static func make(_ file: FilePath) -> [UInt8]? {
        let directory = file.removingLastComponent()
        mkdir(directory.string, 0o700)
        // In another user's directory, that user could replace the file.
        guard let opened = try? Descriptor.open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
            let status = try? FileStatus.read(opened, path: .root), status.owner == geteuid(),
            status.permissions & 0o022 == 0
        else { return nil }
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        guard let name = file.lastComponent?.string,
            (try? DurableFile.replace(directory: directory, name: name, contents: bytes)) != nil
        else { return nil }
        return read(file)
    }
}
