// Checks that trees are valid: in order, with the directories of all entries, and with correct sums in inner nodes.

package import ArchiveFormat
internal import FileIO

/// Checks trees that share many nodes: each node is checked once, as long as its result is cached.
///
/// Whether a node is valid depends only on the node and its neighbours, not on the tree. So the cache stores the
/// summary that its neighbours need. The cache is bounded for any number of trees. A valid tree has no node twice, and
/// a forged tree costs at most one check of each of its nodes.
package struct TreeValidator<Source: NodeSource> {
    /// The callbacks of the validator; a fault does not stop it.
    package struct Visitor {
        /// Checks an entry's content; returns whether it is good.
        package let entry: (Entry) throws(Source.Failure) -> Bool
        /// Called with each fault.
        package let report: (TreeFault) -> Void

        package init(
            entry: @escaping (Entry) throws(Source.Failure) -> Bool, report: @escaping (TreeFault) -> Void
        ) {
            self.entry = entry
            self.report = report
        }
    }

    private enum Judgement {
        case good(TreeSummary)
        case bad
    }

    private let source: Source
    private var known = RecentValues<ChunkID, Judgement>(capacity: 16 << 20)

    package init(_ source: Source) {
        self.source = source
    }

    /// Checks the tree whose root node is `id`.
    ///
    /// - Returns: the tree's summary; nil if it has a fault.
    package mutating func validate(
        tree id: ChunkID, _ visitor: Visitor
    ) throws(Source.Failure) -> TreeSummary? {
        guard let summary = try summary(of: id, level: nil, at: .root, visitor) else { return nil }
        guard summary.firstPath.isRoot else {
            visitor.report(TreeFault(.root, "the tree has no entry for the root"))
            return nil
        }
        return summary
    }

    /// The summary of the node `id` and everything below it; nil if there is a fault.
    ///
    /// The recursion has one call per level, and a tree has at most 64 levels (`Node.levelLimit`).
    private mutating func summary(
        of id: ChunkID, level: Int?, at path: RelativePath, _ visitor: Visitor
    ) throws(Source.Failure) -> TreeSummary? {
        switch known[id] {
        case .good(let summary) where level == nil || summary.level == level: return summary
        case .bad: return nil
        default: break
        }
        let node: Node
        do throws(Source.Failure) {
            node = try source.node(id, at: nil)
        } catch {
            visitor.report(TreeFault(path, "a part of its tree is lost: \(error)"))
            known.insert(.bad, for: id, cost: 256)
            return nil
        }
        if let level, node.level != level {
            visitor.report(TreeFault(path, "a node of its tree has level \(node.level) instead of \(level)"))
            known.insert(.bad, for: id, cost: 256)
            return nil
        }
        let found =
            switch node {
            case .leaf(let entries): try summary(of: entries, at: path, visitor)
            case .inner(let level, let children): try summary(of: children, level: level, visitor)
            }
        known.insert(found.map { .good($0) } ?? .bad, for: id, cost: 256 + (found?.pathBytes ?? 0))
        return found
    }

    private func summary(
        of entries: [Entry], at path: RelativePath, _ visitor: Visitor
    ) throws(Source.Failure) -> TreeSummary? {
        guard let first = entries.first else {
            visitor.report(TreeFault(path, "a node of its tree is empty"))
            return nil
        }
        var summary = TreeSummary(first)
        var isGood = try isGood(first, visitor)
        for entry in entries.dropFirst() {
            let fits = visitor.accepts(
                TreeRules.fault(at: entry.path, after: summary.lastPath, isDirectory: summary.lastIsDirectory))
            let isEntryGood = try self.isGood(entry, visitor)
            isGood = isGood && fits && isEntryGood
            summary.add(entry)
        }
        return visitor.accepts(summary.fault) && isGood ? summary : nil
    }

    private func isGood(_ entry: Entry, _ visitor: Visitor) throws(Source.Failure) -> Bool {
        let isWell = visitor.accepts(TreeRules.fault(in: entry))
        return try visitor.entry(entry) && isWell
    }

    private mutating func summary(
        of children: [Node.Child], level: Int, _ visitor: Visitor
    ) throws(Source.Failure) -> TreeSummary? {
        var whole: TreeSummary?
        var isGood = true
        for child in children {
            guard let part = try summary(of: child.id, level: level - 1, at: child.firstPath, visitor),
                visitor.accepts(child.fault(part))
            else {
                isGood = false
                continue
            }
            guard var sum = whole else {
                whole = TreeSummary(level: level, first: part)
                continue
            }
            let fault = TreeRules.fault(at: part.firstPath, after: sum.lastPath, isDirectory: sum.lastIsDirectory)
            // If a child is lost, its neighbours cannot be compared.
            if isGood, !visitor.accepts(fault) { isGood = false }
            sum.add(part)
            whole = sum
        }
        guard isGood, let whole, visitor.accepts(whole.fault) else { return nil }
        return whole
    }

    // MARK: Hard links

    /// Calls `body` with the leaves of a valid tree that may contain a hard-linked file.
    package mutating func forEachLinkedLeaf(
        in id: ChunkID, _ visitor: Visitor, _ body: (ChunkID) throws(Source.Failure) -> Void
    ) throws(Source.Failure) {
        guard let summary = try summary(of: id, level: nil, at: .root, visitor), summary.hasLinks else { return }
        guard case .inner(_, let children) = try source.node(id, at: nil) else { return try body(id) }
        for child in children { try forEachLinkedLeaf(in: child.id, visitor, body) }
    }
}

extension TreeValidator.Visitor {
    /// Reports `fault` if there is one; returns whether there is none.
    fileprivate func accepts(_ fault: TreeFault?) -> Bool {
        guard let fault else { return true }
        report(fault)
        return false
    }
}

extension TreeSummary {
    fileprivate var pathBytes: Int { firstPath.bytes.count + lastPath.bytes.count }

    fileprivate var fault: TreeFault? {
        overflows ? TreeFault(firstPath, "the sum of the sizes from \(firstPath) on is too large") : nil
    }
}

extension Node.Child {
    /// The fault if the parent's record of the child contradicts `summary`; nil if they agree.
    fileprivate func fault(_ summary: TreeSummary) -> TreeFault? {
        if summary.firstPath != firstPath {
            return TreeFault(firstPath, "a node begins with \(summary.firstPath) instead of \(firstPath)")
        }
        if summary.entries != entries {
            return TreeFault(
                firstPath, "a node from \(firstPath) on has \(summary.entries) entries instead of \(entries)")
        }
        if summary.totals.bytes != bytes {
            return TreeFault(
                firstPath,
                "files of the node from \(firstPath) on have \(summary.totals.bytes) bytes instead of \(bytes)")
        }
        return nil
    }
}
