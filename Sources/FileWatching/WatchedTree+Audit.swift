// The audit: checks that every directory has its watch, and every watch its directory.

internal import Exclusions
internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

extension WatchedTree {
    /// After this many examinations that a change interrupted, a directory is crawled and not counted.
    private static let auditAttempts = 3

    /// The result of examining one directory.
    private enum Verdict {
        /// The directory is correct; its subdirectories are examined next.
        case inOrder([CrawlItem])
        /// Directories that exist but are not watched.
        case missing([CrawlItem])
        /// Directories that are known but do not exist.
        case stray([CrawlItem])
    }

    /// Starts an audit, or queues one: a running audit started too early for this caller.
    func audit(_ caller: CheckedContinuation<WatchAudit?, Never>?) {
        let callers = caller.map { [$0] } ?? []
        if phase.isAway { return callers.forEach { $0.resume(returning: nil) } }
        if auditWork == nil {
            auditWork = AuditWork(callers: callers)
        } else {
            nextAudit = (nextAudit ?? []) + callers
        }
    }

    /// Continues the audit while nothing else has to be crawled.
    func audit(atMost count: Int) {
        var left = count
        while left > 0, auditWork != nil, phase == .armed, !isBusy {
            left -= 1
            guard let item = auditWork?.stack.popLast() else { return finishAudit() }
            guard let path = tracker.path(of: item.crawl) else { continue }
            let generation = tracker.tree.generation
            let verdict = inspect(item.crawl, at: path)
            if case .inOrder(let below) = verdict {
                if tracker.node(at: item.crawl) != nil { auditWork?.outcome.checkedDirectories += 1 }
                auditWork?.stack += below.map { AuditWork.Item(crawl: $0) }
                continue
            }
            // If the difference is a change that is still queued, nothing is wrong.
            readEvents()
            if isBusy || tracker.tree.generation != generation { again(item) } else { repair(verdict, of: item) }
        }
    }

    /// Ends the audit without a result, because the root is gone.
    func cancelAudit() {
        for caller in (auditWork?.callers ?? []) + (nextAudit ?? []) { caller.resume(returning: nil) }
        auditWork = nil
        nextAudit = nil
    }

    private func finishAudit() {
        guard let work = auditWork else { return }
        auditWork = nextAudit.map { AuditWork(callers: $0) }
        nextAudit = nil
        root = nil
        settings.events.send(.audited(work.outcome))
        for caller in work.callers { caller.resume(returning: work.outcome) }
    }

    private func again(_ item: AuditWork.Item) {
        let attempts = item.attempts + 1
        if attempts >= WatchedTree.auditAttempts { return tracker.pending.append(item.crawl) }
        auditWork?.stack.append(AuditWork.Item(crawl: item.crawl, attempts: attempts))
    }

    private func repair(_ verdict: Verdict, of item: AuditWork.Item) {
        switch verdict {
        case .inOrder: break
        case .missing(let items):
            auditWork?.outcome.missingWatches += items.count
            tracker.pending += items
        case .stray(let items):
            auditWork?.outcome.strayWatches += items.count
            tracker.pending += items
        }
        // Examine it again after the repair, for the directories below it.
        again(item)
    }

    private func inspect(_ item: CrawlItem, at path: RelativePath) -> Verdict {
        let node = tracker.node(at: item)
        let state = node.map { tracker.tree.state(of: $0) } ?? .unknown
        if state == .polled || state == .excluded { return .inOrder([]) }
        do {
            let root = try openTree()
            let directory = try root.descriptor.openForReading(beneath: path, O_DIRECTORY)
            let status = try FileStatus.read(directory, path: path)
            switch try treatment(of: directory, status, root: root.status) {
            case .watch: break
            case .leaveOut(let expected): return state == expected ? .inOrder([]) : .missing([item])
            case .poll: return .missing([item])
            }
            let watch = try sources.add(directory, path: path, recording: &shortages)
            guard let node, tracker.tree.node(watchedBy: watch) == node else { return .missing([item]) }
            return try compare(node, with: sources.reader.read(directory, path: path), in: directory)
        } catch {
            switch error.code {
            case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels:
                if item.isRoot { tracker.rootNeedsCheck = true }
                return node == nil ? .inOrder([]) : .stray([item])
            default: return state == .unreadable || state == .watched ? .inOrder([]) : .missing([item])
            }
        }
    }

    private func compare(
        _ node: NodeID, with listing: DirectoryListing, in directory: borrowing Descriptor
    ) throws(FileError) -> Verdict {
        let names = subdirectories(among: listing, of: directory)
        let below = names.map { CrawlItem($0, in: node, reports: true) }.filter { !tracker.excludes($0) }
        let missing = below.filter { tracker.node(at: $0) == nil }
        if !missing.isEmpty { return .missing(missing) }
        let present = Set(names)
        let stray = tracker.tree.children(of: node).map { tracker.tree.name(of: $0) }.filter { !present.contains($0) }
        return stray.isEmpty ? .inOrder(below) : .stray(stray.map { CrawlItem($0, in: node, reports: true) })
    }
}
