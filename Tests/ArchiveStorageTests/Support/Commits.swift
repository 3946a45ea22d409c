// Small commits and their expected contents.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import Testing

/// A finished commit: its record and all its chunks.
struct Commit: Sendable {
    let record: ListedSnapshot
    let snapshot: Snapshot
    let chunks: [ChunkID: [UInt8]]

    var id: SnapshotID { record.id }
}

extension ArchiveStore {
    /// Appends each of `contents` in its own block, a node, and a snapshot with the time and label `number`.
    func commit(_ number: Int, _ contents: [[UInt8]], parent: Commit? = nil) throws -> Commit {
        let writer = try beginCommit()
        do {
            return try append(number, contents, parent: parent, to: writer)
        } catch {
            writer.abandon()
            throw error
        }
    }

    private func append(
        _ number: Int, _ contents: [[UInt8]], parent: Commit?, to writer: CommitWriter
    ) throws -> Commit {
        var encoder = try BlockEncoder(level: 1)
        var chunks: [ChunkID: [UInt8]] = [:]
        for content in contents {
            let chunk = RawChunk(kind: .content, bytes: content)
            chunks[chunk.id] = content
            if try writer.claim(chunk.id) { try writer.append(encoder.encode([chunk])) }
        }
        let entries = contents.enumerated().map { index, content in
            let slice = Slice(length: UInt64(content.count), chunk: ChunkID(hashing: content))
            return Entry(
                path: RelativePath(unchecked: Array("f\(1000 + index)".utf8)), kind: .file, permissions: 0o644,
                modified: Timestamp(seconds: Int64(number)), content: .slices([slice]))
        }
        let node = RawChunk(kind: .node, bytes: Node.leaf(entries).encoded())
        chunks[node.id] = node.bytes
        if try writer.claim(node.id) { try writer.append(encoder.encode([node])) }
        let snapshot = Snapshot(
            time: Timestamp(seconds: Int64(number)), rootPath: Array("/root".utf8), host: "host", cause: .capture,
            label: "\(number)", parent: parent?.id, tree: node.id, totals: Totals(files: UInt64(contents.count)),
            changes: ChangeCounts(added: 1), storedBytes: UInt64(writer.storedBytes),
            sequence: UInt64(number) + 1)
        let record = try writer.commit(snapshot, base: parent.flatMap { try base($0.id.chunk) })
        return Commit(record: record, snapshot: snapshot, chunks: chunks)
    }

    /// Whether the archive has all of `commit`, unchanged.
    func holds(_ commit: Commit) throws -> Bool {
        guard try catalogue.hasSnapshot(commit.id), try snapshot(commit.id) == commit.snapshot else { return false }
        return try commit.chunks.allSatisfy { id, bytes in try read(id) == bytes }
    }
}

extension ListedSnapshot {
    /// A snapshot that is in no segment.
    static func sample(
        _ number: Int, at time: Timestamp, sequence: UInt64 = 1, root: String = "/root"
    ) -> ListedSnapshot {
        let id = ChunkID(hashing: Array("snapshot \(number)".utf8))
        return ListedSnapshot(
            id: SnapshotID(id), time: time, rootPath: Array(root.utf8), host: "host",
            cause: Cause.allCases[number % Cause.allCases.count], label: number % 3 == 0 ? "label\0\(number)" : nil,
            parent: number % 4 == 0 ? nil : SnapshotID(id), tree: id,
            totals: Totals(files: 1, directories: 2, others: 3, bytes: 4),
            changes: ChangeCounts(added: 5, modified: 6, removed: 7), problems: 8, storedBytes: UInt64(number),
            sequence: sequence)
    }
}

extension MachineID {
    static let sample = MachineID(deriving: Array("sample".utf8))
}

extension GapRecord {
    /// A gap at the second `number`, different for each number.
    static func sample(_ number: Int, root: String = "/root") -> GapRecord {
        GapRecord(
            rootPath: Array(root.utf8), host: "host", cause: GapCause.allCases[number % GapCause.allCases.count],
            start: Timestamp(seconds: Int64(number)), end: Timestamp(seconds: Int64(number), nanoseconds: 5),
            detail: number % 2 == 0 ? nil : "number \(number)")
    }
}

extension OperationRecord {
    /// An operation at the second `number`, different for each number.
    static func sample(_ number: Int, root: String = "/root") -> OperationRecord {
        let id = ChunkID(hashing: Array("\(number)".utf8))
        let kind = OperationKind.allCases[number % OperationKind.allCases.count]
        return OperationRecord(
            rootPath: Array(root.utf8), host: "host", kind: kind, time: Timestamp(seconds: Int64(number)),
            before: number % 3 == 0 && kind != .mark ? nil : SnapshotID(id),
            snapshot: number % 5 == 0 ? nil : SnapshotID(id),
            path: number % 2 == 0 ? .root : RelativePath(unchecked: [0x61, UInt8(number % 200 + 48)]),
            target: kind == .restore ? nil : OperationID(id), name: number % 4 == 0 ? "turn \(number)" : nil)
    }
}

/// The `StorageError` that `body` throws; nil if it throws none.
func failure<Result>(_ body: () throws -> Result) throws -> StorageError? {
    do {
        _ = try body()
        return nil
    } catch let error as StorageError {
        return error
    }
}

/// The only segment of the archive in `directory`.
func onlySegment(in directory: FilePath) throws -> FilePath {
    let segments = directory.appending("segments")
    let names = try segments.filesBelow()
    #expect(names.count == 1)
    return segments.pushing(FilePath(try #require(names.first)))
}
