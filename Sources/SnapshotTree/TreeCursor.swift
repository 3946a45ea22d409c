// A position in a tree: moves forward only, and reads only the nodes it stops in.

package import ArchiveFormat
package import FileIO

/// A place between a tree's entries, moving forward in walk order; holds one node a level.
package struct TreeCursor<Source: NodeSource> {
    /// What lies next: one entry, or a whole node that has not been opened.
    package enum Item {
        case entry(Entry)
        /// A node of `level`; `isLast` where no node of that level follows it in the tree.
        case node(Node.Child, level: Int, isLast: Bool)
    }

    private struct Frame {
        var node: Node
        var index = 0
        var isLast: Bool

        var count: Int {
            switch node {
            case .leaf(let entries): entries.count
            case .inner(_, let children): children.count
            }
        }
    }

    private let source: Source
    private var frames: [Frame] = []

    /// A cursor before the first entry of the tree whose root node is `root`.
    package init(_ root: ChunkID, in source: Source) throws(Source.Failure) {
        self.source = source
        frames.append(Frame(node: try source.node(root, level: nil), isLast: true))
        dropFinishedFrames()
    }

    /// The level of the node that the next item is part of; nil at the end.
    package var level: Int? { frames.last?.node.level }

    /// The next item without opening it; nil at the end.
    package var item: Item? {
        guard let frame = frames.last else { return nil }
        switch frame.node {
        case .leaf(let entries): return .entry(entries[frame.index])
        case .inner(let level, let children):
            let isLast = frame.isLast && frame.index == children.count - 1
            return .node(children[frame.index], level: level - 1, isLast: isLast)
        }
    }

    /// The path of the first entry in the next item; nil at the end.
    package var path: RelativePath? {
        guard let frame = frames.last else { return nil }
        return firstPath(in: frame.node, at: frame.index)
    }

    /// The path of the first entry behind the next item; nil where the tree ends with it.
    package var followingPath: RelativePath? {
        guard let frame = frames.last else { return nil }
        if frame.index + 1 < frame.count { return firstPath(in: frame.node, at: frame.index + 1) }
        // In the nodes above, the index is already behind the child that was opened.
        for above in frames.dropLast().reversed() where above.index < above.count {
            return firstPath(in: above.node, at: above.index)
        }
        return nil
    }

    /// Moves behind the next item without opening it.
    package mutating func skip() {
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].index += 1
        dropFinishedFrames()
    }

    /// Opens the next item, a node, so that its first part is next.
    package mutating func open() throws(Source.Failure) {
        guard case .node(let child, let level, let isLast) = item else { return }
        let node = try source.node(child.id, level: level)
        frames[frames.count - 1].index += 1
        // The finished parents stay below until their last child is done.
        frames.append(Frame(node: node, isLast: isLast))
        dropFinishedFrames()
    }

    /// Opens nodes until an entry is next.
    ///
    /// - Returns: the entry; nil at the end.
    package mutating func entry() throws(Source.Failure) -> Entry? {
        while let next = item {
            switch next {
            case .entry(let entry): return entry
            case .node: try open()
            }
        }
        return nil
    }

    /// The next entry, moving behind it; nil at the end.
    package mutating func next() throws(Source.Failure) -> Entry? {
        guard let entry = try entry() else { return nil }
        skip()
        return entry
    }

    /// Moves forward to the first entry whose path is not before `target`; opens only nodes on the way to it.
    package mutating func seek(to target: RelativePath) throws(Source.Failure) {
        while let path {
            if !(path < target) { return }
            if let following = followingPath, !(target < following) {
                skipWithinFrame(to: target)
            } else if case .node = item {
                try open()
            } else {
                skip()
            }
        }
    }

    /// Skips items of the present node that end before `target`, by halving.
    private mutating func skipWithinFrame(to target: RelativePath) {
        let last = frames.count - 1
        let frame = frames[last]
        var low = frame.index + 1
        var high = frame.count
        while low < high {
            let middle = (low + high) / 2
            if target < firstPath(in: frame.node, at: middle) { high = middle } else { low = middle + 1 }
        }
        // `low` is the first item that starts behind the target; the one before it may hold the target.
        frames[last].index = low - 1 == frame.index ? low : low - 1
        dropFinishedFrames()
    }

    private func firstPath(in node: Node, at index: Int) -> RelativePath {
        switch node {
        case .leaf(let entries): entries[index].path
        case .inner(_, let children): children[index].firstPath
        }
    }

    private mutating func dropFinishedFrames() {
        while let frame = frames.last, frame.index >= frame.count { frames.removeLast() }
    }
}
