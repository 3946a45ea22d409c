// A snapshot's tree: looks up one path, or walks a part.

package import ArchiveFormat
package import FileIO

/// The ordered map from paths to entries of one snapshot.
package struct Tree<Source: NodeSource> {
    /// The root node.
    package let root: ChunkID
    package let source: Source

    package init(_ root: ChunkID, in source: Source) {
        self.root = root
        self.source = source
    }

    /// Returns the entry at `path`, or nil if there is none; reads one node per level.
    package func entry(at path: RelativePath) throws(Source.Failure) -> Entry? {
        var cursor = try TreeCursor(root, in: source)
        try cursor.seek(to: path)
        // If the path is missing, its successor may be in a node that need not be opened.
        return cursor.path == path ? try cursor.entry() : nil
    }

    /// Calls `body` with the entry at `path` and all entries below it, in walk order, until it returns false.
    package func forEach(
        at path: RelativePath = .root, _ body: (Entry) throws(Source.Failure) -> Bool
    ) throws(Source.Failure) {
        var cursor = try TreeCursor(root, in: source)
        try cursor.seek(to: path)
        while let entry = try cursor.next(), path.contains(entry.path) {
            guard try body(entry) else { return }
        }
    }
}
