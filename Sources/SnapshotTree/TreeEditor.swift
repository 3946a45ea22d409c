// A new tree from an old one and a stream of edits: a merge in walk order that takes over every node it can.

package import ArchiveFormat
package import FileIO

/// A change to one path of a tree.
package struct TreeEdit: Sendable {
    package let path: RelativePath
    /// The path's new entry; nil where the path is to be removed.
    package let entry: Entry?

    /// Puts `entry` at its path, in place of what is there.
    package static func put(_ entry: Entry) -> TreeEdit { TreeEdit(path: entry.path, entry: entry) }

    /// Removes the entry at `path` if there is one.
    package static func remove(_ path: RelativePath) -> TreeEdit { TreeEdit(path: path, entry: nil) }
}

/// Makes a new tree out of an old one and edits that arrive in walk order.
///
/// Only nodes that hold an edited path are read and written anew; all others are shared with the old tree.
package struct TreeEditor<Source: NodeSource, Sink: NodeSink<Source.Failure>> {
    package typealias Failure = Source.Failure

    private var old: TreeCursor<Source>?
    private var builder: TreeBuilder<Sink>

    /// An editor of the tree `base`; of the tree of nothing where that is nil.
    ///
    /// - Parameter shape: where the new nodes end; nodes of a base of another shape stay as they are.
    package init(
        base: ChunkID?, source: Source, sink: Sink, shape: TreeShape = .standard
    ) throws(Failure) {
        builder = TreeBuilder(sink: sink, shape: shape)
        if let base {
            old = try TreeCursor(base, in: source)
            if let level = old?.level { builder.opened(base, level: level) }
        }
    }

    /// Applies the next edit; its path must come after the one before in walk order.
    package mutating func apply(_ edit: TreeEdit) throws(Failure) {
        try copy(until: edit.path)
        if old?.path == edit.path { old?.skip() }
        if let entry = edit.entry { try builder.add(entry) }
    }

    /// Takes over the rest of the old tree.
    ///
    /// - Returns: the new tree's root node.
    package mutating func finish() throws(Failure) -> ChunkID {
        try copy(until: nil)
        return try builder.finish()
    }

    /// Takes over what the old tree has before `target`; all the rest where that is nil.
    ///
    /// Afterwards the next item of the old tree, if any, is an entry at `target`, or lies behind it.
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
                // The last node of a level may have ended with the tree rather than by a cut: then nothing may follow
                // it, and alone in the new tree it might be a node too many above its only child.
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
