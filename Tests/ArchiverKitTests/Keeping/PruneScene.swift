// A root with a long history in small segments, for tests of thinning and pruning.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import ArchiverKit

/// An archive with small segments, and the expected tree of each of its snapshots.
final class PruneScene {
    let sandbox: Sandbox
    /// A second object of the sandbox's archive, opened with the small segment size.
    private(set) var archive: Archive
    private(set) var snapshots: [ListedSnapshot] = []
    private var listings: [SnapshotID: TreeListing] = [:]

    var root: Files { sandbox.root }
    var store: ArchiveStore { archive.store }

    init(segmentBytes: Int = 40_000) throws {
        sandbox = try Sandbox()
        let directory = sandbox.archive.directory
        let manifest = Files(directory)
        let changed = try ArchiveManifest(decoding: manifest.read("archive.json"), segmentBytes: segmentBytes)
        try manifest.write("archive.json", changed.encoded())
        archive = try Archive.open(directory)
    }

    /// Captures the root, which must differ from its latest snapshot, and remembers its tree.
    @discardableResult
    func capture() throws -> ListedSnapshot {
        let snapshot = try #require(try archive.capture(root.directory).snapshot)
        try remember(snapshot)
        return snapshot
    }

    /// Remembers the root's tree as the one that `snapshot` must restore.
    func remember(_ snapshot: ListedSnapshot) throws {
        snapshots.append(snapshot)
        listings[snapshot.id] = try TreeListing(of: root.directory)
    }

    /// Replaces the archive object.
    func reopen(withNewCatalogue isRebuilt: Bool) throws {
        archive.store.releaseWriters()
        archive = try isRebuilt ? rebuild() : Archive.open(archive.directory)
    }

    /// Forgets all snapshots except the last and those that `isKept` selects by index.
    func thin(keeping isKept: (Int) -> Bool) throws {
        let last = snapshots.count - 1
        let gone = snapshots.indices.filter { $0 != last && !isKept($0) }
        try store.forget(Set(gone.map { snapshots[$0].id.chunk }))
        snapshots = snapshots.indices.filter { !gone.contains($0) }.map { snapshots[$0] }
    }

    /// Expects `snapshot`, which was brought back, to be listed from now on.
    func expectBack(_ snapshot: ListedSnapshot) throws {
        snapshots.insert(snapshot, at: 0)
        let listed = try archive.snapshots().map(\.id)
        #expect(listed.contains(snapshot.id))
    }

    /// No longer expects `snapshot`.
    func leaveOut(_ snapshot: ListedSnapshot) { snapshots.removeAll { $0.id == snapshot.id } }

    /// Forgets the snapshot at `index`.
    func forget(at index: Int) throws { try store.forget([snapshots.remove(at: index).id.chunk]) }

    /// Expects `archive` to list exactly the kept snapshots, and to restore each byte for byte.
    func expectAllKept(
        _ archive: Archive? = nil, _ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let archive = try archive ?? Archive.open(self.archive.directory)
        let listed = try archive.snapshots().map(\.id)
        #expect(Set(listed) == Set(snapshots.map(\.id)), Comment(rawValue: comment), sourceLocation: sourceLocation)
        for snapshot in snapshots {
            let target = sandbox.base.directory.appending("restored")
            _ = try archive.restore(snapshot, RestoreOptions(target: target))
            let wanted = try #require(listings[snapshot.id])
            try TreeListing(of: target).expect(
                equals: wanted, "\(snapshot.id.short) \(comment)", sourceLocation: sourceLocation)
            try Files(target).removeAll()
        }
        let check = try archive.check(data: true)
        #expect(check.findings == [], Comment(rawValue: comment), sourceLocation: sourceLocation)
        #expect(check.goodSnapshots == snapshots.count, sourceLocation: sourceLocation)
    }

    /// Rebuilds the catalogue.
    func rebuild() throws -> Archive {
        // A rebuild skips segments that are being written.
        store.releaseWriters()
        let directory = archive.directory
        for suffix in ["", "-wal", "-shm"] {
            unlink(directory.appending("catalogue.sqlite").string + suffix)
        }
        return try Archive.open(directory)
    }

    /// Returns the files of the segments with their bytes.
    func segments() throws -> [FilePath: [UInt8]] {
        var found: [FilePath: [UInt8]] = [:]
        for path in try Files(archive.directory).segments() { found[path] = try Files("/").read(path) }
        return found
    }

    var bytes: Int { get throws { try segments().values.reduce(0) { $0 + $1.count } } }
}
