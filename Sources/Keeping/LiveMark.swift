// Finds what must stay: everything that a snapshot or a saved state needs that is not forgotten.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SnapshotTree

/// Visits what is listed, each node and each list of slices once: the cost follows what is different, not how many
/// snapshots there are.
struct LiveMark {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let progress: OperationProgress?
    private let isCancelled: @Sendable () -> Bool
    private let pause: @Sendable () -> Void
    /// Records, nodes and lists that were visited; whole ids, as one that was taken for another would be a loss.
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

    /// Gives everything to `add` that is needed by now and was not given yet.
    ///
    /// - Parameters:
    ///   - forgottenSince: what was forgotten at this instant or after can still be brought back, and is needed.
    ///   - left: snapshots and saved states that are to be passed over, as if they were gone.
    /// - Throws: `ArchiverError` of the code `damaged` where something of it cannot be read: what that needs is not known.
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
        for record in try store.catalogue.forgotten(since: forgottenSince)
        where record.reason != .purged && !left.contains(record.id) {
            do { try visit(forgotten: record.id, add) } catch let error as StorageError {
                // What is lost of it cannot be brought back, and is missed by nobody.
                guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
            }
        }
    }

    /// Gives everything to `add` that a forgotten snapshot or saved state needs and that was not given yet.
    mutating func visit(forgotten id: ChunkID, _ add: (ChunkID) throws -> Void) throws {
        guard visited.insert(id).inserted else { return }
        switch try store.forgottenValue(id) {
        case .snapshot(let record):
            try add(id)
            try visit(tree: record.tree, add)
        case .state(let state):
            try add(id)
            try visit(store.stateRecord(state.id).content, add)
        case nil: return
        }
    }

    /// Says of which record an error is.
    private func naming(_ name: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StorageError {
            guard error.code == .damaged else { throw error }
            throw ArchiverError(
                .damaged, "\(error.message(about: name)); nothing is dropped while it is not known what that needs",
                remedy: "run 'archiver check', and bring back what it names; or forget what is lost", path: error.path)
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
                for entry in entries { try visit(entry.content, add) }
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
