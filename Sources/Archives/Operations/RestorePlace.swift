// Checks that a snapshot is restored in place only into its own root.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SystemPackage

extension Archive {
    /// The directory into which `snapshot` is restored in place.
    ///
    /// The place that a snapshot records is not trusted alone, because an archive may come from anywhere.
    ///
    /// - Parameter named: the root that the caller names; nil for the snapshot's own root, which must be on this
    ///   machine.
    /// - Throws: `ArchiverError` with the code `otherRoot` if the snapshot belongs to another root.
    func place(of snapshot: ListedSnapshot, named: FilePath?) throws -> FilePath {
        let own = snapshot.root.path
        if named == nil, !snapshot.isOfThisMachine {
            throw otherRoot("snapshot \(snapshot.id.short) belongs to \(own) on another machine, \(snapshot.host)", own)
        }
        let place = try RootDirectory.resolvedAsFarAsItExists(named ?? own)
        if place == own { return own }
        let other = named.map { $0 == own ? "which is a link to \(place) now" : "not to \($0)" }
        throw otherRoot("snapshot \(snapshot.id.short) belongs to \(own), \(other ?? "which is \(place) now")", own)
    }

    private func otherRoot(_ message: String, _ own: FilePath) -> ArchiverError {
        ArchiverError(
            .otherRoot, message,
            remedy: Advice.restoreElsewhere.text,
            path: own)
    }

    /// Checks that the catalogue lists `snapshot` as its own record describes it.
    ///
    /// - Throws: `ArchiverError` with the code `damaged` if it does not.
    func checkListing(of snapshot: ListedSnapshot) throws {
        let own = try store.snapshot(snapshot.id)
        let place = try store.catalogue.place(of: own)
        if own.tree == snapshot.tree, place.path == snapshot.rootPath, place.machine == snapshot.machine { return }
        throw ArchiverError(
            .damaged, "the catalogue's entry of snapshot \(snapshot.id.short) contradicts the snapshot itself",
            remedy: Advice.rebuildCatalogue.text, path: directory)
    }
}
