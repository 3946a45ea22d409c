// Marks what must stay: every chunk that a listed snapshot or saved state needs.

internal import ArchiveFormat
internal import ArchiveStorage
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
    ///   - forgottenSince: records forgotten at this instant or later can still be brought back, so they are needed.
    ///   - left: snapshots and saved states to skip, as if they were gone.
    /// - Throws: `ArchiverError` with the code `damaged` if a record or node cannot be read: what it needs is unknown.
    mutating func run(
        forgottenSince: Timestamp, without left: Set<ChunkID> = [], _ add: (ChunkID) throws -> Void
    ) throws {
        let snapshots = try store.catalogue.snapshotIDs()
        for id in snapshots where !left.contains(id.chunk) && visited.insert(id.chunk).inserted {
            try naming("snapshot \(id.short)") {
                let tree = try store.snapshot(id).tree
                try add(id.chunk)
                try visit(tree: tree, add)
            }
        }
        let states = try store.catalogue.stateIDs()
        for id in states where !left.contains(id.chunk) && visited.insert(id.chunk).inserted {
            try naming("the saved state \(id.short)") {
                let content = try store.stateRecord(id).content
                try add(id.chunk)
                try visit(content, add)
            }
        }
        for listed in try store.catalogue.forgotten(since: forgottenSince)
        where listed.reason != .purged && !left.contains(listed.id) {
            do { try visit(forgotten: listed.id, add) } catch let error as StorageError {
                // A damaged forgotten record cannot be brought back anyway.
                guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
            }
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
                remedy: "run 'archiver check' and put back the segments it names, or forget what is lost",
                path: error.path)
        }
    }

    private mutating func visit(tree: ChunkID, _ add: (ChunkID) throws -> Void) throws {
        var waiting = [tree]
        while let id = waiting.popLast() {
            guard visited.insert(id).inserted else { continue }
            if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            pause()
            try add(id)
            switch try nodes.node(id, level: nil) {
            case .inner(_, let children): for child in children { waiting.append(child.id) }
            case .leaf(let entries):
                for entry in entries { try entry.forEachContent { try visit($0, add) } }
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
