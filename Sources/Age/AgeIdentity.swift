// Identities: what decrypts a file, a private key or a passphrase.

internal import Crypto
internal import FoundationEssentials

/// A private key, `AGE-SECRET-KEY-1…`, or a passphrase.
package struct AgeIdentity: Sendable {
    private enum Kind: Sendable {
        case key(Curve25519.KeyAgreement.PrivateKey)
        case passphrase(AgePassphrase)
    }

    private let kind: Kind

    static let prefix = "age-secret-key-"

    /// Generates a private key.
    package static func generate() -> AgeIdentity { AgeIdentity(.key(Curve25519.KeyAgreement.PrivateKey())) }

    private init(_ kind: Kind) { self.kind = kind }

    /// The identity of files that are encrypted with a passphrase.
    package init(passphrase: AgePassphrase) { self.init(.passphrase(passphrase)) }

    /// Parses a private key.
    ///
    /// - Throws: `AgeError` `.malformedIdentity` that says why, without a part of the key.
    package init(_ text: String) throws(AgeError) {
        func malformed(_ reason: String) -> AgeError { AgeError(.malformedIdentity, reason) }
        if text.hasPrefix("age1") {
            throw malformed("this is a recipient, the public key; the identity begins with 'AGE-SECRET-KEY-1'")
        }
        if text.hasPrefix("AGE-SECRET-KEY-PQ-1") || text.hasPrefix("AGE-PLUGIN-") {
            throw malformed("an identity of this type is not supported, only X25519 (AGE-SECRET-KEY-1…)")
        }
        guard text.hasPrefix("AGE-SECRET-KEY-1") else { throw malformed("an identity begins with 'AGE-SECRET-KEY-1'") }
        guard let (_, bytes) = Bech32.decode(text), bytes.count == 32,
            let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        else { throw malformed("a character of the identity is wrong or missing: its checksum does not fit") }
        self.init(.key(key))
    }

    /// The public key; nil for a passphrase.
    package var recipient: AgeRecipient? {
        guard case .key(let key) = kind else { return nil }
        return AgeRecipient(key: Array(key.publicKey.rawRepresentation))
    }

    /// The private key as text, which is secret; nil for a passphrase.
    package var secretText: String? {
        guard case .key(let key) = kind else { return nil }
        return Bech32.encode(prefix: AgeIdentity.prefix, Array(key.rawRepresentation)).uppercased()
    }

    /// The file's key from one of the stanzas; nil if none is for this identity.
    func unwrap(_ stanzas: [AgeStanza]) throws(AgeError) -> FileKey? {
        switch kind {
        case .passphrase(let passphrase):
            guard let stanza = stanzas.first, stanza.type == AgePassphrase.type else { return nil }
            return try passphrase.unwrap(stanza)
        case .key(let key):
            let recipient = Array(key.publicKey.rawRepresentation)
            for stanza in stanzas where stanza.type == X25519.type {
                func malformed(_ reason: String) -> AgeError {
                    AgeError(.malformedHeader, "an X25519 stanza of the age header \(reason)")
                }
                guard stanza.arguments.count == 1 else { throw malformed("has not two arguments") }
                guard let share = Base64.decode(stanza.arguments[0].utf8), share.count == 32 else {
                    throw malformed("has no share of 32 bytes")
                }
                guard stanza.body.count == Wrapping.bodyLength else {
                    throw malformed("has a body of the wrong length")
                }
                guard let wrapping = X25519.wrappingKey(key, peer: share, share: share, recipient: recipient) else {
                    throw malformed("has a share of low order")
                }
                if let fileKey = Wrapping.unwrap(stanza.body, with: wrapping) { return fileKey }
            }
            return nil
        }
    }
}

extension AgeIdentity: CustomStringConvertible {
    /// The public key: an identity that gets into a message by mistake tells no secret.
    package var description: String { recipient.map { "the identity of \($0)" } ?? "a passphrase" }
}

extension AgeHeader {
    /// The file's key, from the first identity that fits; the header is authenticated with it.
    func fileKey(_ identities: [AgeIdentity]) throws(AgeError) -> FileKey {
        if stanzas.count > 1, stanzas.contains(where: { $0.type == AgePassphrase.type }) {
            throw AgeError(.malformedHeader, "the age header has a passphrase beside other recipients")
        }
        for identity in identities {
            guard let key = try identity.unwrap(stanzas) else { continue }
            try authenticate(with: key)
            return key
        }
        if stanzas.first?.type == AgePassphrase.type {
            let isGiven = identities.contains { $0.recipient == nil }
            throw isGiven
                ? AgeError(.wrongPassphrase, "the passphrase is wrong")
                : AgeError(.passphraseNeeded, "the age file is encrypted with a passphrase")
        }
        let count = identities.count == 1 ? "the identity is not" : "none of the \(identities.count) identities is"
        throw AgeError(.noMatch, "\(count) one of the age file's recipients")
    }
}
