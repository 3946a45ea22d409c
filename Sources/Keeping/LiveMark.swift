// Marks what must stay: every chunk that a listed snapshot or saved state needs.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Roots
internal import SnapshotTree

/// Visits what is listed, each tree node and each list of slices once.
///
/// The cost depends on the number of different nodes, not on the number of snapshots.
struct LiveMark {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let progress: OperationProgress?
    private let isCancelled: @Sendable () -> Bool
    private let pause: @Sendable () -> Void
    /// The records, nodes and lists visited; full ids, as a collision would lose data.
    private var visited: Set<ChunkID> = []
    /// Whether a node, and everything that it needs, is not to be visited.
    var isKnown: (ChunkID) -> Bool = { _ in false }

    init(
        _ store: ArchiveStore, _ progress: OperationProgress? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }, pause: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.progress = progress
        self.isCancelled = isCancelled
        self.pause = pause
        nodes = StoredNodes(store)
    }

    /// Calls `add` with every chunk that is needed and was not passed before.
    ///
    /// - Parameters:
    ///   - protected: which forgotten records can still be brought back, so that they are needed.
    ///   - left: snapshots and saved states to skip, as if they were gone.
    /// - Throws: `ArchiverError` with the code `damaged` if a record or node cannot be read: what it needs is unknown.
    mutating func run(
        protecting protected: ForgottenSpan, without left: Set<ChunkID> = [], _ add: (ChunkID) throws -> Void
    ) throws {
        for id in try store.catalogue.snapshotIDs() where !left.contains(id.chunk) { try visit(snapshot: id, add) }
        try visitStates(without: left, add)
        for listed in try protected.records(store.catalogue) where !left.contains(listed.id) {
            try visitIfReadable(forgotten: listed.id, add)
        }
        try visitReferences(without: left, add)
    }

    /// Calls `add` with every chunk that a record or field of a later program refers to, and with what that needs.
    ///
    /// Records that were forgotten and are not visited need nothing.
    private mutating func visitReferences(without left: Set<ChunkID>, _ add: (ChunkID) throws -> Void) throws {
        for (record, target) in try store.catalogue.references() where !left.contains(record) {
            if try !visited.contains(record) && store.catalogue.isForgotten(record) { continue }
            guard let place = try store.catalogue.location(of: target) else { continue }
            try naming("chunk \(target.hex.prefix(8))") {
                switch try store.blockHeader(at: place).chunks.first(where: { $0.id == target })?.kind {
                case .node: try visit(tree: target, add)
                case .snapshot: try visit(snapshot: SnapshotID(target), add)
                case .sliceList where visited.insert(target).inserted:
                    try add(target)
                    for slice in try SliceList(decoding: store.read(target)).slices {
                        if let chunk = slice.chunk { try add(chunk) }
                    }
                case .state where visited.insert(target).inserted:
                    try add(target)
                    try visit(store.stateRecord(StateID(target)).content, add)
                default: try add(target)
                }
            }
        }
    }

    /// Calls `add` with every chunk that a listed snapshot needs and that was not passed before.
    ///
    /// - Parameter onEntry: called with each entry of a file, and with its chunks that were not passed before.
    mutating func visit(
        snapshot id: SnapshotID, onEntry: ((Entry, [ChunkID]) -> Void)? = nil, _ add: (ChunkID) throws -> Void
    ) throws {
        guard visited.insert(id.chunk).inserted else { return }
        try naming("snapshot \(id.short)") {
            let tree = try store.snapshot(id).tree
            try add(id.chunk)
            try visit(tree: tree, onEntry: onEntry, add)
        }
    }

    /// Calls `add` with every chunk that a saved state needs and that was not passed before.
    mutating func visitStates(without left: Set<ChunkID> = [], _ add: (ChunkID) throws -> Void) throws {
        let states = try store.catalogue.stateIDs()
        for id in states where !left.contains(id.chunk) && visited.insert(id.chunk).inserted {
            try naming("the saved state \(id.short)") {
                let content = try store.stateRecord(id).content
                try add(id.chunk)
                try visit(content, add)
            }
        }
    }

    /// Visits a forgotten snapshot or saved state, unless it is damaged: then it cannot be brought back anyway.
    mutating func visitIfReadable(forgotten id: ChunkID, _ add: (ChunkID) throws -> Void) throws {
        do { try visit(forgotten: id, add) } catch let error as StorageError {
            guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
        }
    }

    /// Calls `add` with every chunk that a forgotten snapshot or saved state needs and that was not passed before.
    mutating func visit(forgotten id: ChunkID, _ add: (ChunkID) throws -> Void) throws {
        guard visited.insert(id).inserted else { return }
        switch try store.forgottenValue(id) {
        case .snapshot(let listed):
            try add(id)
            try visit(tree: listed.tree, add)
        case .state(let state):
            try add(id)
            try visit(store.stateRecord(state.id).content, add)
        case nil: return
        }
    }

    /// Adds the name of the damaged record to an error.
    private func naming(_ name: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            throw ArchiverError(
                .damaged, "\(error.message(about: name)); nothing is pruned, as it may need any chunk",
                remedy: Advice.putBackSegments.text,
                path: error.path)
        }
    }

    private mutating func visit(
        tree: ChunkID, onEntry: ((Entry, [ChunkID]) -> Void)? = nil, _ add: (ChunkID) throws -> Void
    ) throws {
        var waiting = [tree]
        while let id = waiting.popLast() {
            guard !isKnown(id), visited.insert(id).inserted else { continue }
            if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            pause()
            try add(id)
            switch try nodes.node(id, level: nil) {
            case .inner(_, let children): for child in children { waiting.append(child.id) }
            case .leaf(let entries):
                for entry in entries {
                    for chunk in entry.laterReferences where try store.catalogue.location(of: chunk) != nil {
                        try add(chunk)
                    }
                    guard let onEntry else {
                        try entry.forEachContent { try visit($0, add) }
                        continue
                    }
                    var chunks: [ChunkID] = []
                    try entry.forEachContent { content in
                        try visit(content) { chunk in
                            chunks.append(chunk)
                            try add(chunk)
                        }
                    }
                    onEntry(entry, chunks)
                }
                progress?.add(entries: entries.count)
            }
        }
    }

    private mutating func visit(_ content: Content, _ add: (ChunkID) throws -> Void) throws {
        switch content {
        case .none, .inline, .linkTarget: return
        case .slices(let slices): for slice in slices { if let chunk = slice.chunk { try add(chunk) } }
        case .sliceLists(let lists):
            for list in lists where visited.insert(list.list).inserted {
                try add(list.list)
                for slice in try ContentReader.slices(in: list, of: store) {
                    if let chunk = slice.chunk { try add(chunk) }
                }
            }
        }
    }
}

/// Which forgotten records a prune keeps: those that can still be brought back.
struct ForgottenSpan: Sendable, Hashable {
    /// Records forgotten at this instant or later stay.
    var since: Timestamp
    /// The same for records that were forgotten because room was short.
    var sinceForRoom: Timestamp

    /// Protects what was forgotten at `since` or later, whatever the reason.
    init(since: Timestamp) { (self.since, sinceForRoom) = (since, since) }

    /// Protects what was forgotten less than `grace` before `now`; what was forgotten for room, at most a day.
    init(grace: Duration, at now: Timestamp = .now) {
        func start(_ span: Duration) -> Timestamp {
            span > .zero ? Timestamp(seconds: now.seconds - span.components.seconds) : Timestamp(seconds: .max)
        }
        since = start(grace)
        sinceForRoom = start(min(grace, Archive.graceForRoom))
    }

    func protects(_ listed: ListedForgotten) -> Bool {
        listed.reason != .purged && listed.time >= (listed.reason == .room ? sinceForRoom : since)
    }

    /// The protected records that `catalogue` lists.
    func records(_ catalogue: Catalogue) throws(StorageError) -> [ListedForgotten] {
        try catalogue.forgotten(since: min(since, sinceForRoom)).filter(protects)
    }
}
