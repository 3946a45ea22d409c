// A replica that has segments which are no longer on the local disk: opened without asking anybody.

internal import Age
internal import ArchiveFormat
internal import ArchiveStorage
internal import Crypto
internal import FileIO
internal import Glibc
internal import ObjectStore
internal import Roots
package import SystemPackage
internal import Threading

/// A replica whose identity is at hand.
struct AwayReplica: Sendable {
    let name: ReplicaName
    let settings: ReplicaSettings
    let sealer: ObjectSealer
    let reader: ReplicaReader

    var objects: any ObjectStore { reader.objects }

    /// Opens a replica of an archive.
    ///
    /// - Parameter identityFile: the file that `LocalSize` names, besides the one that the replica was added with.
    /// - Throws: `ArchiverError` also if no identity can be read without a passphrase.
    init(
        _ name: ReplicaName, of archive: ArchiveID?, in layout: ArchiveLayout, _ stores: ReplicaStores,
        identityFile: String?
    ) throws(ArchiverError) {
        self.name = name
        settings = try ReplicaSettings.read(name, in: layout)
        let identities = try AwayReplica.identities(name, settings, identityFile)
        let objects = try stores.open(settings.url)
        do throws(ArchiverError) {
            let signer = Hex.string(Array(try settings.key(of: name).publicKey.rawRepresentation))
            reader = try ReplicaReader(objects, identities, signer: signer)
            sealer = try ObjectSealer(reader.manifest.archive, settings, name)
            if let archive, reader.manifest.archive != archive {
                throw ArchiverError.foreign(reader.manifest, isSameArchive: false, objects.address)
            }
        } catch {
            objects.close()
            throw error
        }
    }

    private static let byteLimit = 1 << 20

    /// The identities in the files that are named for it.
    private static func identities(
        _ name: ReplicaName, _ settings: ReplicaSettings, _ identityFile: String?
    ) throws(ArchiverError) -> [AgeIdentity] {
        var files: [String] = []
        for file in [identityFile, settings.identityFile].compactMap(\.self)
        where !files.contains(file) { files.append(file) }
        var identities: [AgeIdentity] = []
        var failure: ArchiverError?
        for file in files {
            let path = FilePath(file)
            do {
                let bytes = try Descriptor.open(path, O_RDONLY | O_NOCTTY).readToEnd(limit: byteLimit, path: path)
                identities += try AgeIdentityFile.identities(in: bytes)
            } catch {
                failure =
                    failure
                    ?? ArchiverError(
                        .wrongIdentity, "the identity in \(path) cannot be used: \(error)",
                        remedy: error is AgeError
                            ? "name a file with an identity that needs no passphrase"
                            : "put it there, readable for this user, or name another file",
                        path: path)
            }
        }
        if !identities.isEmpty || settings.openIdentity != nil { return identities }
        throw failure
            ?? ArchiverError(
                .wrongIdentity, "no file with the identity of the replica '\(name)' is named",
                remedy: Advice.nameIdentity.text)
    }
}

/// The segments of an archive that are only in one replica.
private struct AwaySegments: SegmentSource {
    private let replica: AwayReplica
    private let segments: ReplicaSegments

    init(
        _ layout: ArchiveLayout, _ name: String, _ away: [AwaySegment], _ stores: ReplicaStores
    ) throws(ArchiverError) {
        replica = try AwayReplica(
            ReplicaName(name), of: nil, in: layout, stores, identityFile: LocalSize.read(layout).identityFile)
        segments = ReplicaSegments(
            replica.reader,
            ReplicaInventory(segments: Dictionary(away.map { ($0.path, $0.objectBytes) }) { _, last in last }))
    }

    func list() throws(StorageError) -> SegmentListing { try segments.list() }
    func path(of name: String) -> FilePath { segments.path(of: name) }
    func length(of name: String) -> Int? { segments.length(of: name) }

    func open(_ name: String) throws(StorageError) -> any SegmentReading {
        do throws(StorageError) { return try segments.open(name) } catch {
            guard error.code == .damaged else { throw error }
            // Where there is no replica at all, as on a disk that was unmounted, nothing is known to be lost.
            let found: ReplicaManifest?
            do { found = try ReplicaManifest.read(from: replica.objects) } catch {
                throw StorageError(.system, path(of: name), error.message, remedy: error.remedy)
            }
            if found != nil { throw error }
            throw StorageError(
                .system, path(of: name), "there is no replica in \(replica.objects.address) any more",
                remedy: "mount its disk, or bring its objects back")
        }
    }
}

/// Reading segments that are only in replicas.
package enum ReplicaReading {
    /// The stores of archives that tests have arranged.
    private static let arranged = Locked<[FilePath: ReplicaStores]>([:])

    /// From now on this process reads segments that are only in replicas.
    package static func begin() {
        AwayReading.opening.withLock { opening in
            opening = { layout, name, away in
                let stores = arranged.withLock { $0[layout.directory] } ?? .all
                return try AwaySegments(layout, name, away, stores)
            }
        }
    }

    /// The same; the replicas of the archive in `directory` are in `stores`, for tests.
    package static func begin(_ stores: ReplicaStores, for directory: FilePath) {
        arranged.withLock { $0[directory] = stores }
        begin()
    }
}
