// Makes the objects of a replica: age files with a signature in the header.

internal import Age
internal import ArchiveFormat
internal import ArchiveStorage
package import Crypto
internal import FileIO
internal import ObjectStore
internal import Roots

/// Encrypts and signs the objects of one replica.
package struct ObjectSealer: Sendable {
    private let archive: ArchiveID
    private let key: Curve25519.Signing.PrivateKey
    private let recipients: [AgeRecipient]
    /// Has the length of every header of this replica: all parts of one have fixed lengths.
    private let model: AgeWriter

    init(_ archive: ArchiveID, _ settings: ReplicaSettings, _ name: ReplicaName) throws(ArchiverError) {
        self.archive = archive
        key = try settings.key(of: name)
        do {
            recipients = try settings.recipients.map { try AgeRecipient($0) }
            let zeros = [UInt8](repeating: 0, count: 128)
            model = try AgeWriter(for: recipients) { _ in
                try [ObjectSealer.stanza(ReplicaTime(.now), zeros)]
            }
        } catch {
            throw ArchiverError(
                .damaged, "the settings of the replica '\(name)' have no usable recipient: \(error)",
                remedy: Advice.addReplica.text)
        }
    }

    /// The key that others check the signatures with.
    package var publicKey: Curve25519.Signing.PublicKey { key.publicKey }

    /// The same as 64 hex digits.
    package var signer: String { Hex.string(Array(publicKey.rawRepresentation)) }

    private static func stanza(_ time: ReplicaTime, _ body: [UInt8]) throws -> AgeStanza {
        let arguments = [ReplicaSignature.version, time.text]
        guard let stanza = AgeStanza(type: ReplicaSignature.stanza, arguments: arguments, body: body) else {
            throw ArchiverError(.system, "the signature is no stanza")
        }
        return stanza
    }

    /// The object with this content.
    func seal(
        _ object: ReplicaObject, _ content: any ObjectSource, sha256: [UInt8], at time: ReplicaTime
    ) throws -> any ObjectSource {
        let place = ReplicaSignature.Place(of: archive, object, at: time, length: Int(content.length))
        let writer = try AgeWriter(for: recipients) { commitment in
            let signature = try ReplicaSignature(of: place, sha256: sha256, commitment, by: key)
            return try [ObjectSealer.stanza(time, signature.stanzaBody)]
        }
        return SealedSource(writer: writer, content: content)
    }

    /// The length of the object with `count` bytes of content.
    func objectLength(ofContent count: Int) -> UInt64 { model.length(ofPlain: UInt64(count)) }

    /// Whether this archive made an object, with this content.
    func isOwn(_ header: ObjectHeader, _ object: ReplicaObject, length: Int, sha256: [UInt8]) -> Bool {
        let place = ReplicaSignature.Place(of: archive, object, at: header.time, length: length)
        return header.signature.covers(place, sha256: sha256, by: key.publicKey)
    }

    /// Throws unless a replica's description is that of this archive, signed by this machine.
    func requireOwn(_ manifest: ReplicaManifest, _ name: ReplicaName, _ address: String) throws(ArchiverError) {
        if manifest.archive == archive, manifest.signer == signer { return }
        throw ArchiverError.foreign(manifest, isSameArchive: manifest.archive == archive, address)
    }
}

extension ArchiverError {
    /// The error for an address that has the replica of another archive, or of another machine.
    static func foreign(_ manifest: ReplicaManifest, isSameArchive: Bool, _ address: String) -> ArchiverError {
        let host = manifest.host.isEmpty ? "another machine" : "the machine '\(manifest.host)'"
        return ArchiverError(
            .replica,
            isSameArchive
                ? "\(address) has a replica of this archive that is signed with another key, by \(host)"
                : "\(address) has the replica of another archive, of \(host)",
            remedy: "use another address: each archive of each machine needs its own")
    }
}

/// An age file of a content; the same bytes each time it is read.
private struct SealedSource: ObjectSource {
    let writer: AgeWriter
    let content: any ObjectSource

    var length: UInt64 { writer.length(ofPlain: content.length) }

    func read(_ range: Range<UInt64>) throws -> [UInt8] {
        try writer.bytes(range, plainLength: content.length) { try content.read($0) }
    }
}
