// Finds the user of each chunk; visits what each root and the saved states need.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SnapshotTree

/// Attributes chunks to their owners.
struct UsageSurvey {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let grouping: ArchiveUsage.Grouping
    private let progress: OperationProgress?
    private(set) var owners: [ArchiveUsage.Owner] = [.shared, .records]
    private(set) var versions = [0, 0]
    private var numbers: [ArchiveUsage.Owner: Int32] = [.shared: UsageSurvey.shared, .records: UsageSurvey.records]
    private var index: UsageIndex
    /// The snapshots, and whether they stay.
    private var snapshots: [(id: SnapshotID, isKept: Bool)] = []
    /// The owner of each item that is a chunk.
    private var ownerOfItem: [Int32] = []
    /// The last visit of each item: several roots may share a node.
    private var visits: [Int32] = []
    private var visit: Int32 = 0
    private var isKept: [Bool] = []
    /// The owner of each path of the root that is visited.
    private var ownerOfPath: [Int32] = []

    private static let shared: Int32 = 0
    private static let records: Int32 = 1
    private static let none: Int32 = -1

    init(
        _ store: ArchiveStore, _ nodes: StoredNodes, by grouping: ArchiveUsage.Grouping, _ progress: OperationProgress?
    ) throws {
        self.store = store
        self.nodes = nodes
        self.grouping = grouping
        self.progress = progress
        index = try UsageIndex(store.catalogue)
    }

    // MARK: Visiting

    /// Visits a root's snapshots.
    ///
    /// - Parameter going: those that do not stay.
    mutating func visit(_ root: ArchivedRoot, number: Int64, without going: Set<SnapshotID>) throws {
        var (trees, kept): ([Int32], [Int32]) = ([], [])
        var last: Int32?
        for (id, tree) in try store.catalogue.trees(root: number) {
            let known = index.item(.node, tree)
            if known == nil, let last { index.makeFindable(tree: last) }
            let item = try known ?? index.node(tree, from: nodes, progress)
            if known == nil { index.save(store.catalogue, all: false) }
            last = item
            let stays = !going.contains(id)
            snapshots.append((id, stays))
            trees.append(item)
            if stays { kept.append(item) }
        }
        begin()
        ownerOfPath = [Int32](repeating: UsageSurvey.none, count: index.paths.count)
        for tree in trees { visit(tree: tree, of: root) }
        keep(kept)
    }

    /// Visits the saved states.
    mutating func visitStates() throws {
        let owner = number(of: grouping == .root ? .states : .elsewhere)
        let states = try store.catalogue.stateIDs().map { id in
            let item = try index.state(id, in: store)
            index.save(store.catalogue, all: false)
            return item
        }
        begin()
        for state in states {
            ownerOfItem[Int(state)] = UsageSurvey.records
            visits[Int(state)] = visit
            use(needsOf: state, by: owner)
            versions[Int(owner)] += 1
        }
        keep(states)
    }

    /// Ends the survey: saves what the index has learned, and removes what is gone if that is most of it.
    mutating func end() {
        let isUsed = { [ownerOfItem, visits] (item: Int32) in
            visits[Int(item)] > 0 || ownerOfItem[Int(item)] != UsageSurvey.none
        }
        let count = Int32(index.items.count)
        if (0..<count).count(where: isUsed) < count / 2 {
            index.compact(store.catalogue, isUsed)
        } else {
            index.save(store.catalogue, all: true)
        }
    }

    /// The chunks that are used, by the first 64 bits of their ids.
    var uses: [UInt64: ChunkUse] {
        var uses: [UInt64: ChunkUse] = [:]
        uses.reserveCapacity(snapshots.count + index.items.count)
        for (number, item) in index.items.enumerated() where ownerOfItem[number] != UsageSurvey.none {
            uses[item.key] = ChunkUse(
                length: UInt64(item.value), owner: Int(ownerOfItem[number]), isKept: isKept[number])
        }
        for (id, isKept) in snapshots {
            uses[id.chunk.prefix] = ChunkUse(length: 256, owner: Int(UsageSurvey.records), isKept: isKept)
        }
        return uses
    }

    /// Begins the next visit: that of another root.
    private mutating func begin() {
        visit += 1
        let further = index.items.count - visits.count
        visits += repeatElement(0, count: further)
        ownerOfItem += repeatElement(UsageSurvey.none, count: further)
        isKept += repeatElement(false, count: further)
    }

    private mutating func visit(tree: Int32, of root: ArchivedRoot) {
        var waiting = [tree]
        while let item = waiting.popLast() {
            guard visits[Int(item)] != visit else { continue }
            visits[Int(item)] = visit
            switch index.items[Int(item)].kind {
            case .node:
                ownerOfItem[Int(item)] = UsageSurvey.records
                index.forEachNeed(of: item, ifVisited: { visits[Int($0)] == visit }) { waiting.append($0) }
            case .version:
                let owner = owner(ofPath: Int(index.items[Int(item)].value), in: root)
                versions[Int(owner)] += 1
                use(needsOf: item, by: owner)
            // A change of attributes is not a version of the content.
            case .attribute: use(needsOf: item, by: owner(ofPath: Int(index.items[Int(item)].value), in: root))
            case .state, .content: continue
            }
        }
    }

    private mutating func use(needsOf item: Int32, by owner: Int32) {
        var waiting: [Int32] = []
        index.forEachNeed(of: item, ifVisited: { _ in false }) { waiting.append($0) }
        while let chunk = waiting.popLast() {
            let known = ownerOfItem[Int(chunk)]
            // What a list of slices needs was used with it.
            if known == owner || known == UsageSurvey.shared { continue }
            ownerOfItem[Int(chunk)] = known == UsageSurvey.none ? owner : UsageSurvey.shared
            index.forEachNeed(of: chunk, ifVisited: { _ in false }) { waiting.append($0) }
        }
    }

    /// Marks `items` and everything that they need as kept.
    private mutating func keep(_ items: [Int32]) {
        var waiting: [Int32] = []
        for item in items {
            waiting.append(item)
            while let item = waiting.popLast() {
                if isKept[Int(item)] { continue }
                isKept[Int(item)] = true
                index.forEachNeed(of: item, ifVisited: { isKept[Int($0)] }) { waiting.append($0) }
            }
        }
    }

    // MARK: Owners

    private mutating func number(of owner: ArchiveUsage.Owner) -> Int32 {
        if let known = numbers[owner] { return known }
        owners.append(owner)
        versions.append(0)
        let number = Int32(owners.count - 1)
        numbers[owner] = number
        return number
    }

    private mutating func owner(ofPath number: Int, in root: ArchivedRoot) -> Int32 {
        let known = ownerOfPath[number]
        if known != UsageSurvey.none { return known }
        let found = self.number(of: owner(of: index.paths[number], root))
        ownerOfPath[number] = found
        return found
    }

    private func owner(of path: [UInt8], _ root: ArchivedRoot) -> ArchiveUsage.Owner {
        guard case .path(let wanted, let directory) = grouping else { return .root(root) }
        guard wanted == root else { return .elsewhere }
        let start = directory.isRoot ? 0 : directory.bytes.count + 1
        guard path.count > start, start == 0 || path.starts(with: directory.bytes + [UInt8(ascii: "/")]) else {
            return .elsewhere
        }
        let end = path[start...].firstIndex(of: UInt8(ascii: "/"))
        return .path(RelativePath(unchecked: Array(path[..<(end ?? path.endIndex)])), isDirectory: end != nil)
    }
}
