// Where a snapshot may be put in place: into the root that it is of, and that the caller means.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SystemPackage

extension Archive {
    /// The directory that `snapshot` goes into in place.
    ///
    /// What a snapshot says of its own place counts for nothing by itself: an archive may come from anywhere.
    ///
    /// - Parameter named: the root that the caller means; nil for the snapshot's own, which must be one of this machine.
    /// - Throws: `ArchiverError` of the code `otherRoot` where the snapshot is of another one.
    func place(of snapshot: ListedSnapshot, named: FilePath?) throws -> FilePath {
        let own = snapshot.root.path
        if named == nil, !snapshot.isOfThisMachine {
            throw otherRoot("snapshot \(snapshot.id.short) is of \(own) on another machine, \(snapshot.host)", own)
        }
        let place = try RootDirectory.resolvedAsFarAsItExists(named ?? own)
        if place == own { return own }
        let other = named.map { $0 == own ? "which is a link to \(place) now" : "not of \($0)" }
        throw otherRoot("snapshot \(snapshot.id.short) is of \(own), \(other ?? "which is \(place) now")", own)
    }

    private func otherRoot(_ message: String, _ own: FilePath) -> ArchiverError {
        ArchiverError(
            .otherRoot, message,
            remedy: "restore it elsewhere with '--target DIR', or that directory itself with '--root \(own)'",
            path: own)
    }

    /// Makes sure that the catalogue tells of `snapshot` what the snapshot itself says.
    ///
    /// - Throws: `ArchiverError` of the code `damaged`.
    func checkListing(of snapshot: ListedSnapshot) throws {
        let own = try store.snapshot(snapshot.id)
        let place = try store.catalogue.place(of: own)
        if own.tree == snapshot.tree, place.path == snapshot.rootPath, place.machine == snapshot.machine { return }
        throw ArchiverError(
            .damaged, "the catalogue tells of snapshot \(snapshot.id.short) what the snapshot itself does not say",
            remedy: "'archiver repair --catalogue' makes the catalogue anew", path: directory)
    }
}
