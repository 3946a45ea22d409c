// A root with a long history in small segments, to be thinned and pruned.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import ArchiverKit

/// An archive whose segments are small, and what each of its snapshots must give.
final class PruneScene {
    let sandbox: Sandbox
    /// Another object of the archive in the sandbox, which knows of its small segments.
    private(set) var archive: Archive
    private(set) var snapshots: [ListedSnapshot] = []
    private var listings: [SnapshotID: TreeListing] = [:]

    var root: Files { sandbox.root }
    var store: ArchiveStore { archive.store }

    init(segmentBytes: Int = 40_000) throws {
        sandbox = try Sandbox()
        let directory = sandbox.archive.directory
        let manifest = Files(directory)
        let text = String(decoding: try manifest.read("archive.json"), as: UTF8.self)
        let found = try #require(text.firstRange(of: #/"segmentBytes" *: *[0-9]+/#))
        try manifest.write(
            "archive.json", text.replacingCharacters(in: found, with: #""segmentBytes": \#(segmentBytes)"#))
        archive = try Archive.open(directory)
    }

    /// Captures the root, which differs from its latest snapshot, and remembers how it is.
    @discardableResult
    func capture() throws -> ListedSnapshot {
        let snapshot = try #require(try archive.capture(root.directory).snapshot)
        try remember(snapshot)
        return snapshot
    }

    /// Remembers that the root is as `snapshot` must give it back.
    func remember(_ snapshot: ListedSnapshot) throws {
        snapshots.append(snapshot)
        listings[snapshot.id] = try TreeListing(of: root.directory)
    }

    /// Goes on with another object of the archive.
    func reopen(withNewCatalogue isRebuilt: Bool) throws {
        archive.store.giveUpWriters()
        archive = try isRebuilt ? rebuild() : Archive.open(archive.directory)
    }

    /// Forgets all snapshots but those that `isKept`, by their places in the history.
    func thin(keeping isKept: (Int) -> Bool) throws {
        let last = snapshots.count - 1
        let gone = snapshots.indices.filter { $0 != last && !isKept($0) }
        try store.forget(Set(gone.map { snapshots[$0].id.chunk }))
        snapshots = snapshots.indices.filter { !gone.contains($0) }.map { snapshots[$0] }
    }

    /// Counts on `snapshot` again, which was brought back.
    func expectBack(_ snapshot: ListedSnapshot) throws {
        snapshots.insert(snapshot, at: 0)
        let listed = try archive.snapshots().map(\.id)
        #expect(listed.contains(snapshot.id))
    }

    /// Counts on `snapshot` no more.
    func leaveOut(_ snapshot: ListedSnapshot) { snapshots.removeAll { $0.id == snapshot.id } }

    /// Forgets the snapshot at `index`.
    func forget(at index: Int) throws { try store.forget([snapshots.remove(at: index).id.chunk]) }

    /// Expects the archive to list what is kept, and to give all of it, byte for byte, through `archive`.
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

    /// Makes the catalogue anew.
    func rebuild() throws -> Archive {
        // What somebody writes to is left to its writer.
        store.giveUpWriters()
        let directory = archive.directory
        for suffix in ["", "-wal", "-shm"] {
            unlink(directory.appending("catalogue.sqlite").string + suffix)
        }
        return try Archive.open(directory)
    }

    /// The files of the segments with their bytes.
    func segments() throws -> [FilePath: [UInt8]] {
        var found: [FilePath: [UInt8]] = [:]
        for path in try Files(archive.directory).segments() { found[path] = try Files("/").read(path) }
        return found
    }

    var bytes: Int { get throws { try segments().values.reduce(0) { $0 + $1.count } } }
}
