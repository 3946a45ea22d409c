// Removes segments from the local disk that a replica has, and brings them back.

package import ArchiveFormat
internal import FileIO

/// Removes sealed segments from the local disk.
///
/// What the segments that stay depend on is stored again before: so everything on the local disk can be read without the
/// replica. Captures go on meanwhile, and no other process reclaims. It can be stopped at any moment.
package final class SegmentEviction {
    /// A segment, and where the replica has it.
    package struct Victim: Sendable {
        package let segment: ListedSegment
        package let away: AwaySegment

        package init(_ segment: ListedSegment, _ away: AwaySegment) { (self.segment, self.away) = (segment, away) }
    }

    private let store: ArchiveStore
    private let joined: JoinedSegments
    /// Nil in an archive that cannot be written to.
    private let lock: FileLock?

    private var catalogue: Catalogue { store.catalogue }

    /// A segment stays if more than this part of it would be stored again.
    private static let neededShare = 4

    /// - Throws: `StorageError` with the code `inUse` if another process reclaims, `readOnly`.
    package init(_ store: ArchiveStore, isDryRun: Bool) throws(StorageError) {
        if !isDryRun { try store.requireWritable() }
        guard let joined = store.joined else {
            throw StorageError(.readOnly, store.layout.directory, "\(store.layout.directory) has no local segments")
        }
        self.store = store
        self.joined = joined
        lock = try store.withoutReclaimers(isWaiting: false)
        if !isDryRun { try resume() }
    }

    /// Ends what a killed process has begun: a listed segment that has its file is local.
    private func resume() throws(StorageError) {
        let back = try joined.listedWithFiles()
        if !back.isEmpty { try release(back) }
    }

    private func release(_ paths: Set<String>) throws(StorageError) {
        try catalogue.markLocal(catalogue.segments().filter { paths.contains($0.path) }.map(\.number))
        try joined.change { away in for path in paths { away[path] = nil } }
    }

    // MARK: What must stay

    /// The chunks of `victims` that must be on the local disk: `nodes`, and the bases of blocks in segments that stay.
    private func needed(
        of victims: Set<Int64>, _ nodes: Set<ChunkID>
    ) throws(StorageError) -> [ChunkID: BlockLocation] {
        let away = try catalogue.awaySegments()
        var needed: [ChunkID: BlockLocation] = [:]
        for id in nodes {
            guard let place = try catalogue.location(of: id) else { continue }
            if victims.contains(place.segment) || away.contains(place.segment) { needed[id] = place }
        }
        var bases: Set<ChunkPrefix> = []
        try catalogue.forEachBlock { location, block in
            if victims.contains(location.segment) || away.contains(location.segment) { return }
            bases.formUnion(block.bases)
        }
        for base in bases {
            guard let (id, place) = try catalogue.chunk(beginning: base), victims.contains(place.segment) else {
                continue
            }
            needed[id] = place
        }
        return needed
    }

    /// What would be stored again if segments left.
    package struct Copies: Sendable {
        /// The segments that should stay, because too much of each would be stored again.
        package var staying: Set<Int64> = []
        /// The most bytes that the copies take.
        package var bytes = 0
    }

    /// What would be stored again if `victims` left.
    ///
    /// - Parameter nodes: chunks that must be on the local disk.
    package func copies(of victims: [ListedSegment], _ nodes: Set<ChunkID>) throws(StorageError) -> Copies {
        let needed = try needed(of: Set(victims.map(\.number)), nodes)
        var copies = Copies()
        var bytes: [Int64: Int] = [:]
        for place in Set(needed.values) {
            bytes[place.segment, default: 0] += try catalogue.block(at: place)?.length ?? 0
        }
        for (id, place) in needed {
            copies.bytes += try store.blockHeader(at: place).chunks.first { $0.id == id }?.length ?? 0
        }
        copies.staying = Set(
            victims.filter { (bytes[$0.number] ?? 0) * SegmentEviction.neededShare > $0.indexedLength }.map(\.number))
        return copies
    }

    // MARK: Removing

    /// Removes segments from the local disk; each must be verified in its replica.
    ///
    /// - Parameters:
    ///   - nodes: returns the chunks that must be on the local disk; called when no commit is running that began before.
    ///   - isCancelled: polled.
    /// - Returns: those that were removed.
    package func remove(
        _ victims: [Victim], nodes: () throws -> Set<ChunkID>, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> [Victim] {
        if victims.isEmpty { return [] }
        try joined.change { away in for victim in victims { away[victim.away.path] = victim.away } }
        var leaving = victims
        do {
            try catalogue.markAway(victims.map(\.segment.number))
            // A commit that began before may have chosen a base in these segments.
            if try store.waitForCommits(isCancelled) != nil {
                try release(Set(victims.map(\.away.path)))
                return []
            }
            let nodes = try nodes()
            while !leaving.isEmpty {
                let staying = try copies(of: leaving.map(\.segment), nodes).staying
                if staying.isEmpty { break }
                try release(Set(leaving.filter { staying.contains($0.segment.number) }.map(\.away.path)))
                leaving.removeAll { staying.contains($0.segment.number) }
            }
            let numbers = Set(leaving.map(\.segment.number))
            try copy(needed(of: numbers, nodes), isCancelled)
            guard try needed(of: numbers, nodes).isEmpty else {
                throw StorageError(
                    .system, store.layout.directory, "segments stay on the local disk: others depend on them")
            }
        } catch {
            try? release(Set(leaving.map(\.away.path)))
            throw error
        }
        // A process that opens the archive compares the catalogue with the files.
        let opening = try UseLock.opening(store.layout)
        defer { withExtendedLifetime(opening) {} }
        var removed: [Victim] = []
        for victim in leaving {
            guard store.segments.length(of: victim.away.path) == victim.away.bytes else { continue }
            try joined.removeFile(victim.away.path)
            removed.append(victim)
        }
        store.closeRemovedSegments()
        return removed
    }

    /// Stores chunks again, without bases.
    private func copy(
        _ needed: [ChunkID: BlockLocation], _ isCancelled: () -> Bool
    ) throws(StorageError) {
        if needed.isEmpty { return }
        // In a new segment: reads use the copy with the highest number.
        let commit = try store.beginCommit(in: store.createSegment())
        do throws(StorageError) {
            var chunks = PackedChunks()
            var records = PackedChunks()
            for (id, place) in needed.sorted(by: { $0.value.packed < $1.value.packed }) {
                if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
                let header = try store.blockHeader(at: place)
                guard let kind = header.chunks.first(where: { $0.id == id })?.kind else {
                    throw StorageError.missing(id, in: store.layout.directory)
                }
                let chunk = RawChunk(id: id, kind: kind, bytes: try store.read(id))
                if kind.isRecord { records.add(chunk) } else { chunks.add(chunk) }
                if chunks.isFull { try append(&chunks, to: commit) }
                if records.isFull { try append(&records, to: commit) }
            }
            try append(&chunks, to: commit)
            try append(&records, to: commit)
            try commit.commitChunks()
        } catch {
            commit.abandon()
            throw error
        }
    }

    private struct PackedChunks {
        var chunks: [RawChunk] = []
        var bytes = 0
        var isFull: Bool { bytes >= BlockEncoder.packedBytes }

        mutating func add(_ chunk: RawChunk) {
            chunks.append(chunk)
            bytes += chunk.bytes.count
        }
    }

    private func append(_ packed: inout PackedChunks, to commit: CommitWriter) throws(StorageError) {
        if packed.chunks.isEmpty { return }
        // Blocks before a record must be durable: otherwise a power failure looks like damage.
        if packed.chunks.contains(where: \.kind.isRecord) { try commit.synchronize() }
        try commit.append(store.encode(packed.chunks))
        packed = PackedChunks()
    }

    // MARK: Bringing back

    /// Makes a segment local whose file is back in its place, durably.
    package func enterFile(of away: AwaySegment) throws(StorageError) { try release([away.path]) }
}
