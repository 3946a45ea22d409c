// Finds the user of each chunk; visits each tree node of the listed snapshots once.

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
    private(set) var uses: [ChunkID: ChunkUse] = [:]
    private var numbers: [ArchiveUsage.Owner: Int] = [.shared: UsageSurvey.shared, .records: UsageSurvey.records]
    /// The nodes visited, by root: several roots may share a node.
    private var visited: Set<Visit> = []
    /// The versions of files counted so far: unchanged entries occur in many nodes.
    private var counted: Set<Int> = []
    /// The owner of the entry before: neighbours mostly have the same owner.
    private var last: (prefix: [UInt8], number: Int)?

    private struct Visit: Hashable {
        let node: ChunkID
        let root: Int64
    }

    private static let shared = 0
    private static let records = 1

    init(
        _ store: ArchiveStore, _ nodes: StoredNodes, by grouping: ArchiveUsage.Grouping, _ progress: OperationProgress?
    ) {
        self.store = store
        self.nodes = nodes
        self.grouping = grouping
        self.progress = progress
    }

    // MARK: Visiting

    /// Visits a root's snapshots.
    mutating func visit(_ snapshots: [SnapshotID], of root: ArchivedRoot, number: Int64) throws {
        last = nil
        for id in snapshots {
            uses[id.chunk] = ChunkUse(length: 256, owner: UsageSurvey.records)
            try visit(tree: try store.snapshot(id).tree, of: root, number)
        }
    }

    /// Visits the saved states.
    mutating func visitStates() throws {
        let owner = number(of: grouping == .root ? .states : .elsewhere)
        for id in try store.catalogue.stateIDs() {
            uses[id.chunk] = ChunkUse(length: 256, owner: UsageSurvey.records)
            try use(store.stateRecord(id).content, by: owner)
            versions[owner] += 1
        }
    }

    private mutating func visit(tree: ChunkID, of root: ArchivedRoot, _ number: Int64) throws {
        var waiting = [tree]
        while let id = waiting.popLast() {
            guard visited.insert(Visit(node: id, root: number)).inserted else { continue }
            let node = try nodes.node(id, level: nil)
            switch node {
            case .inner(_, let children):
                uses[id] = ChunkUse(length: UInt64(64 * children.count), owner: UsageSurvey.records)
                for child in children { waiting.append(child.id) }
            case .leaf(let entries):
                uses[id] = ChunkUse(length: UInt64(96 * entries.count), owner: UsageSurvey.records)
                for entry in entries {
                    if entry.content != .none { try visit(entry, of: root, number) }
                    // A change of attributes is not a version of the content.
                    for case .slices(let slices) in entry.attributes.map(\.value) {
                        use(slices, by: owner(of: entry, in: root))
                    }
                }
                progress?.add(entries: entries.count)
            }
        }
    }

    private mutating func visit(_ entry: Entry, of root: ArchivedRoot, _ number: Int64) throws {
        var hasher = Hasher()
        hasher.combine(number)
        hasher.combine(entry.path)
        hasher.combine(entry.content)
        guard counted.insert(hasher.finalize()).inserted else { return }
        let owner = owner(of: entry, in: root)
        versions[owner] += 1
        try use(entry.content, by: owner)
    }

    // MARK: Owners

    private mutating func number(of owner: ArchiveUsage.Owner) -> Int {
        if let known = numbers[owner] { return known }
        owners.append(owner)
        versions.append(0)
        numbers[owner] = owners.count - 1
        return owners.count - 1
    }

    private mutating func owner(of entry: Entry, in root: ArchivedRoot) -> Int {
        guard case .path(let wanted, let directory) = grouping else { return number(of: .root(root)) }
        guard wanted == root else { return number(of: .elsewhere) }
        let path = entry.path.bytes
        let start = directory.isRoot ? 0 : directory.bytes.count + 1
        guard path.count > start, start == 0 || path.starts(with: directory.bytes + [UInt8(ascii: "/")]) else {
            return number(of: .elsewhere)
        }
        let end = path[start...].firstIndex(of: UInt8(ascii: "/"))
        let prefix = Array(path[..<(end ?? path.endIndex)])
        if let last, end != nil, last.prefix == prefix { return last.number }
        let found = number(of: .path(RelativePath(unchecked: prefix), isDirectory: end != nil))
        last = end == nil ? nil : (prefix, found)
        return found
    }

    private mutating func use(_ content: Content, by owner: Int) throws {
        switch content {
        case .none, .inline, .linkTarget: return
        case .slices(let slices): use(slices, by: owner)
        case .sliceLists(let lists):
            for list in lists {
                use(list.list, length: 0, by: owner)
                use(try ContentReader.slices(in: list, of: store), by: owner)
            }
        }
    }

    private mutating func use(_ slices: [Slice], by owner: Int) {
        for slice in slices { if let chunk = slice.chunk { use(chunk, length: slice.length, by: owner) } }
    }

    private mutating func use(_ chunk: ChunkID, length: UInt64, by owner: Int) {
        if let known = uses[chunk], known.owner != owner {
            uses[chunk]?.owner = UsageSurvey.shared
        } else {
            uses[chunk] = ChunkUse(length: length, owner: owner)
        }
    }
}
