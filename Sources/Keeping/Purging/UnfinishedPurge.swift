// The mark of a purge that has begun: if it was killed, the next one knows what is left to do.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A purge that has begun to remove and has not finished, with the replacement of each snapshot.
///
/// The catalogue cannot tell: the replaced snapshots are forgotten, and parts of them may be in no segment any more.
struct UnfinishedPurge {
    private let file: EnclosedPath
    /// Enough for some eight million snapshots.
    private static let byteLimit = 1 << 30

    private var path: FilePath { file.path }

    /// Bytes of a line: two ids in hex digits, a space and a line feed.
    private static let lineBytes = 4 * UInt64(ChunkID.byteCount) + 2

    init(_ layout: ArchiveLayout) { file = layout.unfinishedPurge }

    /// Whether there is one.
    var exists: Bool { (try? file.status) != nil }

    /// Returns the last replacement of each snapshot; empty if there is no unfinished purge.
    ///
    /// - Throws: `StorageError` with the code `damaged` if the file is malformed.
    func replaced() throws -> [SnapshotID: SnapshotID] {
        guard exists else { return [:] }
        var replaced: [SnapshotID: SnapshotID] = [:]
        let text = try file.open(O_RDONLY).readToEnd(limit: UnfinishedPurge.byteLimit, path: path)
        // A line without an end was being written when the purge was killed; its snapshot does not exist yet.
        let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text[..<$0] } ?? []
        for line in whole.split(separator: UInt8(ascii: "\n")) {
            let ids = line.split(separator: UInt8(ascii: " ")).map { ChunkID(hex: String(decoding: $0, as: UTF8.self)) }
            guard ids.count == 2, let old = ids[0], let new = ids[1] else {
                throw StorageError(
                    .damaged, path, "\(path) does not list the snapshots that a purge has replaced",
                    remedy: "remove it and purge again; undoable operations may then be listed twice")
            }
            replaced[SnapshotID(old)] = SnapshotID(new)
        }
        return replaced.mapValues { UnfinishedPurge.last($0, replaced) }
    }

    /// The last replacement of a snapshot: a second purge may have replaced the first one's.
    private static func last(_ first: SnapshotID, _ replaced: [SnapshotID: SnapshotID]) -> SnapshotID {
        var (last, seen): (SnapshotID, Set<SnapshotID>) = (first, [first])
        while let next = replaced[last], seen.insert(next).inserted { last = next }
        return last
    }

    /// Writes the mark, durably, unless there is one.
    func begin() throws(FileError) {
        if exists { return }
        try DurableFile.replace(file, contents: [])
    }

    /// Adds a replacement to the mark, durably, before the new snapshot is stored.
    func add(_ old: SnapshotID, replacedBy new: SnapshotID) throws(FileError) {
        try begin()
        let file = try file.open(O_RDWR)
        // A line that a killed purge did not finish is overwritten.
        let end = try FileStatus.read(file).size / UnfinishedPurge.lineBytes * UnfinishedPurge.lineBytes
        try file.write(Array("\(old.hex) \(new.hex)\n".utf8), at: UInt64(end), path: path)
        try file.synchronizeData(path: path)
    }

    /// Removes the mark, durably.
    func end() throws(FileError) {
        try file.remove()
        try file.parent.openDirectory().synchronize(path: file.parent.path)
    }
}
