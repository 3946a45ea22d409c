// A scan: the walk on one thread, reading on several, the changes in walk order again.

package import ArchiveFormat
package import ArchiveStorage
package import Exclusions
package import FileIO
package import FileWatching
internal import Glibc
package import Roots
package import SnapshotTree
internal import Threading

/// Finds what differs between a root and a tree.
package struct TreeScan {
    package let store: ArchiveStore
    package let nodes: StoredNodes
    /// Where new content goes; nil to compare without storing anything.
    package let commit: CommitWriter?
    /// zlib's effort for content, 1 to 9.
    package let level: Int
    package let progress: OperationProgress?
    /// What is left out.
    package let rules: ExclusionRules
    /// Whether what the base tree has of that counts as gone; else it is passed over.
    package let removesExcluded: Bool
    /// Whether a file is to be read although its times are those of the tree.
    var isDoubtful: (RelativePath, FileStatus) -> Bool = { _, _ in false }
    /// Whether some of what the base tree has of a file is lost, so that it is to be read again; nil where nothing is.
    package var isLost: ((Content) -> Bool)?
    /// Whether a file that may have changed is read later.
    package var postpones: ((RelativePath, FileStatus, Entry) -> Bool)?
    /// Told of temporary files of archiver itself.
    package var onLeftBehind: ((RelativePath) -> Void)?
    /// What is taken although the rules leave it out.
    package var foreseen: ForeseenRules?

    /// A scan that captures: new content goes to `commit`.
    package init(
        into commit: CommitWriter, level: Int, nodes: StoredNodes, _ rules: ExclusionRules,
        _ progress: OperationProgress?
    ) {
        (store, self.nodes, self.commit, self.level) = (nodes.store, nodes, commit, level)
        (self.rules, removesExcluded, self.progress) = (rules, true, progress)
    }

    /// A scan that only compares: nothing is stored.
    ///
    /// - Parameters:
    ///   - nodes: what reads the nodes of the tree that is compared with.
    ///   - rules: what is left out of the root.
    ///   - foreseen: what is looked at all the same.
    ///   - removesExcluded: whether what the tree has of that is a difference.
    package init(
        comparing nodes: StoredNodes, _ rules: ExclusionRules, foreseen: ForeseenRules? = nil,
        removesExcluded: Bool = false, _ progress: OperationProgress? = nil
    ) {
        (store, self.nodes, commit, level) = (nodes.store, nodes, nil, 1)
        (self.rules, self.foreseen, self.removesExcluded, self.progress) = (rules, foreseen, removesExcluded, progress)
    }

    /// A reader of objects with all that it needs; one thread at a time has it.
    private final class Worker: @unchecked Sendable {
        // Unchecked: the pool hands a worker to one thread at a time.
        let packer: ChunkPacker
        let reader: EntryReader

        init(_ packer: ChunkPacker, device: UInt64, _ progress: OperationProgress?) {
            self.packer = packer
            reader = EntryReader(FileReader(packer, progress: progress), device: device)
        }
    }

    /// Work for one thread at once: enough to be worth it, little enough to be held in memory.
    private static let batchItems = 512
    private static let batchBytes: UInt64 = 1 << 20

    /// Compares `ranges` of `root` with the tree `base`.
    ///
    /// - Parameters:
    ///   - base: the root node of the tree to compare with; nil for the tree of nothing.
    ///   - ranges: in walk order, not overlapping.
    ///   - body: takes the changes in walk order, among them such as are no difference.
    /// - Returns: paths of ranges that neither the root nor the tree has.
    @discardableResult
    package func run(
        _ root: RootDirectory, base: ChunkID?, ranges: [PathRange], _ body: (ScanChange) throws -> Void
    ) throws -> [RelativePath] {
        let archive = try FileStatus.read(CName(), in: Descriptor.open(store.layout.directory, O_RDONLY | O_DIRECTORY))
        let appender = commit.map { BlockAppender(store, $0, level: level) }
        let workers = Pool { [store, progress] in
            Worker(ChunkPacker(store, appender), device: root.status.device, progress)
        }
        return try withoutActuallyEscaping(body) { body in
            let pipeline = OrderedPipeline<[ScanItem], [ScanChange]>(
                width: TreeScan.width,
                transform: { items in try workers.with { try TreeScan.read(items, with: $0) } },
                consume: { changes in for change in changes { try body(change) } })
            var batch: [ScanItem] = []
            var batchBytes: UInt64 = 0
            let cursor = try base.map { try TreeCursor($0, in: nodes) }
            var walk = TreeWalk(
                root, base: cursor,
                isHidden: { status in archive.map { status.isSameObject(as: $0) } ?? false }, rules: rules,
                foreseen: foreseen,
                removesExcluded: removesExcluded, isDoubtful: isDoubtful, isLost: isLost, postpones: postpones,
                progress: progress, onLeftBehind: onLeftBehind,
                emit: { item in
                    batch.append(item)
                    if case .suspect(let suspect) = item, suspect.status.kind == .file {
                        batchBytes = FormatLimits.sum(batchBytes, suspect.status.size, .max)
                    }
                    if batch.count >= TreeScan.batchItems || batchBytes >= TreeScan.batchBytes {
                        try pipeline.submit(batch)
                        batch.removeAll(keepingCapacity: true)
                        batchBytes = 0
                    }
                })
            try walk.walk(ranges)
            try pipeline.finish(with: batch)
            return walk.unknown
        }
    }

    /// Batches under way at once: what each core has to do and what waits for it, so that none is idle while the walk's
    /// thread takes in what was done.
    private static let width = 2 * max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) + 2

    private static func read(_ items: [ScanItem], with worker: Worker) throws -> [ScanChange] {
        defer { worker.packer.abandon() }
        var changes: [ScanChange] = []
        changes.reserveCapacity(items.count)
        for item in items {
            switch item {
            case .gone(let entry): changes.append(ScanChange(old: entry, new: nil))
            case .problem(let problem): changes.append(ScanChange(old: nil, new: nil, problem: problem))
            case .suspect(let suspect): changes.append(try worker.reader.read(suspect))
            }
        }
        try worker.packer.flush()
        return changes
    }
}
