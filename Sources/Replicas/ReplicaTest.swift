// Reads a random sample of files from the replica alone, and compares it with the archive.

package import Age
internal import ArchiveFormat
internal import ArchiveStorage
package import Archives
internal import FileIO
internal import ObjectStore
package import Roots
internal import SystemPackage

/// What a test of a replica read.
package struct ReplicaTestResult: Sendable {
    package var snapshots = 0
    package var files = 0
    package var bytes: UInt64 = 0
    /// What differs or cannot be read; each a sentence.
    package var problems: [String] = []
}

extension Archive {
    private static let testedFiles = 20
    private static let pieceBytes: UInt64 = 4 << 20
    /// The most entries of a snapshot that a file is chosen from.
    private static let entriesLimit = 200_000

    /// Restores a random sample of files from a replica alone, and compares them with this archive's.
    package func testReplica(
        _ name: ReplicaName, _ identities: [AgeIdentity], stores: ReplicaStores = .all
    ) throws(ArchiverError) -> ReplicaTestResult {
        let replicator = try replicator(name, stores: stores)
        defer { replicator.objects.close() }
        let pass = try replicator.send()
        let reader = try ReplicaReader(replicator.objects, identities, signer: replicator.sealer.signer)
        let replica = try Archive.reading(reader)
        var result = ReplicaTestResult()
        result.problems = pass.problems
        let there = Set(try replica.snapshots().map(\.id))
        let here = try snapshots()
        for snapshot in here where !there.contains(snapshot.id) {
            // One that was made since the replica was complete is not missed.
            if let end = try facing({ try ReplicaProgress.read(name.text, in: store.layout) })?.completeUntil,
                snapshot.time < end
            {
                result.problems.append("snapshot \(snapshot.id.short) is not in the replica")
            }
        }
        let common = here.filter { there.contains($0.id) }
        result.snapshots = common.count
        for _ in 0..<Archive.testedFiles {
            guard let snapshot = common.randomElement(), let entry = try randomFile(in: snapshot) else { break }
            do {
                let copy = try replica.entry(at: entry.path, in: snapshot)
                guard let copy, copy.size == entry.size else {
                    result.problems.append("'\(entry.path)' of \(snapshot.id.short) is not in the replica")
                    continue
                }
                if try !isEqual(entry, copy, in: replica) {
                    result.problems.append("'\(entry.path)' of \(snapshot.id.short) differs in the replica")
                }
            } catch {
                result.problems.append("'\(entry.path)' of \(snapshot.id.short): \(error.message)")
            }
            result.files += 1
            result.bytes += entry.size
        }
        if result.problems.isEmpty {
            try facing {
                var progress = try ReplicaProgress.read(name.text, in: store.layout) ?? ReplicaProgress()
                progress.tested = .now
                try progress.write(name.text, in: store.layout)
            }
        }
        return result
    }

    private func isEqual(_ entry: Entry, _ copy: Entry, in replica: Archive) throws(ArchiverError) -> Bool {
        var position: UInt64 = 0
        while position < entry.size {
            let range = position..<min(entry.size, position + Archive.pieceBytes)
            if try read(entry, range: range) != replica.read(copy, range: range) { return false }
            position = range.upperBound
        }
        return true
    }

    /// A file of the snapshot, each with the same probability; nil if it has none.
    private func randomFile(in snapshot: ListedSnapshot) throws(ArchiverError) -> Entry? {
        var chosen: Entry?
        var (files, entries) = (0, 0)
        try forEachEntry(in: snapshot) { entry in
            entries += 1
            if entry.kind == .file {
                files += 1
                if Int.random(in: 0..<files) == 0 { chosen = entry }
            }
            return entries < Archive.entriesLimit
        }
        return chosen
    }

    /// How messages call a replica that is read: its address is no path.
    private static var replica: FilePath { "the replica" }

    /// Opens a replica as an archive that can only be read.
    package static func reading(_ reader: ReplicaReader) throws(ArchiverError) -> Archive {
        try facing {
            let segments = try ReplicaSegments(reader)
            let checkpoint = try segments.checkpoint()
            if checkpoint == nil { try reader.requireFitting(segments.inventory) }
            func open(_ copy: CatalogueCopy?) throws(StorageError) -> ArchiveStore {
                try ArchiveStore.open(
                    reading: segments, of: reader.manifest.archive, named: Archive.replica, beginningWith: copy)
            }
            do throws(StorageError) { return Archive.reading(try open(checkpoint), named: Archive.replica) } catch {
                // Another version of this program may have made it.
                guard checkpoint != nil, error.code == .damaged else { throw error }
                return Archive.reading(try open(nil), named: Archive.replica)
            }
        }
    }
}
