// The archive on the command line: a directory, or the address of a replica, which is read without a copy.

internal import Age
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import ObjectStore
internal import Replicas
internal import SystemPackage

/// The path of an archive, or the address of a replica.
struct ArchiveArgument: ExpressibleByArgument, Sendable, Hashable {
    let path: FilePath
    /// The address of a replica; nil for a path.
    let address: String?

    init?(argument: String) {
        guard let given = PathArgument(argument: argument) else { return nil }
        path = given.path
        // A path drops one of two slashes, so the address is kept as it was written.
        address = StoreAddress.isAddress(argument) ? argument : nil
    }

    var defaultValueDescription: String { address ?? Escaping.text(path.bytes) }

    static var defaultCompletionKind: CompletionKind { .directory }
}

/// What is needed to read a replica: an identity, and who must have signed it.
extension GlobalOptions {
    /// The identities of the file; none if no file is named.
    ///
    /// - Throws: `Failure` with the exit code 12 if it holds none, or the passphrase is wrong.
    func identities() throws(ArchiverError) -> [AgeIdentity] {
        guard let identity else { return [] }
        return try IdentityFile.read(identity.path)
    }

    /// Opens the replica at an address.
    ///
    /// - Parameter lists: whether its objects are listed at the same time.
    func reader(
        at address: String, _ identities: [AgeIdentity], lists: Bool = false
    ) throws(ArchiverError) -> ReplicaReader {
        try ReplicaReader(ReplicaStores.all.open(address), identities, signer: signer, lists: lists)
    }

    /// Opens the replica at an address as an archive that can only be read.
    func archive(at address: String) throws(ArchiverError) -> Archive {
        try Archive.reading(reader(at: address, identities(), lists: true))
    }
}
