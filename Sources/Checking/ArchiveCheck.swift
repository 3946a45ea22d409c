// Checks an archive: that all blocks are intact, and that everything listed can be restored.

internal import ArchiveFormat
package import ArchiveStorage
package import Roots
internal import SnapshotTree

/// One check of an archive.
package enum ArchiveCheck {
    /// The raw bytes that a check may unpack, and how many more for each raw byte of a block.
    ///
    /// The longest chains of an undamaged archive have 17 blocks.
    package static let leastWork = 1 << 30
    package static let workFactor = 32

    /// Checks the segments' blocks, the catalogue against them, every record, and every snapshot's tree and content.
    ///
    /// - Parameter data: the bytes to read and verify besides the structure.
    package static func run(
        _ store: ArchiveStore, reading data: CheckedData, _ progress: OperationProgress?, leastWork: Int = leastWork
    ) throws -> CheckResult {
        // A chunk that moves to another segment during the check would seem to be lost.
        let lock = try store.withoutReclaimers()
        defer { withExtendedLifetime(lock) {} }
        if lock != nil { try store.indexCondemnedAgain() }
        // A cached block may be damaged on the disk by now.
        store.forgetReadBlocks()
        store.limitUnpacking(to: leastWork)
        defer { store.limitUnpacking(to: nil) }
        let nodes = StoredNodes(store)
        // Everything listed now is already in the segments, even if other processes keep writing.
        let listed = try ListedRecords(store.catalogue)
        let known = try store.catalogue.damage()
        let report = CheckReport()
        for finding in store.findings where [.unread, .missing, .unreadable].contains(finding.kind) {
            report.find(finding.message, remedy: finding.remedy)
        }
        report.result.warnings = store.findings.filter(\.isNote).map(\.message)
        let found = try SegmentCheck.run(store, reading: data, report, progress)
        let contents = ContentCheck(store, found.chunks)
        try RecordCheck(store, found, contents, report).run(listed)
        let latest = listed.latest
        let trees = TreeCheck(store, nodes, contents, latest: latest, report)
        for snapshot in listed.snapshots { try trees.check(snapshot) }
        if store.isWritable {
            try store.catalogue.record(losses: found.lost, ofRoots: try roots(of: latest, in: trees.faulty, store))
            if report.result.findingCount == 0 { try store.catalogue.forget(damage: known) }
        }
        if store.isWritable { CheckNotice.write(report.result, of: found.segments, read: found.read, store.layout) }
        if !store.isWritable, report.result.findingCount > 0 { try store.requireSegments(found.segments) }
        return report.result
    }

    /// The numbers of the roots whose latest snapshot is `faulty`: their next capture scans the whole root.
    private static func roots(
        of latest: [ListedSnapshot], in faulty: Set<SnapshotID>, _ store: ArchiveStore
    ) throws -> [Int64] {
        try latest.filter { faulty.contains($0.id) }
            .compactMap { try store.catalogue.root(path: $0.rootPath, machine: $0.machine)?.number }
    }
}

/// The records that the catalogue lists when a check begins.
struct ListedRecords {
    let snapshots: [ListedSnapshot]
    let states: [ListedState]
    let notices: Set<StoredNotice>
    let dropped: Set<SegmentID>
    let forgotten: Set<ChunkID>

    init(_ catalogue: Catalogue) throws {
        snapshots = try catalogue.snapshots()
        states = try catalogue.states()
        notices = try catalogue.notices()
        dropped = try catalogue.droppedSegments()
        forgotten = Set(try catalogue.forgotten().map(\.id))
    }

    /// The latest snapshot of each root.
    var latest: [ListedSnapshot] {
        struct Root: Hashable {
            let path: [UInt8]
            let machine: MachineID
        }
        var latest: [Root: ListedSnapshot] = [:]
        for record in snapshots {
            let root = Root(path: record.rootPath, machine: record.machine)
            if let known = latest[root], !known.isBefore(record) { continue }
            latest[root] = record
        }
        return Array(latest.values)
    }
}

extension ListedSnapshot {
    /// Whether `other`, a snapshot of the same root, is later in the root's order.
    fileprivate func isBefore(_ other: ListedSnapshot) -> Bool {
        if sequence != other.sequence { return sequence < other.sequence }
        return time != other.time ? time < other.time : id.chunk < other.id.chunk
    }
}
