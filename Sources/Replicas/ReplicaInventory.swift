// The objects of a replica, from one listing.

package import ObjectStore

/// What a replica has, by segments.
package struct ReplicaInventory: Sendable {
    /// A piece of a segment.
    package struct Piece: Sendable, Hashable {
        package let offset: Int
        package let length: Int
        /// The length of the object.
        package let objectBytes: UInt64

        package var end: Int { offset + length }

        package func object(of path: String) -> ReplicaObject { .piece(path: path, offset: offset, length: length) }
    }

    /// The lengths of the objects with whole segments, by their paths.
    package private(set) var segments: [String: UInt64] = [:]
    /// The pieces of segments, by offset, the longest of one offset first.
    package private(set) var pieces: [String: [Piece]] = [:]
    /// The checkpoints, oldest first, with the lengths of the objects.
    package private(set) var checkpoints: [(name: String, bytes: UInt64)] = []
    /// Names of objects that are no part of a replica.
    package private(set) var strangers: [String] = []
    package private(set) var bytes: UInt64 = 0

    /// The objects with these segments, by their paths, as they are remembered.
    init(segments: [String: UInt64]) { self.segments = segments }

    /// Lists the objects.
    package init(_ objects: any ObjectStore) throws {
        try objects.list("") { entry in
            bytes += entry.length
            switch ReplicaObject(entry.name) {
            case .segment(let path): segments[path] = entry.length
            case .piece(let path, let offset, let length):
                pieces[path, default: []].append(Piece(offset: offset, length: length, objectBytes: entry.length))
            case .checkpoint(let name): checkpoints.append((name, entry.length))
            case nil:
                if entry.name.text != ReplicaObject.manifest, !entry.name.text.hasPrefix(ReplicaProbe.prefix) {
                    strangers.append(entry.name.text)
                }
            }
        }
        checkpoints.sort { $0.name < $1.name }
        for path in pieces.keys {
            pieces[path]?.sort { $0.offset != $1.offset ? $0.offset < $1.offset : $0.length > $1.length }
        }
    }

    /// The paths of all segments, oldest first.
    package var paths: [String] { Set(segments.keys).union(pieces.keys).sorted() }

    /// The pieces that together are a segment from its start as far as possible, each continuing the one before.
    ///
    /// Pieces may overlap: all have the same bytes where they do.
    package func chain(of path: String) -> [Piece] {
        var (chain, end) = ([Piece](), 0)
        var rest = (pieces[path] ?? [])[...]
        while true {
            // Of those that begin here or before, the one that reaches farthest.
            var best: Piece?
            while let piece = rest.first, piece.offset <= end {
                if piece.end > best?.end ?? end { best = piece }
                rest.removeFirst()
            }
            guard let best else { return chain }
            chain.append(best)
            end = best.end
        }
    }

    /// The objects that a segment is read from.
    package func parts(of path: String) -> [(object: ReplicaObject, bytes: UInt64, offset: Int)] {
        if let bytes = segments[path] { return [(.segment(path: path), bytes, 0)] }
        return chain(of: path).map { ($0.object(of: path), $0.objectBytes, $0.offset) }
    }

    /// Whether pieces are missing in the middle of a segment.
    package func hasHole(in path: String) -> Bool {
        guard let pieces = pieces[path] else { return false }
        return (chain(of: path).last?.end ?? 0) < (pieces.map(\.end).max() ?? 0)
    }
}
