// Recipients: public keys that files are encrypted for (C2SP age.md, "The X25519 recipient type"; RFC 7748).

internal import Crypto
internal import FoundationEssentials

/// A public key, `age1…`: it encrypts, and cannot decrypt.
package struct AgeRecipient: Sendable, Hashable {
    private let key: [UInt8]

    static let prefix = "age"

    /// Parses a recipient.
    ///
    /// - Throws: `AgeError` `.malformedRecipient` that says why.
    package init(_ text: String) throws(AgeError) {
        func malformed(_ reason: String) -> AgeError { AgeError(.malformedRecipient, reason) }
        if text.hasPrefix("AGE-SECRET-KEY-") {
            throw malformed("this is an identity, which is secret; its recipient, the public key, begins with 'age1'")
        }
        if text.hasPrefix("ssh-") {
            throw malformed("an ssh key is not supported as a recipient; use one that begins with 'age1'")
        }
        guard text.hasPrefix("age1") else { throw malformed("a recipient begins with 'age1'") }
        guard let (prefix, bytes) = Bech32.decode(text) else {
            throw malformed("a character of the recipient is wrong or missing: its checksum does not fit")
        }
        guard prefix == AgeRecipient.prefix else {
            throw malformed("a recipient of the type '\(prefix)' is not supported, only X25519")
        }
        guard bytes.count == 32 else { throw malformed("the recipient has \(bytes.count) bytes instead of 32") }
        key = bytes
    }

    init(key: [UInt8]) { self.key = key }

    /// The recipient as text.
    package var text: String { Bech32.encode(prefix: AgeRecipient.prefix, key) }

    /// The recipients of a file with one on each line; empty lines and those that begin with `#` are skipped.
    package static func list(_ text: String) throws(AgeError) -> [AgeRecipient] {
        var recipients: [AgeRecipient] = []
        for (number, line) in AgeLines.significant(text) {
            do { recipients.append(try AgeRecipient(line)) } catch {
                throw AgeError(error.code, "line \(number): \(error.detail)")
            }
        }
        return recipients
    }

    /// A stanza with the file's key for this recipient.
    func stanza(for fileKey: FileKey) throws(AgeError) -> AgeStanza {
        let secret = Curve25519.KeyAgreement.PrivateKey()
        let share = Array(secret.publicKey.rawRepresentation)
        guard let key = X25519.wrappingKey(secret, peer: self.key, share: share, recipient: self.key),
            let body = try? Wrapping.wrap(fileKey, with: key)
        else { throw AgeError(.malformedRecipient, "the recipient \(text) is a key that anybody can decrypt") }
        return AgeStanza(valid: X25519.type, [String(decoding: Base64.encode(share), as: UTF8.self)], body)
    }
}

extension AgeRecipient: CustomStringConvertible {
    package var description: String { text }
}

enum X25519 {
    static let type = "X25519"

    /// The key that wraps a file's key; nil if the peer's share has a low order, so that the secret would be zero.
    static func wrappingKey(
        _ secret: Curve25519.KeyAgreement.PrivateKey, peer: [UInt8], share: [UInt8], recipient: [UInt8]
    ) -> SymmetricKey? {
        guard let peer = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: peer),
            let shared = try? secret.sharedSecretFromKeyAgreement(with: peer),
            shared.withUnsafeBytes({ $0.contains { $0 != 0 } })
        else { return nil }
        return shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: share + recipient, sharedInfo: Data("age-encryption.org/v1/X25519".utf8),
            outputByteCount: 32)
    }
}

enum AgeLines {
    /// The lines that are neither empty nor comments, with their numbers.
    static func significant(_ text: String) -> [(number: Int, line: String)] {
        var lines: [(Int, String)] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            lines.append((index + 1, String(line)))
        }
        return lines
    }
}
