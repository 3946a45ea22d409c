// Finds what must stay: everything that a snapshot or a saved state needs that is not forgotten.

internal import ArchiveFormat
internal import ArchiveStorage

/// Visits what is listed, each node and each list of slices once: the cost follows what is different, not how many
/// snapshots there are.
struct LiveMark {
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private let progress: OperationProgress?
    /// Records, nodes and lists that were visited; whole ids, as one that was taken for another would be a loss.
    private var visited: Set<ChunkID> = []

    init(_ store: ArchiveStore, _ progress: OperationProgress? = nil) {
        self.store = store
        self.progress = progress
        nodes = StoredNodes(store)
    }

    /// Adds to `live` what is listed by now and was not visited yet.
    ///
    /// - Throws: `ArchiverError` of the code `damaged` where something of it cannot be read: what that needs is not known.
    mutating func run(_ live: inout ChunkSet) throws {
        for id in try store.catalogue.snapshotIDs() where visited.insert(id.chunk).inserted {
            try naming("snapshot \(id.short)") {
                let snapshot = try store.snapshot(id)
                live.insert(id.chunk)
                try visit(tree: snapshot.tree, &live)
            }
        }
        for id in try store.catalogue.stateIDs() where visited.insert(id.chunk).inserted {
            try naming("the saved state \(id.short)") {
                let record = try store.stateRecord(id)
                live.insert(id.chunk)
                try visit(record.content, &live)
            }
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

    private mutating func visit(tree: ChunkID, _ live: inout ChunkSet) throws {
        var waiting = [tree]
        while let id = waiting.popLast() {
            guard visited.insert(id).inserted else { continue }
            live.insert(id)
            switch try nodes.node(id, level: nil) {
            case .inner(_, let children): for child in children { waiting.append(child.id) }
            case .leaf(let entries):
                for entry in entries { try visit(entry.content, &live) }
                progress?.add(entries: entries.count)
            }
        }
    }

    private mutating func visit(_ content: Content, _ live: inout ChunkSet) throws {
        switch content {
        case .none, .inline, .linkTarget: return
        case .slices(let slices): for slice in slices { if let chunk = slice.chunk { live.insert(chunk) } }
        case .sliceLists(let lists):
            for list in lists where visited.insert(list.list).inserted {
                live.insert(list.list)
                for slice in try ContentReader.slices(in: list, of: store) {
                    if let chunk = slice.chunk { live.insert(chunk) }
                }
            }
        }
    }
}
