// The directories of a root as the watcher knows them. Files are not stored, so a million files cost no memory here.

internal import Exclusions
internal import FileIO

/// The id of a directory in a `WatchTree`; reused after the directory is removed.
struct NodeID: Hashable {
    fileprivate let index: Int32

    /// The root directory, which always exists.
    static let root = NodeID(index: 0)
    fileprivate static let none = NodeID(index: -1)
}

/// Directory nodes with parent links, found by watch or by name.
///
/// A directory that was renamed away is in *limbo* until it is found again by its watch, or removed.
struct WatchTree {
    enum State: UInt8 {
        /// Not examined yet.
        case unknown
        case watched
        /// Cannot be watched; polled with everything below it.
        case polled
        case unreadable
        /// On another mount, which is not entered.
        case mountPoint
        /// Excluded by the caller or by a rule: neither watched nor reported.
        case excluded
    }

    private struct Node {
        var name: [UInt8]
        var watch = WatchID.none
        var parent: NodeID
        var firstChild = NodeID.none
        var next = NodeID.none
        var previous = NodeID.none
        var state: State
    }

    private struct Name: Hashable {
        let parent: NodeID
        let name: [UInt8]
    }

    private var nodes: [Node]
    private var free: [NodeID] = []
    private var byWatch: [WatchID: NodeID] = [:]
    private var byName: [Name: NodeID] = [:]
    /// Directories without a place: renamed away, deleted, or missing from their parent's listing.
    private(set) var limbo: Set<NodeID> = []
    private var polledNodes: Set<NodeID> = []
    private var unreadableNodes: Set<NodeID> = []
    /// The exclusion rules of directories that define any; most do not.
    private var rules: [NodeID: DirectoryRules] = [:]
    /// Increases with every change of the rules or of the paths that they apply to.
    private(set) var generation = 0

    init() {
        nodes = [Node(name: [], parent: .none, state: .unknown)]
    }

    // MARK: Reading

    /// All watches of the tree, including those in limbo.
    var watches: [WatchID] { Array(byWatch.keys) }

    func contains(watch: WatchID) -> Bool { byWatch[watch] != nil }

    func node(watchedBy watch: WatchID) -> NodeID? { byWatch[watch] }

    func child(of parent: NodeID, named name: [UInt8]) -> NodeID? { byName[Name(parent: parent, name: name)] }

    func state(of node: NodeID) -> State { self[node].state }

    /// A directory's parent and its name there; nil for the root and in limbo.
    func place(of node: NodeID) -> (parent: NodeID, name: [UInt8])? {
        self[node].parent == .none ? nil : (self[node].parent, self[node].name)
    }

    /// The directory's path; nil if it or a directory above it is in limbo.
    func path(of node: NodeID) -> RelativePath? {
        let chain = chain(to: node)
        if chain.first != .root { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(chain.reduce(0) { $0 + self[$1].name.count + 1 })
        for link in chain.dropFirst() {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            bytes += self[link].name
        }
        return RelativePath(unchecked: bytes)
    }

    func children(of node: NodeID) -> [NodeID] {
        var children = [NodeID]()
        var child = self[node].firstChild
        while child != .none {
            children.append(child)
            child = self[child].next
        }
        return children
    }

    func name(of node: NodeID) -> [UInt8] { self[node].name }

    /// Whether `ancestor` is `node` or above it.
    func isAncestor(_ ancestor: NodeID, orSelfOf node: NodeID) -> Bool {
        var current = node
        while current != .none {
            if current == ancestor { return true }
            current = self[current].parent
        }
        return false
    }

    /// The directories that are polled, without those in limbo.
    var polled: [NodeID] { polledNodes.filter { path(of: $0) != nil } }

    /// The directories that are unreadable, without those in limbo.
    var unreadable: [NodeID] { unreadableNodes.filter { path(of: $0) != nil } }

    /// Whether some directory has rules of its own.
    var hasRules: Bool { !rules.isEmpty }

    func rules(of node: NodeID) -> DirectoryRules? { rules[node] }

    /// The rules in force in a directory that has a path: `above` and the rules of each directory down to it.
    func scope(of node: NodeID, above: ExclusionScope) -> ExclusionScope {
        var scope = above
        for directory in chain(to: node) {
            guard let files = rules[directory]?.ignoreFiles, let path = path(of: directory) else { continue }
            scope = scope.adding(files, of: path)
        }
        return scope
    }

    /// The number of directories in each state.
    var stats: WatchStats {
        var stats = WatchStats()
        for node in nodes {
            switch node.state {
            case .polled: stats.polledDirectories += 1
            case .unreadable: stats.unreadableDirectories += 1
            case .mountPoint: stats.mountPoints += 1
            case .excluded: stats.excludedDirectories += 1
            case .watched where node.watch.backend == .fanotify: stats.fanotifyDirectories += 1
            case .watched: stats.inotifyDirectories += 1
            case .unknown: break
            }
        }
        return stats
    }

    // MARK: Changing

    /// Inserts a new directory into `parent`, which must not contain a directory of that name.
    mutating func insert(_ name: [UInt8], in parent: NodeID) -> NodeID {
        let node: NodeID
        if let reused = free.popLast() {
            node = reused
            self[node] = Node(name: name, parent: .none, state: .unknown)
        } else {
            node = NodeID(index: Int32(nodes.count))
            nodes.append(Node(name: name, parent: .none, state: .unknown))
        }
        attach(node, name, in: parent)
        return node
    }

    /// Moves a directory to another place, from limbo or from its present place.
    mutating func move(_ node: NodeID, to parent: NodeID, as name: [UInt8]) {
        unlink(node)
        limbo.remove(node)
        attach(node, name, in: parent)
    }

    /// Moves a directory and everything below it into limbo.
    mutating func detach(_ node: NodeID) {
        unlink(node)
        limbo.insert(node)
    }

    mutating func setWatch(_ watch: WatchID, of node: NodeID) {
        clearWatch(of: node)
        self[node].watch = watch
        self[node].state = .watched
        byWatch[watch] = node
    }

    /// Sets the exclusion rules that a directory defines.
    mutating func setRules(_ new: DirectoryRules, of node: NodeID) {
        let isEmpty = new.ignoreFiles.isEmpty && !new.isCache
        if isEmpty && rules[node] == nil { return }
        rules[node] = isEmpty ? nil : new
        generation += 1
    }

    /// Sets the state of a directory without a watch.
    mutating func setUnwatched(_ state: State, of node: NodeID) {
        clearWatch(of: node)
        self[node].state = state
        if state == .polled { polledNodes.insert(node) }
        if state == .unreadable { unreadableNodes.insert(node) }
    }

    /// Removes a directory and everything below it.
    ///
    /// - Returns: the watches they had.
    mutating func remove(_ node: NodeID) -> [WatchID] {
        unlink(node)
        limbo.remove(node)
        var watches = [WatchID]()
        var stack = [node]
        while let removed = stack.popLast() {
            for child in children(of: removed) {
                byName[Name(parent: removed, name: self[child].name)] = nil
                stack.append(child)
            }
            if self[removed].watch != .none { watches.append(self[removed].watch) }
            clearWatch(of: removed)
            if hasRules { rules[removed] = nil }
            self[removed] = Node(name: [], parent: .none, state: .unknown)
            free.append(removed)
        }
        return watches
    }

    private mutating func clearWatch(of node: NodeID) {
        if self[node].watch != .none { byWatch[self[node].watch] = nil }
        if self[node].state == .polled { polledNodes.remove(node) }
        if self[node].state == .unreadable { unreadableNodes.remove(node) }
        self[node].watch = .none
        self[node].state = .unknown
    }

    private mutating func attach(_ node: NodeID, _ name: [UInt8], in parent: NodeID) {
        let first = self[parent].firstChild
        if first != .none { self[first].previous = node }
        self[node].next = first
        self[node].previous = .none
        self[node].parent = parent
        self[node].name = name
        self[parent].firstChild = node
        byName[Name(parent: parent, name: name)] = node
        generation += 1
    }

    private mutating func unlink(_ node: NodeID) {
        let (parent, next, previous) = (self[node].parent, self[node].next, self[node].previous)
        if parent == .none { return }
        byName[Name(parent: parent, name: self[node].name)] = nil
        if previous == .none { self[parent].firstChild = next } else { self[previous].next = next }
        if next != .none { self[next].previous = previous }
        self[node].parent = .none
        self[node].next = .none
        self[node].previous = .none
        generation += 1
    }

    /// The directories from the root down to `node`; in limbo, from its topmost known ancestor.
    private func chain(to node: NodeID) -> [NodeID] {
        var chain = [NodeID]()
        var current = node
        while current != .none {
            chain.append(current)
            current = self[current].parent
        }
        return chain.reversed()
    }

    private subscript(node: NodeID) -> Node {
        get { nodes[Int(node.index)] }
        _modify { yield &nodes[Int(node.index)] }
    }
}
