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

    init(_ layout: ArchiveLayout) { file = layout.certificates.appending("unfinished") }

    /// Whether there is one.
    var exists: Bool { (try? file.status) != nil }

    /// Returns the replacement of each snapshot; empty if there is no unfinished purge.
    ///
    /// - Throws: `StorageError` with the code `damaged` if the file is malformed.
    func replaced() throws -> [SnapshotID: SnapshotID] {
        guard exists else { return [:] }
        var replaced: [SnapshotID: SnapshotID] = [:]
        let text = try file.open(O_RDONLY).readToEnd(limit: UnfinishedPurge.byteLimit, path: path)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let ids = line.split(separator: UInt8(ascii: " ")).map { ChunkID(hex: String(decoding: $0, as: UTF8.self)) }
            guard ids.count == 2, let old = ids[0], let new = ids[1] else {
                throw StorageError(
                    .damaged, path, "\(path) does not list the snapshots that a purge has replaced",
                    remedy: "remove it and purge again; undoable operations may then be listed twice")
            }
            replaced[SnapshotID(old)] = SnapshotID(new)
        }
        return replaced
    }

    /// Writes the mark, durably.
    func begin(replacing replaced: [SnapshotID: SnapshotID]) throws(FileError) {
        let lines = replaced.map { "\($0.key.hex) \($0.value.hex)\n" }.sorted()
        try DurableFile.replace(file, contents: Array(lines.joined().utf8))
    }

    /// Removes the mark, durably.
    func end() throws(FileError) {
        try file.remove()
        try file.parent.openDirectory().synchronize(path: file.parent.path)
    }
}
