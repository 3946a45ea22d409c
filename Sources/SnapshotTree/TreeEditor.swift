// Makes a new tree from an old one and a stream of edits: a merge in walk order that reuses as many nodes as it can.

package import ArchiveFormat
package import FileIO

/// A change to one path of a tree.
package struct TreeEdit: Sendable {
    package let path: RelativePath
    /// The path's new entry; nil to remove the path.
    package let entry: Entry?

    /// Puts `entry` at its path and replaces an existing entry.
    package static func put(_ entry: Entry) -> TreeEdit { TreeEdit(path: entry.path, entry: entry) }

    /// Removes the entry at `path` if there is one.
    package static func remove(_ path: RelativePath) -> TreeEdit { TreeEdit(path: path, entry: nil) }
}

/// Makes a new tree from an old one and edits in walk order.
///
/// Reads and rewrites only the nodes with an edited path; it shares all others with the old tree.
package struct TreeEditor<Source: NodeSource, Sink: NodeSink<Source.Failure>> {
    package typealias Failure = Source.Failure

    private var old: TreeCursor<Source>?
    private var builder: TreeBuilder<Sink>

    /// An editor of the tree `base`, or of the empty tree if that is nil.
    ///
    /// - Parameter shape: decides where new nodes end; nodes of a base with another shape stay as they are.
    package init(
        base: ChunkID?, source: Source, sink: Sink, shape: TreeShape = .standard
    ) throws(Failure) {
        builder = TreeBuilder(sink: sink, shape: shape)
        if let base {
            old = try TreeCursor(base, in: source)
            if let level = old?.level { builder.opened(base, level: level) }
        }
    }

    /// Applies the next edit; its path must come after the previous one in walk order.
    package mutating func apply(_ edit: TreeEdit) throws(Failure) {
        try copy(until: edit.path)
        if old?.path == edit.path { old?.skip() }
        if let entry = edit.entry { try builder.add(entry) }
    }

    /// Copies the rest of the old tree and finishes the new one.
    ///
    /// - Returns: the new tree's root node.
    package mutating func finish() throws(Failure) -> ChunkID {
        try copy(until: nil)
        return try builder.finish()
    }

    /// Copies the old tree's entries before `target`, or all remaining ones if that is nil.
    ///
    /// Afterwards the next item of the old tree, if any, is an entry at `target` or comes after it.
    private mutating func copy(until target: RelativePath?) throws(Failure) {
        while let item = old?.item, let path = old?.path {
            if let target, target < path { return }
            switch item {
            case .entry(let entry):
                if path == target { return }
                try builder.add(entry)
                old?.skip()
            case .node(let child, let level, let isLast):
                let endsBefore = target.map { target in old?.followingPath.map { !(target < $0) } ?? false } ?? true
                // The last node of a level may have ended with the tree rather than by a cut. Then nothing must follow
                // it, and if the new tree has nothing else, it could be a superfluous node above an only child.
                let mayStand = !isLast || (target == nil && !builder.isEmpty)
                if endsBefore, mayStand, builder.canAddNode(level: level) {
                    try builder.add(child, level: level)
                    old?.skip()
                } else {
                    builder.opened(child.id, level: level)
                    try old?.open()
                }
            }
        }
    }
}
