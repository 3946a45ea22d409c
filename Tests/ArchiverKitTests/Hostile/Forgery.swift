// Writes archives with correct checksums and any content that a test needs.

import ArchiveFormat
import ArchiveStorage
import Compression
import FileIO
import Glibc
import Roots
import SystemPackage

@testable import ArchiverKit

/// An archive that is written chunk by chunk, without the rules of a capture.
///
/// It uses the program's encoders and writers, so its bytes follow the format. Its catalogue is rebuilt from the
/// segments when it is opened for the first time.
final class Forgery {
    /// The archive.
    let directory: FilePath
    /// The root recorded in its snapshots.
    let rootPath: FilePath
    /// Changes the bytes of one chunk before its id is computed; `place` is the number of chunks before it.
    var change: (place: Int, body: ([UInt8]) -> [UInt8])?
    private var store: ArchiveStore?
    private var writer: CommitWriter?

    /// Writes an archive with everything that `build` adds.
    static func write(
        to directory: FilePath, of rootPath: FilePath, _ build: (Forgery) throws -> Void
    ) throws {
        let forgery = try Forgery(directory, rootPath)
        try build(forgery)
        try forgery.finish()
    }

    private init(_ directory: FilePath, _ rootPath: FilePath) throws {
        self.directory = directory
        self.rootPath = rootPath
        let store = try ArchiveStore.open(directory, creating: true)
        writer = try store.beginCommit()
        self.store = store
    }

    private func finish() throws {
        try writer?.commitChunks()
        writer = nil
        store = nil
        for name in ["catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
            unlink(directory.appending(name).string)
        }
    }

    // MARK: Chunks

    /// Adds a chunk in a block of its own.
    @discardableResult
    func add(_ kind: ChunkKind, _ bytes: [UInt8]) throws -> ChunkID {
        var bytes = bytes
        if let change {
            if change.place == 0 { bytes = change.body(bytes) }
            self.change?.place -= 1
        }
        let chunk = RawChunk(kind: kind, bytes: bytes)
        var encoder = try BlockEncoder(level: 1)
        if try writer?.claim(chunk.id) == true { try writer?.append(encoder.encode([chunk])) }
        return chunk.id
    }

    /// Adds a chunk as a delta against `base`, and treats the block of `base` as one of depth `depth`.
    @discardableResult
    func add(_ kind: ChunkKind, _ bytes: [UInt8], on base: [UInt8], claimedDepth depth: Int) throws -> ChunkID {
        let chunk = RawChunk(kind: kind, bytes: bytes)
        let base = BaseChunk(id: ChunkID(hashing: base), bytes: base, depth: depth)
        var encoder = try BlockEncoder(level: 1)
        try writer?.append(encoder.encode([chunk], bases: [base]))
        return chunk.id
    }

    /// Adds a block of chunks that are encoded as the instructions `delta` against `bases`.
    func add(_ chunks: [RawChunk], delta: [UInt8], bases: [ChunkID], claimedDepth depth: Int) throws {
        let payload = Forgery.number(delta.count) + delta
        let header = BlockHeader(
            codec: .delta, depth: depth, storedLength: payload.count,
            payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: bases.map { ChunkPrefix($0) },
            chunks: chunks.map { BlockHeader.Chunk(kind: $0.kind, length: $0.bytes.count, id: $0.id) })
        try writer?.append(EncodedBlock(header: header, payload: payload))
    }

    /// A number in the encoding of blocks.
    static func number(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        LEB128.append(number, to: &bytes)
        return bytes
    }

    func content(_ bytes: [UInt8]) throws -> ChunkID { try add(.content, bytes) }

    func list(_ slices: [Slice]) throws -> ChunkID { try add(.sliceList, SliceList(slices: slices).encoded()) }

    /// Adds a list of slices and returns it with its correct length.
    func listed(_ slices: [Slice]) throws -> ListedSlices {
        ListedSlices(length: SliceList(slices: slices).length, list: try list(slices))
    }

    func node(_ node: Node) throws -> ChunkID { try add(.node, node.encoded()) }

    /// Adds a leaf and returns it as its parent records it.
    func leaf(_ entries: [Entry]) throws -> Node.Child {
        Node.Child(
            firstPath: entries.first?.path ?? .root, id: try node(.leaf(entries)), entries: UInt64(entries.count),
            bytes: entries.reduce(0) { $0 &+ $1.size })
    }

    /// Adds an inner node and returns it as its parent records it.
    func inner(_ level: Int, _ children: [Node.Child]) throws -> Node.Child {
        Node.Child(
            firstPath: children.first?.firstPath ?? .root, id: try node(.inner(level: level, children: children)),
            entries: children.reduce(0) { $0 &+ $1.entries }, bytes: children.reduce(0) { $0 &+ $1.bytes })
    }

    // MARK: Snapshots

    /// Adds a snapshot with these leaves, and with correct totals by default.
    @discardableResult
    func snapshot(
        _ leaves: [Entry]..., totals: Totals? = nil
    ) throws -> SnapshotID {
        let children = try leaves.map(leaf)
        let root = children.count == 1 ? children[0].id : try inner(1, children).id
        return try snapshot(tree: root, totals: totals ?? Forgery.totals(leaves.flatMap { $0 }))
    }

    /// Adds a snapshot of any tree.
    @discardableResult
    func snapshot(
        tree: ChunkID, totals: Totals, changes: ChangeCounts = ChangeCounts(), storedBytes: UInt64 = 0,
        parent: SnapshotID? = nil
    ) throws -> SnapshotID {
        var snapshot = record(tree: tree, totals: totals)
        snapshot.changes = changes
        snapshot.storedBytes = storedBytes
        snapshot.parent = parent
        return SnapshotID(try add(.snapshot, snapshot.encoded()))
    }

    /// Adds a snapshot of one node in whose bytes `part` is replaced.
    func snapshot(node: Node, with part: [UInt8], replacedBy new: [UInt8]) throws {
        var bytes = node.encoded()
        if let place = bytes.firstRange(of: part) { bytes.replaceSubrange(place, with: new) }
        try snapshot(tree: add(.node, bytes), totals: Totals(files: 1, directories: 1, bytes: 1))
    }

    /// The first snapshot of the root.
    func record(tree: ChunkID, totals: Totals) -> Snapshot {
        Snapshot(
            time: Timestamp(seconds: 1_700_000_000), rootPath: rootPath.bytes, host: CurrentProcess.hostName,
            cause: .capture, tree: tree, totals: totals, changes: ChangeCounts(), storedBytes: 0, machine: Machine.id)
    }

    static func totals(_ entries: [Entry]) -> Totals {
        var totals = Totals()
        for entry in entries {
            switch entry.kind {
            case .file: totals.files += 1
            case .directory: totals.directories += 1
            default: totals.others += 1
            }
            totals.bytes = totals.bytes &+ entry.size
        }
        return totals
    }
}

extension Entry {
    /// An entry whose path is given as text.
    static func forged(
        _ path: String, _ kind: FileKind = .file, _ content: Content = .none, group: UInt64? = nil
    ) -> Entry {
        Entry(
            path: RelativePath(unchecked: Array(path.utf8)), kind: kind,
            permissions: kind == .directory ? 0o755 : 0o644, owner: geteuid(), group: getegid(),
            modified: Timestamp(seconds: 1_600_000_000), content: content, linkGroup: group,
            signature: group.map { Signature(inode: $0, changed: Timestamp(seconds: 1_600_000_001)) })
    }

    /// The entry of a file that had changed just before it was read.
    var unsettled: Entry {
        var entry = self
        entry.signature = nil
        return entry
    }

    static func forged(_ path: String, text: String, group: UInt64? = nil) -> Entry {
        .forged(path, .file, .inline(Array(text.utf8)), group: group)
    }

    /// The root's own entry.
    static var forgedRoot: Entry { .forged("", .directory) }
}
