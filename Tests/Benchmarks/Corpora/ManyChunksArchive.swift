// An archive with many chunks, for rebuilding a lost catalogue.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SystemPackage
internal import TestSupport

/// An archive of tiny chunks, packed together as small files are, and one snapshot.
enum ManyChunksArchive {
    private static let chunkBytes = 48
    private static let chunksPerBlock = 128
    private static let blocksPerCommit = 256

    /// Creates the archive in `directory`, with at least `count` chunks.
    static func make(in directory: FilePath, chunks count: Int) throws {
        let store = try ArchiveStore.open(directory, creating: true)
        var random = SeededGenerator(seed: 1)
        var encoder = try BlockEncoder(level: 1)
        let blocks = (count + chunksPerBlock - 1) / chunksPerBlock
        for first in stride(from: 0, to: blocks, by: blocksPerCommit) {
            try Interruption.check()
            let writer = try store.beginCommit()
            for _ in first..<min(first + blocksPerCommit, blocks) {
                let chunks = (0..<chunksPerBlock).map { _ in
                    RawChunk(kind: .content, bytes: random.noise(chunkBytes))
                }
                guard try chunks.allSatisfy({ try writer.claim($0.id) }) else {
                    throw BenchmarkError("a chunk came twice")
                }
                try writer.append(encoder.encode(chunks))
            }
            try writer.commitChunks()
        }
        let writer = try store.beginCommit()
        let node = RawChunk(kind: .node, bytes: Node.leaf([]).encoded())
        if try writer.claim(node.id) { try writer.append(encoder.encode([node])) }
        let snapshot = Snapshot(
            time: .now, rootPath: Array("/nowhere".utf8), host: "host", cause: .capture, tree: node.id,
            totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
        _ = try writer.commit(snapshot, base: nil)
    }
}
