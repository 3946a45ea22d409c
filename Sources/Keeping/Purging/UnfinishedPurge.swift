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
        // A line without an end was being written when the purge was killed; its snapshot does not exist yet.
        let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text[..<$0] } ?? []
        return try whole.split(separator: UInt8(ascii: "\n")).map { line in
            let ids = line.split(separator: UInt8(ascii: " ")).map { ChunkID(hex: String(decoding: $0, as: UTF8.self)) }
            guard ids.count == 2, let old = ids[0], let new = ids[1] else {
                throw StorageError(
                    .damaged, path, "\(path) does not list the snapshots that a purge has replaced",
                    remedy: "remove it and purge again; undoable operations may then be listed twice")
            }
            return (old, new)
        }
    }

    /// The last replacement of a snapshot: a second purge may have replaced the first one's.
    private static func last(_ first: SnapshotID, _ replaced: [SnapshotID: SnapshotID]) -> SnapshotID {
        var (last, seen): (SnapshotID, Set<SnapshotID>) = (first, [first])
        while let next = replaced[last], seen.insert(next).inserted { last = next }
        return last
    }

    /// Writes that the purge has begun, durably.
    mutating func begin() throws(FileError) {
        if hasBegun { return }
        if !exists { try DurableFile.replace(file, contents: []) }
        try append(purge, purge)
        hasBegun = true
    }

    /// Adds a replacement to the mark, durably, before the new snapshot is stored.
    mutating func add(_ old: SnapshotID, replacedBy new: SnapshotID) throws(FileError) {
        try begin()
        try append(old.chunk, new.chunk)
    }

    /// Writes that the purge has replaced every snapshot, durably.
    mutating func finishReplacing() throws(FileError) {
        try begin()
        if let zeros = UnfinishedPurge.zeros { try append(purge, zeros) }
    }

    private func append(_ first: ChunkID, _ second: ChunkID) throws(FileError) {
        let file = try file.open(O_RDWR)
        // A line that a killed purge did not finish is overwritten.
        let end = try FileStatus.read(file).size / UnfinishedPurge.lineBytes * UnfinishedPurge.lineBytes
        try file.write(Array("\(first.hex) \(second.hex)\n".utf8), at: UInt64(end), path: path)
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
