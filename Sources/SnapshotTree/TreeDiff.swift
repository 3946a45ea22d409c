// Compares two trees by merging them; shared nodes are skipped without reading them.

package import ArchiveFormat
package import FileIO

/// A path at which two trees differ.
package struct TreeDifference: Sendable {
    /// The left tree's entry; nil if only the right tree has the path.
    package let left: Entry?
    /// The right tree's entry; nil if only the left tree has the path.
    package let right: Entry?
}

/// The differences between two trees in walk order; reads only nodes that the trees do not share.
package struct TreeDiff<Source: NodeSource> {
    private var left: TreeCursor<Source>
    private var right: TreeCursor<Source>
    private let scope: RelativePath

    /// Compares the trees `left` and `right` at `scope` and below it.
    package init(
        left: ChunkID, right: ChunkID, in source: Source, scope: RelativePath = .root
    ) throws(Source.Failure) {
        self.left = try TreeCursor(left, in: source)
        self.right = try TreeCursor(right, in: source)
        self.scope = scope
        if left == right {
            self.left.skipAll()
            self.right.skipAll()
        } else if !scope.isRoot {
            try self.left.seek(to: scope)
            try self.right.seek(to: scope)
        }
    }

    /// Returns the next difference in state; a difference in signatures alone does not count.
    ///
    /// - Returns: nil at the end.
    package mutating func next() throws(Source.Failure) -> TreeDifference? {
        while true {
            let leftItem = inScope(left)
            let rightItem = inScope(right)
            switch (leftItem, rightItem) {
            case (nil, nil):
                return nil
            case (let item?, nil):
                if case .entry(let entry) = item {
                    left.skip()
                    return TreeDifference(left: entry, right: nil)
                }
                try left.open()
            case (nil, let item?):
                if case .entry(let entry) = item {
                    right.skip()
                    return TreeDifference(left: nil, right: entry)
                }
                try right.open()
            case (let leftItem?, let rightItem?):
                if let difference = try compare(leftItem, rightItem) { return difference }
            }
        }
    }

    /// Performs one step of the merge while both trees have items left.
    private mutating func compare(
        _ leftItem: TreeCursor<Source>.Item, _ rightItem: TreeCursor<Source>.Item
    ) throws(Source.Failure) -> TreeDifference? {
        switch (leftItem, rightItem) {
        case (.entry(let leftEntry), .entry(let rightEntry)):
            if leftEntry.path < rightEntry.path {
                left.skip()
                return TreeDifference(left: leftEntry, right: nil)
            }
            if rightEntry.path < leftEntry.path {
                right.skip()
                return TreeDifference(left: nil, right: rightEntry)
            }
            left.skip()
            right.skip()
            return leftEntry.hasSameState(as: rightEntry) ? nil : TreeDifference(left: leftEntry, right: rightEntry)
        case (.entry(let entry), .node(let child, _, _)):
            if entry.path < child.firstPath {
                left.skip()
                return TreeDifference(left: entry, right: nil)
            }
            try right.open()
        case (.node(let child, _, _), .entry(let entry)):
            if entry.path < child.firstPath {
                right.skip()
                return TreeDifference(left: nil, right: entry)
            }
            try left.open()
        case (.node(let leftChild, let leftLevel, _), .node(let rightChild, let rightLevel, _)):
            if leftChild.id == rightChild.id {
                left.skip()
                right.skip()
            } else if leftLevel > rightLevel {
                try left.open()
            } else if rightLevel > leftLevel {
                try right.open()
            } else if leftChild.firstPath < rightChild.firstPath {
                try left.open()
            } else if rightChild.firstPath < leftChild.firstPath {
                try right.open()
            } else {
                try left.open()
                try right.open()
            }
        }
        return nil
    }

    private func inScope(_ cursor: TreeCursor<Source>) -> TreeCursor<Source>.Item? {
        if scope.isRoot { return cursor.item }
        guard let path = cursor.path, scope.contains(path) else { return nil }
        return cursor.item
    }
}

extension TreeCursor {
    /// Moves to the end.
    mutating func skipAll() {
        while item != nil { skip() }
    }
}
