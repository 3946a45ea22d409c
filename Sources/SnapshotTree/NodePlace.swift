// Checks a node against its parent. So no part of a tree is visited twice, and sums are correct.

package import ArchiveFormat
package import FileIO

/// A child of an inner node, with the path at which the next node begins.
package struct NodePlace: Sendable {
    package let child: Node.Child
    package let level: Int
    /// The first path after the node in its tree; nil at the tree's end.
    package let end: RelativePath?

    package init(of child: Node.Child, level: Int, end: RelativePath?) {
        self.child = child
        self.level = level
        self.end = end
    }

    /// How `node` contradicts its parent; nil if it does not.
    package func problem(of node: Node) -> String? {
        if node.level != level { return "a node has level \(node.level) instead of \(level)" }
        if node.firstPath != child.firstPath { return "a node does not begin with the path that its parent records" }
        if let end, let last = node.lastFirstPath, !(last < end) { return "a node overlaps the next node" }
        if node.entryCount != child.entries { return "a node has another number of entries than its parent records" }
        if node.byteCount != child.bytes { return "a node has another number of bytes than its parent records" }
        return nil
    }
}

extension Node {
    /// The path of the last entry, or the first path of the last child.
    fileprivate var lastFirstPath: RelativePath? {
        switch self {
        case .leaf(let entries): entries.last?.path
        case .inner(_, let children): children.last?.firstPath
        }
    }
}
