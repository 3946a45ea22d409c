// Checking an archive: are all blocks whole, and does everything that it lists restore?

internal import ArchiveStorage

extension Archive {
    /// Checks the archive: the segments' blocks, the catalogue against them, every record, and every snapshot's tree and
    /// content.
    ///
    /// What it passes with `data` restores. Without, it reads what describes the files and not the files' bytes.
    ///
    /// - Parameter data: whether to read every byte and verify it; else the structure only.
    public func check(data: Bool, progress: OperationProgress? = nil) throws(ArchiverError) -> CheckResult {
        try facing {
            // What is listed now is in the segments by now, whatever others write meanwhile.
            let listed = try ListedRecords(store.catalogue)
            let report = CheckReport()
            for finding in store.findings where finding.kind == .unread {
                report.find(finding.message, remedy: finding.remedy)
            }
            let found = try SegmentCheck.run(store, readingData: data, report, progress)
            let contents = ContentCheck(store, found.chunks)
            try RecordCheck(store, found, contents, report).run(listed)
            let trees = TreeCheck(store, nodes, contents, report)
            for snapshot in listed.snapshots { try trees.check(snapshot) }
            return report.result
        }
    }
}

/// The records that the catalogue lists when a check begins.
struct ListedRecords {
    let snapshots: [SnapshotRecord]
    let states: [SavedState]

    init(_ catalogue: Catalogue) throws {
        snapshots = try catalogue.snapshots()
        states = try catalogue.states()
    }
}
