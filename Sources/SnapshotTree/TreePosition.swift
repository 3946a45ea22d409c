// A place in a tree; the caller reads the nodes. It is not generic, so that moving it, which a capture does once per
// file, is compiled for its concrete types.

package import ArchiveFormat
package import FileIO

/// A place between a tree's entries that moves forward in walk order; holds one node per level.
package struct TreePosition {
    /// The next item: one entry, or a node that has not been opened.
    package enum Item {
        case entry(Entry)
        /// A node of `level`; `isLast` if no node of that level follows it in the tree.
        case node(Node.Child, level: Int, isLast: Bool)
    }

    /// An inner node; in all but the innermost, the index is already past the child that was opened.
    private struct Frame {
        let level: Int
        let children: [Node.Child]
        var index = 0
        let isLast: Bool
    }

    private var frames: [Frame] = []
    /// The entries of the current leaf; empty outside of leaves.
    private var entries: [Entry] = []
    private var index = 0

    /// A place before the first entry of the tree with the root node `root`.
    package init(root: Node) {
        enter(root, isLast: true)
    }

    private var isInLeaf: Bool { index < entries.count }

    /// The level of the node that contains the next item; nil at the end.
    package var level: Int? { isInLeaf ? 0 : frames.last?.level }

    /// The next item; nil at the end.
    package var item: Item? {
        if isInLeaf { return .entry(entries[index]) }
        guard let frame = frames.last else { return nil }
        let isLast = frame.isLast && frame.index == frame.children.count - 1
        return .node(frame.children[frame.index], level: frame.level - 1, isLast: isLast)
    }

    /// The next item if it is an entry.
    package var entry: Entry? { isInLeaf ? entries[index] : nil }

    /// The next item if it is a node.
    package var child: NodePlace? {
        guard !isInLeaf, let frame = frames.last else { return nil }
        return NodePlace(of: frame.children[frame.index], level: frame.level - 1, end: followingPath)
    }

    /// The path of the first entry in the next item; nil at the end.
    package var path: RelativePath? {
        if isInLeaf { return entries[index].path }
        guard let frame = frames.last else { return nil }
        return frame.children[frame.index].firstPath
    }

    /// The path of the first entry after the next item; nil if the tree ends with that item.
    package var followingPath: RelativePath? {
        if isInLeaf {
            return index + 1 < entries.count ? entries[index + 1].path : firstPath(in: frames[...])
        }
        guard let frame = frames.last else { return nil }
        if frame.index + 1 < frame.children.count { return frame.children[frame.index + 1].firstPath }
        return firstPath(in: frames.dropLast())
    }

    /// Moves past the next item.
    package mutating func skip() {
        if isInLeaf {
            index += 1
            dropFinished()
        } else if !frames.isEmpty {
            frames[frames.count - 1].index += 1
            dropFinished()
        }
    }

    /// Enters the next item, whose content is `node`.
    package mutating func open(_ node: Node) {
        guard !isInLeaf, let frame = frames.last else { return }
        let isLast = frame.isLast && frame.index == frame.children.count - 1
        frames[frames.count - 1].index += 1
        // Finished parents stay on the stack until their last child is done.
        enter(node, isLast: isLast)
    }

    /// Moves towards the first entry whose path is not before `target`, until a node must be opened.
    ///
    /// - Returns: whether the next item is a node that must be opened.
    package mutating func advance(to target: RelativePath) -> Bool {
        while let path {
            if !(path < target) { return false }
            if let following = followingPath, !(target < following) {
                skipWithinNode(to: target)
            } else if isInLeaf {
                skip()
            } else {
                return true
            }
        }
        return false
    }

    /// The result of `skipEntry(at:where:)`.
    package enum Passage {
        case skipped
        case stayed
        /// The next item is a node that begins with the path.
        case closed
    }

    /// Moves past the next item if it is the entry at `path` and `accepts` returns true; copies nothing.
    package mutating func skipEntry(at path: [UInt8], where accepts: (borrowing Entry) -> Bool) -> Passage {
        if isInLeaf {
            guard entries[index].path.bytes == path, accepts(entries[index]) else { return .stayed }
            skip()
            return .skipped
        }
        guard let frame = frames.last else { return .stayed }
        return frame.children[frame.index].firstPath.bytes == path ? .closed : .stayed
    }

    /// Skips items of the current node that end before `target`, by binary search.
    private mutating func skipWithinNode(to target: RelativePath) {
        if isInLeaf {
            index = TreePosition.place(of: target, in: entries, from: index, \.path)
        } else {
            let last = frames.count - 1
            frames[last].index = TreePosition.place(
                of: target, in: frames[last].children, from: frames[last].index, \.firstPath)
        }
        dropFinished()
    }

    /// The index of the last item after `start` that begins at or before `target`, or `start + 1` if there is none.
    private static func place<Item>(
        of target: RelativePath, in items: [Item], from start: Int, _ path: (Item) -> RelativePath
    ) -> Int {
        var low = start + 1
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if target < path(items[middle]) { high = middle } else { low = middle + 1 }
        }
        // `low` is the first item that begins after the target; the previous one may contain the target.
        return low - 1 == start ? low : low - 1
    }

    /// The first path after the nodes below `frames`.
    private func firstPath(in frames: ArraySlice<Frame>) -> RelativePath? {
        for above in frames.reversed() where above.index < above.children.count {
            return above.children[above.index].firstPath
        }
        return nil
    }

    private mutating func enter(_ node: Node, isLast: Bool) {
        switch node {
        case .leaf(let entries):
            self.entries = entries
            index = 0
        case .inner(let level, let children):
            frames.append(Frame(level: level, children: children, isLast: isLast))
        }
        dropFinished()
    }

    private mutating func dropFinished() {
        if isInLeaf { return }
        while let frame = frames.last, frame.index >= frame.children.count { frames.removeLast() }
    }
}
