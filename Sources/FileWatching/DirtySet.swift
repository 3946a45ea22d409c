// The set of paths that may have changed; its size is bounded.

internal import FileIO

/// A bounded set of path ranges, grouped by directory.
///
/// Too many names in one directory are replaced by all its children, and too many marks by subtrees. Both only widen
/// the ranges: a marked path stays covered until `take`.
package struct DirtySet {
    /// The most names marked in one directory; beyond that, all its children are marked.
    static let namesPerDirectory = 128
    /// The most marks in total; beyond that, the deepest are widened to subtrees.
    static let defaultLimit = 65_536

    private struct Marks {
        var names: Set<ArraySlice<UInt8>> = []
        var children = false
        var subtree = false
        var itself = false

        var count: Int { subtree || children ? 1 : names.count + (itself ? 1 : 0) }
    }

    private let limit: Int
    private var directories: [RelativePath: Marks] = [:]
    private var subtrees = 0
    private(set) var count = 0

    package init() {
        self.init(limit: DirtySet.defaultLimit)
    }

    init(limit: Int) {
        self.limit = limit
    }

    package var isEmpty: Bool { directories.isEmpty }

    package mutating func mark(_ range: PathRange) {
        if isInsideSubtree(range.path) { return }
        switch range {
        case .entry(let path):
            if let parent = path.parent {
                change(parent) { $0.names.insert(path.name) }
            }
            // Only the root has no parent directory.
            else {
                change(path) { $0.itself = true }
            }
        case .children(let path): change(path) { $0.children = true }
        case .subtree(let path): change(path) { $0.subtree = true }
        }
        if count > limit { widen() }
    }

    /// The marked ranges, normalised, in walk order.
    package var ranges: [PathRange] {
        var all = [PathRange]()
        all.reserveCapacity(count)
        for (directory, marks) in directories {
            if marks.subtree {
                all.append(.subtree(directory))
            } else if marks.children {
                all.append(.children(directory))
            } else {
                if marks.itself { all.append(.entry(directory)) }
                for name in marks.names { all.append(.entry(directory.appending(name))) }
            }
        }
        all.sort()
        return normalised(all)
    }

    /// The marked ranges; the set is empty afterwards.
    mutating func take() -> [PathRange] {
        let taken = ranges
        self = DirtySet(limit: limit)
        return taken
    }

    private func normalised(_ sorted: [PathRange]) -> [PathRange] {
        var kept = [PathRange]()
        var subtree: RelativePath?
        for range in sorted {
            if let subtree, subtree.contains(range.path) { continue }
            // Of two ranges at one path the wider comes later and replaces the other.
            if let last = kept.last, last.path == range.path { kept.removeLast() }
            if case .entry(let path) = range, let parent = path.parent, directories[parent]?.children == true {
                continue
            }
            if case .subtree(let path) = range { subtree = path }
            kept.append(range)
        }
        return kept
    }

    private mutating func change(_ directory: RelativePath, _ body: (inout Marks) -> Void) {
        var marks = directories.removeValue(forKey: directory) ?? Marks()
        count -= marks.count
        subtrees -= marks.subtree ? 1 : 0
        body(&marks)
        if marks.names.count > DirtySet.namesPerDirectory { marks.children = true }
        if marks.children || marks.subtree { marks.names = [] }
        count += marks.count
        subtrees += marks.subtree ? 1 : 0
        directories[directory] = marks
    }

    private func isInsideSubtree(_ path: RelativePath) -> Bool {
        if subtrees == 0 { return false }
        var ancestor: RelativePath? = path
        while let current = ancestor {
            if directories[current]?.subtree == true { return true }
            ancestor = current.parent
        }
        return false
    }

    /// Replaces the deepest marks by subtrees of their ancestors until half of the limit is free.
    private mutating func widen() {
        let marked = ranges
        var depth = marked.reduce(0) { max($0, $1.path.depth) }
        var widened = Set(marked)
        while widened.count > limit / 2 && depth > 0 {
            depth -= 1
            widened = Set(
                widened.map { range in
                    range.path.depth > depth ? .subtree(range.path.prefix(depth: depth)) : range
                })
        }
        self = DirtySet(limit: limit)
        for range in widened.sorted() { mark(range) }
    }
}

extension RelativePath {
    /// The first `depth` components.
    fileprivate func prefix(depth: Int) -> RelativePath {
        var path = self
        for _ in 0..<max(0, self.depth - depth) { path = path.parent ?? .root }
        return path
    }
}
