// A position in a tree that moves forward only, and reads only the nodes that it stops in.

package import ArchiveFormat
package import FileIO

/// A place between a tree's entries that moves forward in walk order; holds one node per level.
///
/// Inlinable, so that it is specialised for the caller's source.
package struct TreeCursor<Source: NodeSource> {
    package typealias Item = TreePosition.Item

    @usableFromInline let source: Source
    @usableFromInline var position: TreePosition

    /// A cursor before the first entry of the tree whose root node is `root`.
    @inlinable
    package init(_ root: ChunkID, in source: Source) throws(Source.Failure) {
        self.source = source
        position = TreePosition(root: try source.node(root, at: nil))
    }

    /// The level of the node that contains the next item; nil at the end.
    @inlinable
    package var level: Int? { position.level }

    /// The next item without opening it; nil at the end.
    @inlinable
    package var item: Item? { position.item }

    /// The path of the first entry in the next item; nil at the end.
    @inlinable
    package var path: RelativePath? { position.path }

    /// The path of the first entry after the next item; nil if the tree ends with that item.
    @inlinable
    package var followingPath: RelativePath? { position.followingPath }

    /// Moves past the next item without opening it.
    @inlinable
    package mutating func skip() { position.skip() }

    /// Opens the next item, a node, so that its first part is next.
    @inlinable
    package mutating func open() throws(Source.Failure) {
        guard let place = position.child else { return }
        position.open(try source.node(place.child.id, at: place))
    }

    /// Opens nodes until an entry is next.
    ///
    /// - Returns: the entry; nil at the end.
    @inlinable
    package mutating func entry() throws(Source.Failure) -> Entry? {
        while position.child != nil { try open() }
        return position.entry
    }

    /// Returns the next entry and moves past it; nil at the end.
    @inlinable
    package mutating func next() throws(Source.Failure) -> Entry? {
        guard let entry = try entry() else { return nil }
        skip()
        return entry
    }

    /// Moves forward to the first entry whose path is not before `target`; opens only nodes on the way to it.
    @inlinable
    package mutating func seek(to target: RelativePath) throws(Source.Failure) {
        while position.advance(to: target) { try open() }
    }

    /// Moves past the next entry if it is the one at `path` and `accepts` returns true.
    ///
    /// - Parameter path: the bytes of a path that is not before the next item.
    /// - Returns: whether it moved.
    @inlinable
    package mutating func skipEntry(
        at path: [UInt8], where accepts: (borrowing Entry) -> Bool
    ) throws(Source.Failure) -> Bool {
        while true {
            switch position.skipEntry(at: path, where: accepts) {
            case .skipped: return true
            case .stayed: return false
            case .closed: try open()
            }
        }
    }
}
