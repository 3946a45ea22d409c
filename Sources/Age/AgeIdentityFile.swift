// Files of identities, as age-keygen writes them, and protected by a passphrase, as `age -p` makes them of those.

internal import FoundationEssentials

/// Files that hold identities.
package enum AgeIdentityFile {
    /// The longest accepted file in bytes.
    package static let lengthLimit = 1 << 20

    /// The text of a new file: the public key as a comment, and the private key.
    ///
    /// - Parameter created: when, as RFC 3339 writes it.
    package static func text(of identity: AgeIdentity, created: String) -> String {
        guard let secret = identity.secretText, let recipient = identity.recipient else { return "" }
        return "# created: \(created)\n# public key: \(recipient)\n\(secret)\n"
    }

    /// The file protected by a passphrase.
    package static func protect(_ text: String, _ passphrase: AgePassphrase) throws(AgeError) -> [UInt8] {
        try AgeWriter(passphrase: passphrase).whole(Array(text.utf8))
    }

    /// Whether the file is encrypted, so that a passphrase is needed.
    package static func isProtected(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: AgeHeader.versionLine) || AgeArmor.isArmored(bytes)
    }

    /// The identities of a file.
    ///
    /// - Parameter passphrase: asked for if the file is protected; nil if there is none.
    /// - Throws: `AgeError`, and any error of `passphrase`. No message has a part of a key.
    package static func identities(
        in bytes: [UInt8], passphrase: () throws -> [UInt8]? = { nil }
    ) throws -> [AgeIdentity] {
        guard bytes.count <= lengthLimit else {
            throw AgeError(.malformedIdentity, "a file of identities has at most \(lengthLimit >> 20) MiB")
        }
        var plain = bytes
        if isProtected(bytes) {
            guard let given = try passphrase() else {
                throw AgeError(.passphraseNeeded, "the identities are protected by a passphrase")
            }
            let identity = try AgeIdentity(passphrase: AgePassphrase(given))
            let binary = AgeArmor.isArmored(bytes) ? try AgeArmor.decode(bytes) : bytes
            do { plain = try AgeReader.decrypt(binary, [identity]) } catch let error as AgeError
                where error.code == .noMatch
            {
                throw AgeError(
                    .malformedIdentity, "the file of identities is encrypted for a recipient, not with a passphrase")
            }
        }
        guard let text = String(validating: plain, as: UTF8.self) else {
            throw AgeError(.malformedIdentity, "this is no file of identities: it is not text")
        }
        var identities: [AgeIdentity] = []
        for (number, line) in AgeLines.significant(text) {
            do throws(AgeError) { identities.append(try AgeIdentity(line)) } catch {
                throw AgeError(error.code, "line \(number): \(error.detail)")
            }
        }
        guard !identities.isEmpty else { throw AgeError(.malformedIdentity, "the file has no identity") }
        return identities
    }
}
