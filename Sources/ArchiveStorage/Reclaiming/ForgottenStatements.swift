// What says of snapshots and states that they are forgotten, or listed again, goes once no segment has those any more: else
// an archive that is thinned for years holds little else.

internal import ArchiveFormat
internal import Foundation
internal import GRDB

extension ChunkKind {
    /// Whether it speaks of other records, and means nothing once they are gone.
    var isOfForgetting: Bool { self == .forgotten || self == .unforgotten }
}

extension ArchiveStore {
    /// The records that a chunk of the kinds *forgotten* and *unforgotten* speaks of.
    func named(in chunk: ChunkID, _ kind: ChunkKind) throws(StorageError) -> [ChunkID] {
        try kind == .forgotten
            ? record(chunk, as: ForgottenRecords.self).records : record(chunk, as: UnforgottenRecords.self).records
    }

    /// Whether some segment beside `segments` has one of the records that a chunk speaks of.
    func isOfSomethingLeft(
        _ chunk: ChunkID, _ kind: ChunkKind, besides segments: Set<Int64> = []
    ) throws(StorageError) -> Bool {
        for id in try named(in: chunk, kind) {
            for copy in try catalogue.copies(beginning: ChunkPrefix(id)) where copy.id == id {
                if !segments.contains(copy.location.segment) { return true }
            }
        }
        return false
    }

    /// The blocks that hold nothing but what speaks of records that no segment has, by their packed locations.
    func blocksOfForgettingTheGone() throws(StorageError) -> Set<Int64> {
        guard try mayForgetStatements() else { return [] }
        var lasting: [BlockLocation] = []
        try catalogue.forEachBlock { location, block in
            if block.isLasting { lasting.append(location) }
        }
        var found: Set<Int64> = []
        for location in lasting {
            let header = try blockHeader(at: location)
            if header.obstacle != nil { continue }
            if try isOfTheGone(header) { found.insert(location.packed) }
        }
        return found
    }

    /// Whether what speaks of the gone may go: not where damage is known, as what cannot be read now may be there again
    /// later, and must not be listed then.
    func mayForgetStatements() throws(StorageError) -> Bool { try catalogue.damage().isEmpty }

    private func isOfTheGone(_ header: BlockHeader) throws(StorageError) -> Bool {
        for chunk in header.chunks {
            guard chunk.kind.isOfForgetting else { return false }
            if try isOfSomethingLeft(chunk.id, chunk.kind) { return false }
        }
        return true
    }
}

extension Catalogue {
    /// Forgets that records which no segment has any more were forgotten.
    func forgetStatements(of gone: Set<ChunkID>) throws(StorageError) {
        if gone.isEmpty { return }
        try write { db in
            let statement = try db.cachedStatement(
                sql: "DELETE FROM forgotten WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM chunk WHERE id = ?1)")
            for id in gone { try statement.execute(arguments: [Data(id.bytes)]) }
        }
    }
}
