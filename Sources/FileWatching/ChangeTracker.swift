// Turns events and listings into dirty paths and directories to crawl. Makes no system calls, which makes it testable.

internal import Exclusions
internal import FileIO

/// A directory to crawl.
struct CrawlItem: Hashable {
    /// The directory's place in its parent; nil for the root.
    let place: Place?
    /// Whether the crawl marks what it finds as changed; false while a root is armed for the first time.
    let reports: Bool

    struct Place: Hashable {
        let parent: NodeID
        let name: [UInt8]
    }

    var isRoot: Bool { place == nil }

    static func root(reports: Bool) -> CrawlItem { CrawlItem(place: nil, reports: reports) }

    init(place: Place?, reports: Bool) {
        self.place = place
        self.reports = reports
    }

    init(_ name: [UInt8], in parent: NodeID, reports: Bool) {
        self.init(place: Place(parent: parent, name: name), reports: reports)
    }
}

/// The state of a root: its directories, the changes in them, and the directories still to be crawled.
///
/// An event only adds paths to scan; its meaning is never trusted. A directory that leaves its place goes to limbo, a
/// directory that appears is crawled, and the crawl recognises it by its watch. So the two events of a rename need not
/// be paired, and any order of crawls and events leads to the same tree: the last event of a name follows its last
/// change.
struct ChangeTracker {
    /// The exclusion rules above the root's own ignore files.
    let exclusions: ExclusionScope
    var tree = WatchTree()
    var dirty = DirtySet()
    var written = WrittenNames()
    /// A stack: directories are crawled depth first.
    var pending: [CrawlItem] = []
    /// Watches that no directory of this root has any more.
    private(set) var retired: [WatchID] = []
    /// Whether the root may no longer be at its path.
    var rootNeedsCheck = false

    /// The last directory whose rules were computed, with the rules.
    private var lastScope: (node: NodeID, generation: Int, scope: ExclusionScope)?

    init(rules: ExclusionRules = ExclusionRules()) {
        exclusions = ExclusionScope(rules)
    }

    /// Applies one event of a watch of this root.
    ///
    /// - Returns: whether a path was marked dirty.
    mutating func apply(_ event: DirectoryEvent) -> Bool {
        guard let node = tree.node(watchedBy: event.watch) else { return false }
        if event.mask.contains(.ignored) { return watchEnded(node) }
        if event.name.isEmpty { return changedItself(node, event.mask) }

        let child = tree.child(of: node, named: event.name)
        let childState = child.map { tree.state(of: $0) }
        let directory = tree.path(of: node)
        let appears = !event.mask.isDisjoint(with: .appears)
        let disappears = !event.mask.isDisjoint(with: .disappears)
        let isDirectory = event.mask.contains(.isDirectory)
        let becameReadable = childState == .unreadable && event.mask.contains(.attributes)
        // If a directory and another file take turns at a name, merged events do not show which came last.
        let isAmbiguous = appears && disappears && child != nil
        // A name that disappears may still exist: when two names are exchanged, each appears before it disappears.
        if isAmbiguous || isDirectory && (appears || disappears || becameReadable) {
            pending.append(CrawlItem(event.name, in: node, reports: true))
        }
        if let child, disappears || appears && !isDirectory { leave(child) }
        if childState == .excluded && !appears && !disappears { return false }

        // In limbo nothing is marked: a directory that is found again is reported with everything below it.
        guard let directory else { return false }
        if excludes(event.name, in: node, at: directory, isDirectory: isDirectory) { return false }
        if !isDirectory && DirectoryRules.decides(event.name, exclusions.rules) {
            // The rules changed, so watches below must be added and removed.
            crawlAgain(node)
            dirty.mark(.subtree(directory))
        }
        let path = directory.appending(event.name)
        dirty.mark(.entry(path))
        if !isDirectory { written.record(event.mask, of: path) }
        if appears || disappears { dirty.mark(.entry(directory)) }
        return true
    }

    /// Queues the crawl of a path, or of the nearest known directory above it, and reports it.
    mutating func crawlAgain(_ path: RelativePath) {
        var node = NodeID.root
        for name in path.components {
            guard let child = tree.child(of: node, named: Array(name)) else { break }
            node = child
        }
        crawlAgain(node)
    }

    /// Queues the crawl of a known directory and everything below it, and reports it.
    mutating func crawlAgain(_ node: NodeID) {
        let place = tree.place(of: node).map { CrawlItem.Place(parent: $0.parent, name: $0.name) }
        let item = CrawlItem(place: place, reports: true)
        if pending.last != item { pending.append(item) }
    }

    /// Returns the watches to remove, and clears the list.
    mutating func takeRetired() -> [WatchID] {
        defer { retired = [] }
        return retired
    }

    private mutating func changedItself(_ node: NodeID, _ mask: EventMask) -> Bool {
        if node == .root && !mask.isDisjoint(with: [.deleteSelf, .moveSelf, .unmount]) { rootNeedsCheck = true }
        guard mask.contains(.attributes), let path = tree.path(of: node) else { return false }
        dirty.mark(.entry(path))
        return true
    }

    /// Handles a watch that the kernel removed because its directory was deleted or unmounted.
    private mutating func watchEnded(_ node: NodeID) -> Bool {
        guard node != .root else {
            tree.setUnwatched(.unknown, of: .root)
            rootNeedsCheck = true
            return false
        }
        let path = tree.path(of: node)
        if let place = tree.place(of: node) { pending.append(CrawlItem(place.name, in: place.parent, reports: true)) }
        tree.setUnwatched(.unknown, of: node)
        retired += tree.remove(node)
        guard let path, let parent = path.parent else { return false }
        dirty.mark(.entry(path))
        dirty.mark(.entry(parent))
        return true
    }

    private mutating func leave(_ node: NodeID) {
        switch tree.state(of: node) {
        case .watched: tree.detach(node)
        case .unknown, .polled, .unreadable, .mountPoint, .excluded: retired += tree.remove(node)
        }
    }
}

// MARK: - Results of a crawl

extension ChangeTracker {
    /// The path of a directory to crawl; nil if its parent is now in limbo.
    func path(of item: CrawlItem) -> RelativePath? {
        guard let place = item.place else { return .root }
        return tree.path(of: place.parent)?.appending(place.name)
    }

    /// The known directory at `item`; nil if there is none.
    func node(at item: CrawlItem) -> NodeID? {
        guard let place = item.place else { return .root }
        return tree.child(of: place.parent, named: place.name)
    }

    /// Records that the directory at `item` has the watch `watch`.
    ///
    /// - Returns: its node; nil if the tree contradicts the file system, so that the root must be crawled again.
    mutating func found(_ item: CrawlItem, watch: WatchID) -> NodeID? {
        guard let place = item.place else {
            tree.setWatch(watch, of: .root)
            return .root
        }
        let present = tree.child(of: place.parent, named: place.name)
        if let known = tree.node(watchedBy: watch) {
            if known == present { return known }
            if tree.isAncestor(known, orSelfOf: place.parent) { return nil }
            if let present { leave(present) }
            markLost(tree.path(of: known))
            tree.move(known, to: place.parent, as: place.name)
            return known
        }
        if let present {
            if tree.state(of: present) != .watched {
                tree.setWatch(watch, of: present)
                return present
            }
            leave(present)
        }
        let node = tree.insert(place.name, in: place.parent)
        tree.setWatch(watch, of: node)
        return node
    }

    /// Records that the directory at `item` has no watch of its own.
    mutating func found(_ item: CrawlItem, unwatched state: WatchTree.State) {
        guard let place = item.place else {
            if state != .unreadable || tree.state(of: .root) != .watched { tree.setUnwatched(state, of: .root) }
            return
        }
        if let present = tree.child(of: place.parent, named: place.name) {
            // A directory that became unreadable keeps its watch, which still works.
            if state == .unreadable && tree.state(of: present) == .watched { return }
            if tree.state(of: present) != .watched {
                tree.setUnwatched(state, of: present)
                return
            }
            leave(present)
        }
        tree.setUnwatched(state, of: tree.insert(place.name, in: place.parent))
    }

    /// Records that there is no directory at `item`.
    mutating func foundNothing(_ item: CrawlItem) {
        guard let place = item.place else { return rootNeedsCheck = true }
        guard let present = tree.child(of: place.parent, named: place.name) else { return }
        markLost(tree.path(of: present))
        leave(present)
    }

    /// Applies a directory's listing: queues its subdirectories, and removes known ones that are missing from the list.
    mutating func listed(_ node: NodeID, subdirectories: [[UInt8]], reports: Bool) {
        for name in subdirectories.reversed() {
            let item = CrawlItem(name, in: node, reports: reports)
            if excludes(item) { found(item, unwatched: .excluded) } else { pending.append(item) }
        }
        let names = Set(subdirectories)
        for child in tree.children(of: node) where !names.contains(tree.name(of: child)) {
            markLost(tree.path(of: child))
            leave(child)
        }
    }

    /// Removes the directories in limbo, which were moved out of the root or deleted; call it when nothing is pending.
    mutating func reapLimbo() {
        for node in tree.limbo { retired += tree.remove(node) }
    }

    private mutating func markLost(_ path: RelativePath?) {
        guard let path, let parent = path.parent else { return }
        dirty.mark(.entry(path))
        dirty.mark(.entry(parent))
    }
}

// MARK: - Exclusions

extension ChangeTracker {
    /// Whether the directory at `item` is excluded by name.
    mutating func excludes(_ item: CrawlItem) -> Bool {
        guard hasExclusions, let place = item.place, let directory = tree.path(of: place.parent) else { return false }
        return excludes(place.name, in: place.parent, at: directory, isDirectory: true)
    }

    /// Whether `name` in the directory `node` is excluded.
    ///
    /// - Parameter directory: the path of `node`.
    private mutating func excludes(
        _ name: [UInt8], in node: NodeID, at directory: RelativePath, isDirectory: Bool
    ) -> Bool {
        if !hasExclusions { return false }
        if tree.rules(of: node)?.isCache == true { return isDirectory || name != DirectoryRules.cacheTagName }
        return scope(of: node).excludes(directory.appending(name), isDirectory: isDirectory)
    }

    private var hasExclusions: Bool { !exclusions.isTrivial || tree.hasRules }

    private mutating func scope(of node: NodeID) -> ExclusionScope {
        if let lastScope, lastScope.node == node, lastScope.generation == tree.generation { return lastScope.scope }
        let scope = tree.scope(of: node, above: exclusions)
        lastScope = (node, tree.generation, scope)
        return scope
    }
}
