// The object that describes a replica, in clear: which archive it is of, and who signs.

package import ArchiveFormat
package import Crypto
package import FileIO
package import ObjectStore
package import Roots

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The content of `archiver-replica.json`.
package struct ReplicaManifest: Sendable, Hashable, Codable {
    package let format: String
    package let version: Int
    package let archive: ArchiveID
    package let created: Timestamp
    /// The name of the machine, for people.
    package let host: String
    /// The public key of the signer: 64 hex digits.
    package let signer: String
    /// The identity that reads the objects, if everybody who can read the store may read them.
    package let identity: String?

    private static let format = "archiver-replica"
    package static let version = 1
    private static let byteLimit: UInt64 = 65_536

    package init(
        archive: ArchiveID, created: Timestamp, host: String, signer: Curve25519.Signing.PublicKey, identity: String?
    ) {
        format = ReplicaManifest.format
        version = ReplicaManifest.version
        self.archive = archive
        self.created = created
        self.host = host
        self.signer = Hex.string(Array(signer.rawRepresentation))
        self.identity = identity
    }

    package var signerKey: Curve25519.Signing.PublicKey? {
        Hex.bytes(signer).flatMap { try? Curve25519.Signing.PublicKey(rawRepresentation: $0) }
    }

    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { Array($0) + [UInt8(ascii: "\n")] } ?? []
    }

    private struct Heading: Codable {
        let format: String
        let version: Int
    }

    package static var name: ObjectName {
        get throws(ArchiverError) {
            guard let name = ObjectName(ReplicaObject.manifest) else {
                throw ArchiverError(.system, "the name of the replica's description is not allowed")
            }
            return name
        }
    }

    /// Reads the description of the replica in a store.
    ///
    /// - Parameter given: the name of its object; nil for the usual one.
    /// - Returns: nil if there is none.
    package static func read(
        from objects: any ObjectStore, _ given: ObjectName? = nil
    ) throws(ArchiverError) -> ReplicaManifest? {
        let bytes: [UInt8]
        do { bytes = try objects.get(given ?? name, 0..<byteLimit) } catch {
            if let error = error as? ObjectStoreError, error.code == .noSuchObject { return nil }
            throw ArchiverError(store: error)
        }
        let decoder = JSONDecoder()
        guard let heading = try? decoder.decode(Heading.self, from: Data(bytes)), heading.format == format else {
            throw ArchiverError(
                .replica, "\(ReplicaObject.manifest) in \(objects.address) does not describe a replica",
                remedy: "use another address")
        }
        guard heading.version <= version else {
            throw ArchiverError(
                .newerFormat,
                "the replica in \(objects.address) has version \(heading.version), newer than this program knows",
                remedy: "use a newer archiver")
        }
        guard let manifest = try? decoder.decode(ReplicaManifest.self, from: Data(bytes)), manifest.signerKey != nil
        else {
            throw ArchiverError(
                .replica, "\(ReplicaObject.manifest) in \(objects.address) is damaged",
                remedy: "put it back from a copy; without it nothing says who signs the objects")
        }
        return manifest
    }
}

extension ArchiverError {
    /// The error for a failed call to a store, and any other error.
    package init(store error: any Error) {
        guard let error = error as? ObjectStoreError else {
            self.init(any: error)
            return
        }
        let code: Code = error.code == .cancelled ? .cancelled : .replica
        self.init(code, error.description, remedy: error.remedy)
    }
}

/// Runs `body`, whose errors may be a store's.
package func facingStore<Result: ~Copyable>(_ body: () throws -> Result) throws(ArchiverError) -> Result {
    do { return try body() } catch { throw ArchiverError(store: error) }
}
