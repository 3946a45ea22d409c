// What the header of an object says in clear.

internal import Age
package import ObjectStore
package import Roots

/// The signature of an object and the time of its content, which are read without a key.
package struct ObjectHeader: Sendable, Hashable {
    package let signature: ReplicaSignature
    /// The object has what was committed before this.
    package let time: ReplicaTime

    private static let firstRead: UInt64 = 4096

    /// The header of an age file; nil if it has no signature.
    init?(_ header: AgeHeader) {
        let stanzas = header.stanzas.filter { $0.type == ReplicaSignature.stanza }
        guard let stanza = stanzas.first, stanzas.count == 1, stanza.arguments.count == 2,
            stanza.arguments[0] == ReplicaSignature.version, let time = ReplicaTime(stanza.arguments[1]),
            let signature = ReplicaSignature(stanzaBody: stanza.body)
        else { return nil }
        self.signature = signature
        self.time = time
    }

    /// Reads the header of an object.
    package static func read(
        _ name: ObjectName, from objects: any ObjectStore
    ) throws(ArchiverError) -> ObjectHeader {
        try facingStore {
            var bytes = try objects.get(name, 0..<firstRead)
            var header = try? AgeHeader(parsing: bytes)
            if header == nil, bytes.count == firstRead {
                bytes = try objects.get(name, 0..<UInt64(AgeHeader.lengthLimit))
                header = try? AgeHeader(parsing: bytes)
            }
            guard let found = header.flatMap({ ObjectHeader($0) }) else {
                throw ArchiverError.notAuthentic(name, objects, "it has no signature")
            }
            return found
        }
    }
}

extension ArchiverError {
    /// The error for an object that the signer of the replica did not make like this.
    static func notAuthentic(_ name: ObjectName, _ objects: any ObjectStore, _ reason: String) -> ArchiverError {
        ArchiverError(
            .damaged, "\(name) in \(objects.address) is damaged or forged: \(reason)",
            remedy: "bring back the object as it was; the other objects stay usable")
    }
}
