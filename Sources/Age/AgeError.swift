// Why an age file, a recipient or an identity cannot be used.

/// An age file, a recipient or an identity cannot be used.
///
/// The text never holds a part of a key or of a passphrase.
package struct AgeError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable {
        /// The bytes do not begin with an age header, or the header breaks a rule of the format.
        case malformedHeader
        /// The header is one of a later version of the format.
        case unknownVersion
        /// The file is encrypted for other recipients than the identities belong to.
        case noMatch
        case wrongPassphrase
        /// The header was changed after it was written: its authentication code is wrong.
        case wrongAuthentication
        /// A step of the encrypted bytes was changed, moved or cut off.
        case damaged
        case malformedRecipient
        case malformedIdentity
        /// A passphrase is needed, and none was given.
        case passphraseNeeded
        /// The passphrase is empty.
        case emptyPassphrase
        /// The ASCII armor is not strict PEM.
        case malformedArmor
    }

    package let code: Code
    /// What is wrong, with the place: "line 3: …".
    package let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}

extension AgeError: CustomStringConvertible {
    package var description: String { detail }
}
