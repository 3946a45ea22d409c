// A file's key, encrypted for one recipient: the part that X25519 and scrypt stanzas have in common.

internal import Crypto
internal import FoundationEssentials

enum Wrapping {
    /// The length of a wrapped key: 16 bytes and the tag.
    static let bodyLength = FileKey.length + 16

    /// Every wrapping key is used once, so the nonce is fixed.
    private static let nonce = [UInt8](repeating: 0, count: 12)

    static func wrap(_ fileKey: FileKey, with key: SymmetricKey) throws -> [UInt8] {
        let box = try ChaChaPoly.seal(fileKey.bytes, using: key, nonce: ChaChaPoly.Nonce(data: nonce))
        return Array(box.ciphertext + box.tag)
    }

    /// The file's key; nil if it was wrapped with another key.
    static func unwrap(_ body: [UInt8], with key: SymmetricKey) -> FileKey? {
        guard body.count == bodyLength, let box = try? ChaChaPoly.SealedBox(combined: nonce + body),
            let bytes = try? ChaChaPoly.open(box, using: key)
        else { return nil }
        return FileKey(bytes)
    }
}
