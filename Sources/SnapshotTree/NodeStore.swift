// The source and the sink of a tree's nodes. Trees do not depend on segments or files.

package import ArchiveFormat

/// Returns nodes by their ids.
package protocol NodeSource {
    associatedtype Failure: Error

    /// Returns the node with the id `id`.
    ///
    /// - Parameter place: the node's record in its parent; nil for the root of a tree.
    /// - Throws: if the node is missing, damaged, or contradicts `place` (`NodePlace.problem(of:)`).
    func node(_ id: ChunkID, at place: NodePlace?) throws(Failure) -> Node
}

/// Stores new nodes and returns their ids.
package protocol NodeSink<Failure> {
    associatedtype Failure: Error

    /// Stores `node` unless an equal one is stored already.
    ///
    /// - Parameter predecessor: a stored node that is probably similar, so that storing the difference suffices.
    /// - Returns: the node's id.
    func store(_ node: Node, predecessor: ChunkID?) throws(Failure) -> ChunkID
}
