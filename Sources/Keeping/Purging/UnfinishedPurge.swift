// The mark of a purge that has begun: if it was killed, the next one knows what is left to do.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A purge that has begun to remove and has not finished, with the replacement of each snapshot.
///
/// The catalogue cannot tell: the replaced snapshots are forgotten, and parts of them may be in no segment any more.
/// Each line has two ids: a snapshot and its replacement, a purge twice when it has begun, or a purge and zeros when it
/// has replaced every snapshot, so that any later purge removes the rest.
struct UnfinishedPurge {
    private let file: EnclosedPath
    private let purge: ChunkID
    private var hasBegun = false
    /// Enough for some eight million snapshots.
    private static let byteLimit = 1 << 30

    private var path: FilePath { file.path }

    /// Bytes of a line: two ids in hex digits, a space and a line feed.
    private static let lineBytes = 4 * UInt64(ChunkID.byteCount) + 2
    private static let zeros = ChunkID(hex: String(repeating: "0", count: 2 * ChunkID.byteCount))

    /// - Parameter purge: the id of the purge's target.
    init(_ layout: ArchiveLayout, of purge: ChunkID) {
        file = layout.unfinishedPurge
        self.purge = purge
    }

    /// Whether there is one.
    var exists: Bool { (try? file.status) != nil }

    /// Returns the last replacement of each snapshot; empty if there is no unfinished purge.
    ///
    /// - Throws: `StorageError` with the code `damaged` if the file is malformed.
    func replaced() throws -> [SnapshotID: SnapshotID] {
        var replaced: [SnapshotID: SnapshotID] = [:]
        for (old, new) in try lines() where old != new && new != UnfinishedPurge.zeros {
            replaced[SnapshotID(old)] = SnapshotID(new)
        }
        return replaced.mapValues { UnfinishedPurge.last($0, replaced) }
    }

    /// Returns the purges that have begun and not yet replaced every snapshot.
    func incomplete() throws -> Set<ChunkID> {
        var incomplete: Set<ChunkID> = []
        for (first, second) in try lines() {
            if first == second { incomplete.insert(first) }
            if second == UnfinishedPurge.zeros { incomplete.remove(first) }
        }
        return incomplete
    }

    private func lines() throws -> [(ChunkID, ChunkID)] {
        guard exists else { return [] }
        let text = try file.open(O_RDONLY).readToEnd(limit: UnfinishedPurge.byteLimit, path: path)
        let length = Int(UnfinishedPurge.lineBytes)
        var lines: [(ChunkID, ChunkID)] = []
        for start in stride(from: 0, through: text.count - length, by: length) {
            guard let line = UnfinishedPurge.line(text[start..<start + length]) else {
                // The last line was being written when the purge ended; its snapshot does not exist yet.
                if start + 2 * length > text.count { break }
                throw StorageError(
                    .damaged, path, "\(path) does not list the snapshots that a purge has replaced",
                    remedy: "remove it and purge again; undoable operations may then be listed twice")
            }
            lines.append(line)
        }
        return lines
    }

    /// Parses a line with its line feed; nil if it is not whole.
    private static func line(_ bytes: ArraySlice<UInt8>) -> (ChunkID, ChunkID)? {
        guard bytes.last == UInt8(ascii: "\n") else { return nil }
        let ids = bytes.dropLast().split(separator: UInt8(ascii: " ")).map {
            ChunkID(hex: String(decoding: $0, as: UTF8.self))
        }
        guard ids.count == 2, let first = ids[0], let second = ids[1] else { return nil }
        return (first, second)
    }

    /// The last replacement of a snapshot: a second purge may have replaced the first one's.
    private static func last(_ first: SnapshotID, _ replaced: [SnapshotID: SnapshotID]) -> SnapshotID {
        var (last, seen): (SnapshotID, Set<SnapshotID>) = (first, [first])
        while let next = replaced[last], seen.insert(next).inserted { last = next }
        return last
    }

    /// Writes that the purge has begun, durably.
    mutating func begin() throws {
        if hasBegun { return }
        if !exists { try DurableFile.replace(file, contents: []) }
        try append(purge, purge)
        hasBegun = true
    }

    /// Adds a replacement to the mark, durably, before the new snapshot is stored.
    mutating func add(_ old: SnapshotID, replacedBy new: SnapshotID) throws {
        try begin()
        try append(old.chunk, new.chunk)
    }

    /// Writes that the purge has replaced every snapshot, durably.
    mutating func finishReplacing() throws {
        try begin()
        if let zeros = UnfinishedPurge.zeros { try append(purge, zeros) }
    }

    private func append(_ first: ChunkID, _ second: ChunkID) throws {
        let file = try file.open(O_RDWR)
        // A line that was not written to its end is overwritten; after a power failure it may have its full length.
        var end = try FileStatus.read(file).size / UnfinishedPurge.lineBytes * UnfinishedPurge.lineBytes
        if end > 0 {
            var last = [UInt8](repeating: 0, count: Int(UnfinishedPurge.lineBytes))
            _ = try last.withUnsafeMutableBytes {
                try file.read(into: $0, at: end - UnfinishedPurge.lineBytes, path: path)
            }
            if UnfinishedPurge.line(last[...]) == nil { end -= UnfinishedPurge.lineBytes }
        }
        try file.write(Array("\(first.hex) \(second.hex)\n".utf8), at: end, path: path)
        try file.synchronizeData(path: path)
    }

    /// Removes the mark, durably, unless another purge has still snapshots to replace.
    func end() throws {
        let others = try incomplete().subtracting([purge])
        if !others.isEmpty {
            let lines = others.map { "\($0.hex) \($0.hex)\n" }.sorted()
            return try DurableFile.replace(file, contents: Array(lines.joined().utf8))
        }
        try file.remove()
        try file.parent.openDirectory().synchronize(path: file.parent.path)
    }
}
