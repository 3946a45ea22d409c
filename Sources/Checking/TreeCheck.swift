// Checking snapshots: does each have a tree that is in order, with all contents, and with the totals that it tells?

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SnapshotTree

/// Checks snapshots; what several share is looked at once.
final class TreeCheck {
    private let store: ArchiveStore
    private let contents: ContentCheck
    private let report: CheckReport
    private let present = PresentFiles()
    /// The latest snapshot of each root.
    private let latest: Set<SnapshotID>
    /// Snapshots that are not good.
    private(set) var faulty: Set<SnapshotID> = []
    private var validator: TreeValidator<StoredNodes>
    private var links: LinkCheck

    init(
        _ store: ArchiveStore, _ nodes: StoredNodes, _ contents: ContentCheck, latest: [ListedSnapshot],
        _ report: CheckReport
    ) {
        self.store = store
        self.contents = contents
        self.report = report
        self.latest = Set(latest.map(\.id))
        validator = TreeValidator(nodes)
        links = LinkCheck(nodes)
    }

    func check(_ record: ListedSnapshot) throws {
        report.result.snapshots += 1
        let before = report.result.findingCount
        do {
            if try isGood(record) { return report.result.goodSnapshots += 1 }
        } catch let error as StorageError {
            let isHealed = error.code == .damaged && latest.contains(record.id) && record.isOfThisMachine
            let remedy = isHealed ? "the next capture of \(record.root.path) stores again what is there" : error.remedy
            let name = "snapshot \(record.id.short)"
            report.find(error.message(about: name), snapshot: record.id, remedy: remedy)
        }
        faulty.insert(record.id)
        if report.result.findingCount == before {
            report.find("snapshot \(record.id.short) shares the damage", snapshot: record.id, remedy: TreeCheck.remedy)
        }
    }

    private static let remedy = "other snapshots and paths stay usable; capture again what is still there"

    private func isGood(_ record: ListedSnapshot) throws -> Bool {
        let snapshot = try store.snapshot(record.id)
        // The catalogue has the root's present place, and what its machine is called now.
        guard try store.catalogue.place(of: snapshot) == (record.rootPath, record.machine),
            try record.agrees(
                with: snapshot, label: store.catalogue.label(of: record.id.chunk, else: snapshot.label))
        else {
            report.find(
                inCatalogue: "snapshot \(record.id.short) differs from the catalogue", snapshot: record.id)
            return false
        }
        let visitor = visitor(of: record)
        guard let summary = try validator.validate(tree: snapshot.tree, visitor) else { return false }
        if let fault = snapshot.fault(summary) {
            report.find("snapshot \(record.id.short): \(fault)", snapshot: record.id, remedy: TreeCheck.remedy)
            return false
        }
        var linked: [ChunkID] = []
        try validator.forEachLinkedLeaf(in: snapshot.tree, visitor) { linked.append($0) }
        if let fault = try links.fault(in: linked) {
            visitor.report(fault)
            return false
        }
        return true
    }

    /// What can be done about a file of which bytes are lost.
    private func remedy(for entry: Entry, of snapshot: ListedSnapshot) -> String {
        present.hold(entry, of: snapshot)
            ? "the file is still there: the next capture stores it again"
            : "it is not there any more as it was: only a copy of the archive may have it; other paths stay usable"
    }

    private func visitor(of snapshot: ListedSnapshot) -> TreeValidator<StoredNodes>.Visitor {
        let find = { [report] (path: RelativePath, message: String, remedy: String) in
            report.find(
                "snapshot \(snapshot.id.short): \(message)", snapshot: snapshot.id, path: path, remedy: remedy)
        }
        return TreeValidator.Visitor(
            entry: { [contents, unowned self] (entry: Entry) throws(StorageError) -> Bool in
                guard let fault = contents.fault(in: entry.content) else { return true }
                let remedy = fault.isLoss ? remedy(for: entry, of: snapshot) : TreeCheck.remedy
                find(entry.path, "\(entry.path) \(fault.text)", remedy)
                return false
            },
            report: { find($0.path, $0.message, TreeCheck.remedy) })
    }
}

extension ListedSnapshot {
    /// Whether the catalogue says of the snapshot what the snapshot says, besides the root.
    fileprivate func agrees(with snapshot: Snapshot, label presentLabel: String?) -> Bool {
        tree == snapshot.tree && time == snapshot.time && sequence == snapshot.sequence && cause == snapshot.cause
            && label == presentLabel && parent == snapshot.parent
            && totals == snapshot.totals && changes == snapshot.changes && problems == snapshot.problems.count
    }
}

extension Snapshot {
    /// What the snapshot says of its tree that is not so; nil where all is.
    fileprivate func fault(_ tree: TreeSummary) -> String? {
        if tree.totals != totals {
            return "its tree holds \(tree.totals.text) instead of \(totals.text)"
        }
        // Which paths changed is known only together with the tree before, which may be gone.
        let (changed, overflow) = changes.added.addingReportingOverflow(changes.modified)
        if overflow || changed > tree.entries {
            return "more entries are said to be new or changed than there are"
        }
        return nil
    }
}

extension Totals {
    fileprivate var text: String { "\(files) files, \(directories) directories, \(others) others, \(bytes) bytes" }
}
