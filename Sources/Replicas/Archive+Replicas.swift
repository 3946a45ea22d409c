// The replicas of an archive: adding, removing, sending, and what is known of them.

package import Age
internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import Crypto
internal import FileIO
internal import Glibc
internal import ObjectStore
public import Roots
internal import SystemPackage

/// What a new replica is to be.
package struct ReplicaRequest: Sendable {
    package var address: String
    package var recipients: [AgeRecipient] = []
    package var isEncrypted = true
    package var identityFile: String?
    package var rateLimit: UInt64?

    package init(address: String) { self.address = address }
}

/// A replica that was added.
package struct AddedReplica: Sendable {
    package let abilities: StoreAbilities
    /// The public key that signs its objects, 64 hex digits.
    package let signer: String
    /// Whether the store had objects of it before.
    package let wasThere: Bool
}

extension Archive {
    /// The status of all replicas, by their names, without asking their stores.
    public func replicas() throws(ArchiverError) -> [ReplicaStatus] {
        try facing {
            let progress = try ReplicaProgress.all(in: store.layout)
            return try ReplicaSettings.names(in: store.layout).sorted().map { name in
                try ReplicaStatus(
                    name, ReplicaSettings.read(name, in: store.layout), progress[name.text], of: store)
            }
        }
    }

    /// The names of the replicas.
    package func replicaNames() throws(ArchiverError) -> [ReplicaName] {
        try ReplicaSettings.names(in: store.layout).sorted()
    }

    /// Adds a replica after trying its store; nothing is sent yet.
    package func addReplica(
        _ name: ReplicaName, _ request: ReplicaRequest, stores: ReplicaStores = .all
    ) throws(ArchiverError) -> AddedReplica {
        try facing { try store.requireWritable() }
        let objects = try stores.open(request.address)
        defer { objects.close() }
        guard !(try replicaNames().contains(name)) else { throw ReplicaSettings.taken(name) }
        for other in try replicas() where other.address == request.address {
            throw ArchiverError(
                .unsuitableSettings, "the replica '\(other.name)' is at \(request.address)",
                remedy: "use another address, or remove that replica first")
        }
        if request.isEncrypted, request.recipients.isEmpty {
            throw ArchiverError(
                .unsuitableSettings, "no recipient is named who can read the replica", remedy: Advice.nameRecipient.text
            )
        }
        let abilities = try ReplicaProbe.run(objects)
        let known = try ReplicaManifest.read(from: objects)
        if let known, known.archive == id, (known.identity == nil) != request.isEncrypted {
            throw ArchiverError(
                .replica,
                "\(objects.address) has a replica of this archive that is \(request.isEncrypted ? "not " : "")encrypted",
                remedy: "use another address")
        }
        let identity = request.isEncrypted ? nil : known?.identity ?? AgeIdentity.generate().secretText
        let open = try identity.map { text throws(ArchiverError) in
            do { return try AgeIdentity(text) } catch {
                throw ArchiverError(
                    .replica, "the description of the replica in \(objects.address) is damaged: \(error)")
            }
        }
        let recipients = request.isEncrypted ? request.recipients : [open?.recipient].compactMap { $0 }
        let key = try ArchiveSigningKey.readOrCreate(in: store.layout)
        let settings = ReplicaSettings(
            url: request.address, recipients: recipients.map { "\($0)" }, openIdentity: identity,
            identityFile: request.identityFile, rateLimit: request.rateLimit, signingKey: key, abilities: abilities)
        let sealer = try ObjectSealer(id, settings, name)
        if let known {
            try sealer.requireOwn(known, name, objects.address)
        } else {
            try requireEmpty(objects)
            try facingStore {
                let manifest = ReplicaManifest(
                    archive: id, created: .now, host: CurrentProcess.hostName, signer: sealer.publicKey,
                    identity: identity)
                if try objects.put(ReplicaManifest.name, manifest.encoded()) == .exists,
                    let other = try ReplicaManifest.read(from: objects)
                {
                    try sealer.requireOwn(other, name, objects.address)
                }
            }
        }
        // From now on a prune drops nothing that the replica lacks; and what an earlier one of this name had does not count.
        try facing {
            var progress = ReplicaProgress()
            progress.isUnknown = true
            try progress.write(name.text, in: store.layout)
        }
        try settings.create(name, in: store.layout)
        return AddedReplica(
            abilities: abilities, signer: Hex.string(Array(sealer.publicKey.rawRepresentation)), wasThere: known != nil)
    }

    private func requireEmpty(_ objects: any ObjectStore) throws(ArchiverError) {
        let inventory = try facingStore { try ReplicaInventory(objects) }
        guard inventory.paths.isEmpty else {
            throw ArchiverError(
                .replica, "\(objects.address) has objects of a replica, but not its \(ReplicaObject.manifest)",
                remedy: "bring that back, or use another address")
        }
    }

    /// Removes a replica from the archive's settings; its objects stay.
    package func removeReplica(_ name: ReplicaName) throws(ArchiverError) {
        _ = try ReplicaSettings.read(name, in: store.layout)
        // Meanwhile no segment leaves the local disk for it.
        let eviction = try facing { try store.withoutReclaimers() }
        defer { withExtendedLifetime(eviction) {} }
        let only = try facing { try store.joined?.away().values.count { $0.replica == name.text } ?? 0 }
        if only > 0 {
            throw ArchiverError(
                .replica, "\(only == 1 ? "1 segment is" : "\(only) segments are") only in the replica '\(name)'",
                remedy: Advice.fetchSegments.text)
        }
        let lock = try facing { try FileLock.exclusive(store.layout.lock("replica-\(name).lock")) }
        defer { withExtendedLifetime(lock) {} }
        try ReplicaSettings.remove(name, in: store.layout)
    }

    /// The file with the identity that was named when the replica was added.
    package func identityFile(of name: ReplicaName) throws(ArchiverError) -> String? {
        try ReplicaSettings.read(name, in: store.layout).identityFile
    }

    /// Opens a replica to send to it.
    ///
    /// If others have the archive open, half of the processors are left to them: a watcher is to capture as quickly
    /// beside a command that sends as without.
    ///
    /// - Parameter besideCaptures: whether this value itself is used for captures meanwhile, so that the same applies.
    package func replicator(
        _ name: ReplicaName, stores: ReplicaStores = .all, besideCaptures: Bool = false,
        progress: OperationProgress? = nil, checkpointBytes: UInt64? = nil
    ) throws(ArchiverError) -> Replicator {
        let settings = try ReplicaSettings.read(name, in: store.layout)
        return try Replicator(
            name, settings, of: store, to: stores.open(settings.url),
            besideCaptures: besideCaptures || store.isOpenElsewhere, progress: progress,
            checkpointBytes: checkpointBytes)
    }
}

/// The key by which an archive signs its replicas; it outlives each of them.
enum ArchiveSigningKey {
    /// The key as 64 hex digits.
    static func readOrCreate(in layout: ArchiveLayout) throws(ArchiverError) -> String {
        let file = layout.replicas.appending("signing-key")
        if let known = read(file) { return known }
        return try facing {
            try layout.replicas.createDirectory(durable: true)
            let digits = Hex.string(Array(Curve25519.Signing.PrivateKey().rawRepresentation))
            do throws(FileError) { try DurableFile.create(file, contents: Array(digits.utf8)) } catch {
                guard error.code == .fileExists, let other = read(file) else { throw error }
                return other
            }
            return digits
        }
    }

    private static func read(_ file: EnclosedPath) -> String? {
        guard let descriptor = try? file.open(O_RDONLY),
            let bytes = try? descriptor.readToEnd(limit: 128, path: file.path),
            case let text = String(decoding: bytes, as: UTF8.self), Hex.bytes(text)?.count == 32
        else { return nil }
        return text
    }
}
