// The signature of an object, by the machine that made it: a store can neither change nor invent one.
//
// Two Ed25519 signatures are in one stanza of the object's age header, which other programs skip. The first covers the
// content, so that the machine that has the content can check an object without the key to read it. The second covers
// the first and the object's file key, so that a reader of the object knows from its header alone that every byte
// of it was encrypted by the signer, and may read any part.

package import ArchiveFormat
package import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The signatures of one object.
package struct ReplicaSignature: Sendable, Hashable {
    /// Over the object's place and the SHA-256 of its content.
    package let content: [UInt8]
    /// Over the place, the first one, and the commitment to the file key.
    package let payload: [UInt8]

    /// The type of the stanza.
    package static let stanza = "archiver-signature"
    package static let version = "1"
    private static let byteCount = 64

    /// Which object of which archive is signed: both signatures cover it.
    package struct Place: Sendable {
        fileprivate let bytes: [UInt8]

        package init(of archive: ArchiveID, _ object: ReplicaObject, at time: ReplicaTime, length: Int) {
            let name = Array(object.text.utf8)
            bytes =
                archive.bytes + Place.bigEndian(UInt64(name.count)) + name + Array(time.text.utf8)
                + Place.bigEndian(UInt64(length))
        }

        private static func bigEndian(_ number: UInt64) -> [UInt8] {
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
    }

    package init(
        of place: Place, sha256: [UInt8], _ commitment: [UInt8], by key: Curve25519.Signing.PrivateKey
    ) throws {
        let first = Array(try key.signature(for: Data(ReplicaSignature.content(place, sha256))))
        content = first
        payload = Array(try key.signature(for: Data(ReplicaSignature.payload(place, first, commitment))))
    }

    /// Parses the body of the stanza.
    package init?(stanzaBody bytes: [UInt8]) {
        guard bytes.count == 2 * ReplicaSignature.byteCount else { return nil }
        content = Array(bytes[..<ReplicaSignature.byteCount])
        payload = Array(bytes[ReplicaSignature.byteCount...])
    }

    /// The body of the stanza.
    package var stanzaBody: [UInt8] { content + payload }

    /// Whether `signer` signed an object with this content.
    package func covers(_ place: Place, sha256: [UInt8], by signer: Curve25519.Signing.PublicKey) -> Bool {
        signer.isValidSignature(Data(content), for: Data(ReplicaSignature.content(place, sha256)))
    }

    /// Whether `signer` encrypted the object with this file key.
    package func covers(_ place: Place, commitment: [UInt8], by signer: Curve25519.Signing.PublicKey) -> Bool {
        signer.isValidSignature(Data(payload), for: Data(ReplicaSignature.payload(place, content, commitment)))
    }

    private static func content(_ place: Place, _ sha256: [UInt8]) -> [UInt8] {
        Array("archiver replica content v1\0".utf8) + place.bytes + sha256
    }

    private static func payload(_ place: Place, _ content: [UInt8], _ commitment: [UInt8]) -> [UInt8] {
        Array("archiver replica payload v1\0".utf8) + place.bytes + content + commitment
    }
}
