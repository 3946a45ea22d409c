// Where a tree's nodes come from and go to. The tree knows nothing of segments or files.

package import ArchiveFormat

/// Gives nodes by their ids.
package protocol NodeSource {
    associatedtype Failure: Error

    /// The node named `id`.
    ///
    /// - Parameter place: what the node's parent says of it; nil for the root of a tree.
    /// - Throws: where the node is missing, damaged, or not what `place` says (`NodePlace.problem(of:)`).
    func node(_ id: ChunkID, at place: NodePlace?) throws(Failure) -> Node
}

/// Takes new nodes and names them.
package protocol NodeSink<Failure> {
    associatedtype Failure: Error

    /// Stores `node` unless an equal one is there already.
    ///
    /// - Parameter predecessor: a stored node that is probably much like this one, so that storing the difference
    ///   suffices.
    /// - Returns: the node's id.
    func store(_ node: Node, predecessor: ChunkID?) throws(Failure) -> ChunkID
}
