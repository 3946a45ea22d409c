// Builds a tree from entries in walk order. Node boundaries depend only on the entries, never on how the tree was
// built, so equal content always gives equal nodes.

internal import ArchiveFormat
internal import FileIO

/// Builds a tree from entries and complete nodes of an older tree in walk order; holds one open node per level.
struct TreeBuilder<Sink: NodeSink> {
    private var sink: Sink
    private let shape: TreeShape
    private var entries: [Entry] = []
    private var entriesWeight = 0
    /// The open inner nodes: `children[n]` belongs to level n + 1.
    private var children: [[Node.Child]] = []
    private var childrenWeights: [Int] = []
    /// For each level, the last opened node of the older tree: a new node of that level most resembles it.
    private var predecessors: [ChunkID?] = []

    init(sink: Sink, shape: TreeShape) {
        self.shape = shape
        self.sink = sink
    }

    /// Adds the next entry.
    mutating func add(_ entry: Entry) throws(Sink.Failure) {
        entries.append(entry)
        entriesWeight += entry.weight
        if entries.count == TreeShape.maximumEntries || entriesWeight >= TreeShape.fullWeight
            || shape.cutsAfter(path: entry.path, level: 0)
        {
            try closeLeaf()
        }
    }

    /// Whether nothing was added yet.
    var isEmpty: Bool { entries.isEmpty && children.allSatisfy(\.isEmpty) }

    /// Whether every open node up to `level` is empty, so that a complete node of that level can be added.
    func canAddNode(level: Int) -> Bool {
        entries.isEmpty && children.prefix(level).allSatisfy(\.isEmpty)
    }

    /// Adds a complete node of `level`; `canAddNode(level:)` must be true.
    mutating func add(_ child: Node.Child, level: Int) throws(Sink.Failure) {
        while children.count <= level {
            children.append([])
            childrenWeights.append(0)
        }
        children[level].append(child)
        childrenWeights[level] += child.weight
        if children[level].count == TreeShape.maximumEntries || childrenWeights[level] >= TreeShape.fullWeight
            || shape.cutsAfter(path: child.firstPath, level: level + 1)
        {
            try closeInner(level: level + 1)
        }
    }

    /// Records that the older tree's node `id` of `level` was opened.
    mutating func opened(_ id: ChunkID, level: Int) {
        while predecessors.count <= level { predecessors.append(nil) }
        predecessors[level] = id
    }

    /// Closes all open nodes.
    ///
    /// - Returns: the root node's id.
    mutating func finish() throws(Sink.Failure) -> ChunkID {
        if !entries.isEmpty { try closeLeaf() }
        var level = 1
        while level <= children.count {
            let open = children[level - 1]
            if level == children.count, open.count == 1 { return open[0].id }
            if !open.isEmpty { try closeInner(level: level) }
            level += 1
        }
        return try sink.store(.leaf([]), predecessor: nil)
    }

    private mutating func closeLeaf() throws(Sink.Failure) {
        try close(.leaf(entries), firstPath: entries[0].path)
        entries.removeAll(keepingCapacity: true)
        entriesWeight = 0
    }

    private mutating func closeInner(level: Int) throws(Sink.Failure) {
        let parts = children[level - 1]
        children[level - 1] = []
        childrenWeights[level - 1] = 0
        try close(.inner(level: level, children: parts), firstPath: parts[0].firstPath)
    }

    private mutating func close(_ node: Node, firstPath: RelativePath) throws(Sink.Failure) {
        let level = node.level
        let predecessor = level < predecessors.count ? predecessors[level] : nil
        let id = try sink.store(node, predecessor: predecessor)
        let child = Node.Child(firstPath: firstPath, id: id, entries: node.entryCount, bytes: node.byteCount)
        try add(child, level: level)
    }
}
