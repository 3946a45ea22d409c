// A scan: one thread walks, several threads read, and the changes are returned in walk order.

package import ArchiveFormat
package import ArchiveStorage
package import Exclusions
package import FileIO
package import FileWatching
internal import Glibc
package import Roots
package import SnapshotTree
internal import Threading

/// Finds the differences between a root and a tree.
package struct TreeScan {
    package let store: ArchiveStore
    package let nodes: StoredNodes
    /// Where new content goes; nil to compare without storing anything.
    package let commit: CommitWriter?
    /// The zlib level for content, 1 to 9.
    package let level: Int
    package let progress: OperationProgress?
    /// The exclusions.
    package let rules: ExclusionRules
    /// Whether excluded entries of the base tree count as removed; otherwise they are skipped.
    package let removesExcluded: Bool
    /// Whether to read a file although its times are those of the tree.
    var isDoubtful: (RelativePath, FileStatus) -> Bool = { _, _ in false }
    /// Whether a part of a file's content in the base tree is lost, so that the file is read again; nil if nothing is.
    package var isLost: ((Entry) -> Bool)?
    /// Whether to postpone the reading of a file that may have changed.
    package var postpones: ((RelativePath, FileStatus, Entry) -> Bool)?
    /// Called for each temporary file of archiver itself.
    package var onLeftBehind: ((RelativePath) -> Void)?
    /// Paths that are included although the rules exclude them.
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
    ///   - nodes: reads the nodes of the tree to compare with.
    ///   - rules: the exclusions.
    ///   - foreseen: paths that are compared although the rules exclude them.
    ///   - removesExcluded: whether excluded entries of the tree count as removed.
    package init(
        comparing nodes: StoredNodes, _ rules: ExclusionRules, foreseen: ForeseenRules? = nil,
        removesExcluded: Bool = false, _ progress: OperationProgress? = nil
    ) {
        (store, self.nodes, commit, level) = (nodes.store, nodes, nil, 1)
        (self.rules, self.foreseen, self.removesExcluded, self.progress) = (rules, foreseen, removesExcluded, progress)
    }

    /// A reader of objects with its packer; one thread uses it at a time.
    private final class Worker: @unchecked Sendable {
        // Unchecked: the pool hands a worker to one thread at a time.
        let packer: ChunkPacker
        let reader: EntryReader

        init(_ packer: ChunkPacker, device: UInt64, isLocal: Bool, _ progress: OperationProgress?) {
            self.packer = packer
            reader = EntryReader(FileReader(packer, progress: progress), device: device, isLocal: isLocal)
        }
    }

    /// The size of one thread's batch: large enough to be worth the overhead, small enough to hold in memory.
    private static let batchItems = 512
    private static let batchBytes: UInt64 = 1 << 20

    /// Compares `ranges` of `root` with the tree `base`.
    ///
    /// - Parameters:
    ///   - base: the root node of the tree to compare with; nil for the empty tree.
    ///   - ranges: in walk order, not overlapping.
    ///   - body: called with each change in walk order, including changes without a difference.
    /// - Returns: paths of ranges that neither the root nor the tree has.
    @discardableResult
    package func run(
        _ root: RootDirectory, base: ChunkID?, ranges: [PathRange], _ body: (ScanChange) throws -> Void
    ) throws -> [RelativePath] {
        let archive = try FileStatus.read(CName(), in: Descriptor.open(store.layout.directory, O_RDONLY | O_DIRECTORY))
        let appender = commit.map { BlockAppender(store, $0, level: level) }
        let isLocal = try FileSystem.of(root.directory.descriptor).reach == .local
        let workers = Pool { [store, progress] in
            Worker(ChunkPacker(store, appender), device: root.status.device, isLocal: isLocal, progress)
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

    /// How many batches run or wait at a time: two per core and two more, so that no core is idle while the walk's
    /// thread consumes results.
    private static let width = 2 * Processors.count + 2

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
