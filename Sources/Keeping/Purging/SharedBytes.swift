// What else has the bytes of a purge's target: files under other names, and saved states.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

/// Searches all snapshots and saved states for bytes that were purged elsewhere; each tree node is read once.
struct SharedBytes {
    private let contents: PurgedContents
    private let text: [UInt8]?
    private let store: ArchiveStore
    private let nodes: StoredNodes
    private var visited: Set<ChunkID> = []
    private var reported: Set<[UInt8]> = []

    /// - Parameter text: the purged text, which files may have too; nil if files were purged.
    init(_ contents: PurgedContents, text: [UInt8]?, in store: ArchiveStore) {
        self.contents = contents
        self.text = text
        self.store = store
        nodes = StoredNodes(store)
    }

    /// Calls `report` with a sentence for each path and each saved state.
    mutating func find(_ report: (String) -> Void) throws {
        for id in try store.catalogue.snapshotIDs() {
            let snapshot = try store.snapshot(id)
            try visit(snapshot.tree, of: snapshot, id, report)
        }
        for id in try store.catalogue.stateIDs() {
            let state = try store.stateRecord(id)
            guard try has(state.content) else { continue }
            report("the same bytes are in the saved state \(id.short) of '\(state.title)'")
        }
    }

    private mutating func visit(
        _ node: ChunkID, of snapshot: Snapshot, _ id: SnapshotID, _ report: (String) -> Void
    ) throws {
        guard visited.insert(node).inserted else { return }
        switch try nodes.node(node, level: nil) {
        case .inner(_, let children): for child in children { try visit(child.id, of: snapshot, id, report) }
        case .leaf(let entries):
            for entry in entries {
                var isShared = text.map { entry.path.bytes.firstRange(of: $0) != nil } ?? false
                try entry.forEachContent { if try !isShared && has($0) { isShared = true } }
                guard isShared, reported.insert(entry.path.bytes).inserted else { continue }
                let what = text == nil ? "the same bytes are" : "the text is"
                report("\(what) in \(entry.path), in snapshot \(id.short)")
            }
        }
    }

    private func has(_ content: Content) throws -> Bool {
        guard let text else { return try contents.share(content, in: store) }
        switch content {
        case .none: return false
        case .inline(let bytes), .linkTarget(let bytes): return bytes.firstRange(of: text) != nil
        case .slices, .sliceLists: break
        }
        var (reader, last) = (ContentReader(content, in: store), [UInt8]())
        while let piece = try reader.next() {
            guard case .data(let bytes) = piece else {
                last = []
                continue
            }
            // The text may be in two pieces.
            last += bytes
            if last.firstRange(of: text) != nil { return true }
            last = Array(last.suffix(text.count - 1))
        }
        return false
    }
}
