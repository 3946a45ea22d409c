// What an archive remembers of a replica: its address, for whom it is encrypted, and the key that signs.

package import ArchiveFormat
package import ArchiveStorage
package import Crypto
package import FileIO
package import Roots
internal import SystemPackage

/// The settings of one replica: a file in the archive's folder `settings/replicas` that only its owner may read.
///
/// Credentials of the store are not in it.
package struct ReplicaSettings: Sendable, Hashable, Codable {
    package let url: String
    /// Those who can read it: age recipients.
    package let recipients: [String]
    /// The identity that everybody gets who can read the store; nil if only the recipients can read it.
    package let openIdentity: String?
    /// The file with the identity for checks and tests, if one was named.
    package let identityFile: String?
    /// The most bytes a second that are sent; nil for no limit.
    package let rateLimit: UInt64?
    /// The private key that signs objects: 64 hex digits.
    package let signingKey: String
    /// The machine that replicates: a copy of the archive on another machine must not.
    package let machine: MachineID
    package let created: Timestamp
    /// What the store can do.
    package let abilities: StoreAbilities

    package init(
        url: String, recipients: [String], openIdentity: String?, identityFile: String?, rateLimit: UInt64?,
        signingKey: String, abilities: StoreAbilities
    ) {
        self.url = url
        self.recipients = recipients
        self.openIdentity = openIdentity
        self.identityFile = identityFile
        self.rateLimit = rateLimit
        self.signingKey = signingKey
        machine = Machine.id
        created = .now
        self.abilities = abilities
    }

    package func key(of name: ReplicaName) throws(ArchiverError) -> Curve25519.Signing.PrivateKey {
        guard let bytes = Hex.bytes(signingKey),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else {
            throw ArchiverError(
                .damaged, "the settings of the replica '\(name)' have no signing key", remedy: Advice.addReplica.text)
        }
        return key
    }

    // MARK: Storing

    private static let suffix = ".replica.json"

    private static func file(_ name: ReplicaName, _ layout: ArchiveLayout) -> JSONFile<ReplicaSettings> {
        JSONFile(
            layout.replicas.appending(name.text + suffix), "it says where the replica '\(name)' is",
            remedy: Advice.addReplica.text)
    }

    /// The settings of the replica `name`.
    ///
    /// - Throws: `ArchiverError` with the code `noSuchReplica` if there is none.
    package static func read(_ name: ReplicaName, in layout: ArchiveLayout) throws(ArchiverError) -> ReplicaSettings {
        if let settings = try facing({ try file(name, layout).read() }) { return settings }
        throw ArchiverError(.noSuchReplica, "the archive has no replica '\(name)'", remedy: Advice.listReplicas.text)
    }

    /// The names of an archive's replicas.
    package static func names(in layout: ArchiveLayout) throws(ArchiverError) -> [ReplicaName] {
        try facing { try ReplicaProgress.names(in: layout, suffix).compactMap { try? ReplicaName($0) } }
    }

    /// Stores the settings, durably.
    package func create(_ name: ReplicaName, in layout: ArchiveLayout) throws(ArchiverError) {
        try facing {
            try layout.replicas.createDirectory(durable: true)
            if try !ReplicaSettings.file(name, layout).create(self) { throw ReplicaSettings.taken(name) }
        }
    }

    package static func taken(_ name: ReplicaName) -> ArchiverError {
        ArchiverError(
            .unsuitableSettings, "the archive has a replica '\(name)'",
            remedy: "choose another name, or remove it first")
    }

    package static func remove(_ name: ReplicaName, in layout: ArchiveLayout) throws(ArchiverError) {
        try facing {
            _ = try file(name, layout).place.remove()
            try ReplicaProgress.remove(name.text, in: layout)
        }
    }
}

/// What a store can do, as probed.
package struct StoreAbilities: Sendable, Hashable, Codable {
    /// Whether it refuses to replace an object.
    package var refusesToOverwrite: Bool
    /// Whether these credentials may delete objects.
    package var deletes: Bool

    package init(refusesToOverwrite: Bool, deletes: Bool) {
        self.refusesToOverwrite = refusesToOverwrite
        self.deletes = deletes
    }
}
