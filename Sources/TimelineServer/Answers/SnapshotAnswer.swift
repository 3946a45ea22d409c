// Snapshots, roots and names as the page receives them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Crypto
internal import FileIO
internal import Timeline

/// A path as text, with its bytes if they are not UTF-8.
struct NameAnswer: Encodable {
    let path: String
    let pathBytes: String?

    init(_ path: RelativePath) { self.init(path.bytes) }

    init(_ bytes: [UInt8]) {
        path = String(decoding: bytes, as: UTF8.self)
        pathBytes = String(validating: bytes, as: UTF8.self) == nil ? Base64URL.encoded(bytes) : nil
    }
}

struct SnapshotAnswer: Encodable {
    let id: String
    let short: String
    let root: String
    let time: Int64
    let label: String?
    let pinned: Bool
    let added: UInt64
    let modified: UInt64
    let removed: UInt64
    let storedBytes: UInt64
    let parent: String?

    init(_ snapshot: ListedSnapshot, _ pins: Set<ChunkID>) {
        id = snapshot.id.hex
        short = snapshot.id.short
        root = RootAnswer.id(snapshot.root)
        time = snapshot.time.milliseconds
        label = snapshot.label
        pinned = pins.contains(snapshot.id.chunk)
        (added, modified, removed) = (snapshot.changes.added, snapshot.changes.modified, snapshot.changes.removed)
        storedBytes = snapshot.storedBytes
        parent = snapshot.parent?.hex
    }
}

struct RootAnswer: Encodable {
    let id: String
    let path: String
    let pathBytes: String?
    let host: String
    let here: Bool
    let watched: Bool
    let snapshots: Int
    let first: SnapshotAnswer?
    let latest: SnapshotAnswer?

    /// Returns the name of a root in URLs, which does not reveal its path.
    static func id(_ root: ArchivedRoot) -> String {
        let digest = SHA256.hash(data: root.path.bytes + [0] + Array(root.machine.hex.utf8))
        return digest.prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

/// Names for contents: equal bytes mostly have the same name, so that the browser fetches them once.
enum ContentName {
    static func of(_ entry: Entry) -> String? {
        guard entry.kind == .file else { return nil }
        var hash = SHA256()
        switch entry.content {
        case .none, .linkTarget: break
        case .inline(let bytes):
            hash.update(data: [1])
            hash.update(data: bytes)
        case .slices(let slices):
            hash.update(data: [2])
            for slice in slices {
                hash.update(data: slice.chunk?.bytes ?? [])
                withUnsafeBytes(of: slice.length.littleEndian) { hash.update(bufferPointer: $0) }
            }
        case .sliceLists(let lists):
            hash.update(data: [3])
            for list in lists { hash.update(data: list.list.bytes) }
        }
        return Base64URL.encoded(Array(hash.finalize().prefix(18)))
    }
}
