// What a node has to keep of what its parent says. So nobody goes through a part of a tree twice, and sums are true.

package import ArchiveFormat
package import FileIO

/// A child of an inner node, and where the next one begins.
package struct NodePlace: Sendable {
    package let child: Node.Child
    package let level: Int
    /// What comes behind the node in its tree begins here; nil at the tree's end.
    package let end: RelativePath?

    package init(of child: Node.Child, level: Int, end: RelativePath?) {
        self.child = child
        self.level = level
        self.end = end
    }

    /// In which way `node` is not what its parent says; nil where it is.
    package func problem(of node: Node) -> String? {
        if node.level != level { return "a node is of level \(node.level) instead of \(level)" }
        if node.firstPath != child.firstPath { return "a node does not begin with the path that its parent names" }
        if let end, let last = node.lastFirstPath, !(last < end) { return "a node reaches into what comes behind it" }
        if node.entryCount != child.entries { return "a node has not as many entries as its parent says" }
        if node.byteCount != child.bytes { return "a node has not as many bytes as its parent says" }
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
