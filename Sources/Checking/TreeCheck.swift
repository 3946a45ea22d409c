// Checks snapshots: that each has a valid tree with all contents, and correct totals.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import Roots
internal import SnapshotTree
internal import SystemPackage

/// Checks snapshots; nodes that several snapshots share are checked once.
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

    func check(_ listed: ListedSnapshot) throws {
        report.result.snapshots += 1
        let before = report.result.findingCount
        do {
            if try isGood(listed) { return report.result.goodSnapshots += 1 }
        } catch let error as StorageError {
            guard error.isAboutBytes else { throw error }
            let isHealed = error.code == .damaged && latest.contains(listed.id) && listed.isOfThisMachine
            let remedy = isHealed ? "the next capture of \(listed.root.path) stores its files again" : error.remedy
            let name = "snapshot \(listed.id.short)"
            report.find(error.message(about: name), snapshot: listed.id, remedy: remedy)
        }
        faulty.insert(listed.id)
        if report.result.findingCount == before {
            report.find("snapshot \(listed.id.short) shares the damage", snapshot: listed.id, remedy: TreeCheck.remedy)
        }
    }

    private static let remedy = "other snapshots and paths stay usable; capture again to store what the root still has"

    private func isGood(_ listed: ListedSnapshot) throws -> Bool {
        let snapshot = try store.snapshot(listed.id)
        guard try isListed(snapshot, as: listed) else {
            report.find(
                inCatalogue: "snapshot \(listed.id.short) differs from the catalogue", snapshot: listed.id)
            return false
        }
        let visitor = visitor(of: listed)
        guard let summary = try validator.validate(tree: snapshot.tree, visitor) else { return false }
        if let fault = snapshot.fault(summary) {
            report.find("snapshot \(listed.id.short): \(fault)", snapshot: listed.id, remedy: TreeCheck.remedy)
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

    /// Whether the catalogue agrees with a snapshot.
    ///
    /// Since the check began, other processes may have labelled or forgotten it or moved its root: then its row is read
    /// again.
    private func isListed(_ snapshot: Snapshot, as listed: ListedSnapshot) throws -> Bool {
        func agrees(_ row: ListedSnapshot) throws -> Bool {
            let label = try store.catalogue.label(of: row.id.chunk, else: snapshot.label)
            let place = try store.catalogue.place(of: snapshot)
            return place == (row.rootPath, row.machine, row.sequence) && row.agrees(with: snapshot, label: label)
        }
        if try agrees(listed) { return true }
        for _ in 0..<TreeCheck.attempts {
            let rows = try store.catalogue.snapshots(Catalogue.SnapshotFilter(idPrefix: listed.id.hex, limit: 1))
            guard let row = rows.first else { return try store.catalogue.isForgotten(listed.id.chunk) }
            if try agrees(row) { return true }
        }
        return false
    }

    /// How often a row is read again: a label may be set between two reads.
    private static let attempts = 3

    /// The remedy for a file with lost bytes.
    private func remedy(for entry: Entry, of snapshot: ListedSnapshot) -> String {
        present.hold(entry, of: snapshot)
            ? "the file is still there: the next capture stores it again"
            : "the file has changed or is gone: only a copy of the archive may have it; other paths stay usable"
    }

    private func visitor(of snapshot: ListedSnapshot) -> TreeValidator<StoredNodes>.Visitor {
        let find = { [report] (path: RelativePath, message: String, remedy: String) in
            report.find(
                "snapshot \(snapshot.id.short): \(message)", snapshot: snapshot.id, path: path, remedy: remedy)
        }
        return TreeValidator.Visitor(
            entry: { [contents, unowned self] (entry: Entry) throws(StorageError) -> Bool in
                guard let (part, fault) = try contents.fault(in: entry) else { return true }
                let remedy = fault.isLoss ? remedy(for: entry, of: snapshot) : TreeCheck.remedy
                find(entry.path, "\(part) \(fault.text)", remedy)
                return false
            },
            report: { find($0.path, $0.message, TreeCheck.remedy) })
    }
}

extension ListedSnapshot {
    /// Whether the catalogue's row agrees with the snapshot; the root and the sequence are not compared.
    fileprivate func agrees(with snapshot: Snapshot, label presentLabel: String?) -> Bool {
        tree == snapshot.tree && time == snapshot.time && cause == snapshot.cause
            && label == presentLabel && parent == snapshot.parent
            && totals == snapshot.totals && changes == snapshot.changes && problems == snapshot.problems.count
    }
}

extension Snapshot {
    /// The first way in which the snapshot's record contradicts its tree; nil if there is none.
    fileprivate func fault(_ tree: TreeSummary) -> String? {
        if tree.totals != totals {
            return "its tree has \(tree.totals.text) instead of \(totals.text)"
        }
        // The changed paths can be verified only with the previous tree, which may have been forgotten.
        let (changed, overflow) = changes.added.addingReportingOverflow(changes.modified)
        if overflow || changed > tree.entries {
            return "it records more new or changed entries than its tree has"
        }
        return nil
    }
}

extension Totals {
    fileprivate var text: String { "\(files) files, \(directories) directories, \(others) others, \(bytes) bytes" }
}

/// Compares lost entries with the files of the roots of this machine.
final class PresentFiles {
    /// The opened roots, by path; nil if a root does not exist.
    private var roots: [[UInt8]: RootDirectory?] = [:]

    /// Whether the file that `entry` of `snapshot` was made from seems unchanged.
    func hold(_ entry: Entry, of snapshot: ListedSnapshot) -> Bool {
        guard snapshot.isOfThisMachine, let root = root(at: snapshot.rootPath), let parent = entry.path.parent,
            let status = try? FileIO.FileStatus.read(
                CName(entry.path.name), in: root.directory.descriptor.openDirectory(parent))
        else { return false }
        return status.kind == entry.kind && status.size == entry.size && status.modified == entry.modified
    }

    private func root(at path: [UInt8]) -> RootDirectory? {
        if let known = roots[path] { return known }
        let root = try? RootDirectory.open(FilePath(bytes: path))
        roots[path] = .some(root)
        return root
    }
}

extension Descriptor {
    fileprivate func openDirectory(_ path: RelativePath) throws(FileError) -> Descriptor {
        if path.isRoot { return try duplicate(path: ".") }
        return try open(beneath: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }
}
