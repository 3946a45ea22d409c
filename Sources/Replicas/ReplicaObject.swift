// The names of a replica's objects: segments, pieces of segments, and the description of the replica.

internal import ArchiveFormat
package import ObjectStore

/// What an object of a replica holds.
package enum ReplicaObject: Sendable, Hashable {
    /// A sealed segment, by its path below the archive's `segments`.
    case segment(path: String)
    /// The bytes of an open segment from `offset`; they end where a commit was durable.
    case piece(path: String, offset: Int, length: Int)
    /// A copy of the catalogue, by its name: a time.
    case checkpoint(name: String)

    /// The object that describes the replica, in clear.
    package static let manifest = "archiver-replica.json"
    package static let segments = "segments/"
    package static let pieces = "tails/"
    package static let checkpoints = "checkpoints/"
    private static let suffix = ".age"

    /// The path of the segment that it belongs to; nil for a checkpoint.
    package var path: String? {
        switch self {
        case .segment(let path), .piece(let path, _, _): path
        case .checkpoint: nil
        }
    }

    /// The object's name.
    package var text: String {
        switch self {
        case .segment(let path): ReplicaObject.segments + path + ReplicaObject.suffix
        case .piece(let path, let offset, let length):
            "\(ReplicaObject.folder(ofPieces: path))/\(offset)-\(length)\(ReplicaObject.suffix)"
        case .checkpoint(let name): ReplicaObject.checkpoints + name + ReplicaObject.suffix
        }
    }

    package var name: ObjectName? { ObjectName(text) }

    /// Parses the name of an object; nil if it is none of a replica's.
    package init?(_ name: ObjectName) {
        guard name.text.hasSuffix(ReplicaObject.suffix) else { return nil }
        let text = name.text.dropLast(ReplicaObject.suffix.count)
        if text.hasPrefix(ReplicaObject.segments) {
            let path = String(text.dropFirst(ReplicaObject.segments.count))
            guard SegmentName(fileName: ReplicaObject.file(path))?.path == path else { return nil }
            self = .segment(path: path)
        } else if text.hasPrefix(ReplicaObject.pieces) {
            let parts = text.dropFirst(ReplicaObject.pieces.count).split(
                separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let segment = SegmentName(fileName: String(parts[0])) else { return nil }
            let numbers = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard numbers.count == 2, let offset = Int(numbers[0]), let length = Int(numbers[1]), offset >= 0,
                length > 0, offset <= ReplicaObject.lengthLimit, length <= ReplicaObject.lengthLimit
            else { return nil }
            self = .piece(path: segment.path, offset: offset, length: length)
            guard self.text == name.text else { return nil }
        } else if text.hasPrefix(ReplicaObject.checkpoints) {
            let name = String(text.dropFirst(ReplicaObject.checkpoints.count))
            guard ReplicaTime(objectName: name) != nil else { return nil }
            self = .checkpoint(name: name)
        } else {
            return nil
        }
    }

    /// What the names of a segment's pieces begin with, without the slash.
    static func folder(ofPieces path: String) -> String { pieces + file(path) }

    /// No segment has an offset of this size or more.
    private static let lengthLimit = 1 << 33

    private static func file(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
