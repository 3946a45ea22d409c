// Passphrases: a key that is slow to compute from one (C2SP age.md, "The scrypt recipient type"; RFC 7914).

internal import Crypto
internal import CryptoExtras
internal import FoundationEssentials

/// A passphrase, and how much work a guess of it shall cost.
package struct AgePassphrase: Sendable {
    private let bytes: [UInt8]
    private let workFactor: Int

    /// The usual work factor: a second and 256 MiB.
    package static let usualWorkFactor = 18
    /// The greatest work factor that is accepted from a file: 16 seconds and 4 GiB.
    static let workFactorLimit = 22

    static let type = "scrypt"
    private static let saltLength = 16

    /// Takes the passphrase's bytes, normally UTF-8.
    ///
    /// - Parameter workFactor: the base-two logarithm of the number of rounds, for encrypting.
    package init(_ bytes: [UInt8], workFactor: Int = usualWorkFactor) throws(AgeError) {
        guard !bytes.isEmpty else { throw AgeError(.emptyPassphrase, "the passphrase is empty") }
        self.bytes = bytes
        self.workFactor = min(max(1, workFactor), AgePassphrase.workFactorLimit)
    }

    /// A stanza with the file's key, which must be the only one.
    func stanza(for fileKey: FileKey) throws(AgeError) -> AgeStanza {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<AgePassphrase.saltLength).map { _ in UInt8.random(in: 0...255, using: &random) }
        guard let body = try? Wrapping.wrap(fileKey, with: wrappingKey(salt, workFactor)) else {
            throw AgePassphrase.noMemory(workFactor)
        }
        return AgeStanza(
            valid: AgePassphrase.type, [String(decoding: Base64.encode(salt), as: UTF8.self), "\(workFactor)"], body)
    }

    /// The file's key; nil if the passphrase is wrong.
    func unwrap(_ stanza: AgeStanza) throws(AgeError) -> FileKey? {
        func malformed(_ reason: String) -> AgeError {
            AgeError(.malformedHeader, "the scrypt stanza of the age header \(reason)")
        }
        guard stanza.arguments.count == 2 else { throw malformed("has not three arguments") }
        guard let salt = Base64.decode(stanza.arguments[0].utf8), salt.count == AgePassphrase.saltLength else {
            throw malformed("has no salt of \(AgePassphrase.saltLength) bytes")
        }
        let digits = stanza.arguments[1].utf8
        guard digits.first != UInt8(ascii: "0"), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw malformed("has a work factor that is no number")
        }
        guard let factor = Int(stanza.arguments[1]), factor <= AgePassphrase.workFactorLimit else {
            throw malformed(
                "has a work factor above \(AgePassphrase.workFactorLimit), which takes too much time and memory")
        }
        guard stanza.body.count == Wrapping.bodyLength else { throw malformed("has a body of the wrong length") }
        guard let key = try? wrappingKey(salt, factor) else { throw AgePassphrase.noMemory(factor) }
        return Wrapping.unwrap(stanza.body, with: key)
    }

    private func wrappingKey(_ salt: [UInt8], _ factor: Int) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: bytes, salt: Array("age-encryption.org/v1/scrypt".utf8) + salt, outputByteCount: 32,
            rounds: 1 << factor, blockSize: 8, parallelism: 1)
    }

    private static func noMemory(_ factor: Int) -> AgeError {
        AgeError(
            .passphraseNeeded, "there is not enough memory for the passphrase's key: \(1 << max(0, factor - 10)) MiB")
    }
}
