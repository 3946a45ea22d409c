// Finding the one snapshot that a selector names.

internal import ArchiveFormat
public import ArchiveStorage
internal import FileIO

extension Archive {
    /// The one snapshot that `selector` names.
    ///
    /// - Parameter root: where to look; nil to look at all roots.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot` or `ambiguousSelector` (with the candidates).
    public func snapshot(
        _ selector: SnapshotSelector, of root: ArchivedRoot? = nil
    ) throws(ArchiverError) -> SnapshotRecord {
        try facing {
            var filter = Catalogue.SnapshotFilter(newestFirst: true, limit: 1)
            if let root {
                guard let number = try number(of: root) else {
                    throw ArchiverError(
                        .noSuchSnapshot, "\(root.path) has no snapshots",
                        remedy: "make one with 'archiver capture \(root.path)'", path: root.path)
                }
                filter.root = number
            }
            switch selector.meaning {
            case .latest(let back):
                filter.offset = back
            case .time(let time):
                filter.until = time
            case .name(let name):
                return try snapshot(named: name, filter)
            }
            guard let found = try store.catalogue.snapshots(filter).first else {
                throw noSuchSnapshot(selector, root)
            }
            return found
        }
    }

    /// The snapshot with the label `name`, the newest where several have it; else the one whose id begins with it.
    private func snapshot(named name: String, _ filter: Catalogue.SnapshotFilter) throws -> SnapshotRecord {
        var byLabel = filter
        byLabel.label = name
        if let labelled = try store.catalogue.snapshots(byLabel).first { return labelled }
        guard name.count <= 2 * ChunkID.byteCount, name.utf8.allSatisfy({ Hex.value($0) != nil }) else {
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot has the label '\(name)'", remedy: "'archiver list' shows the labels")
        }
        // An id is unique wherever its snapshot's root is.
        let candidates = try store.catalogue.snapshots(
            Catalogue.SnapshotFilter(idPrefix: name.lowercased(), newestFirst: true, limit: 20))
        guard let first = candidates.first else {
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot's id begins with '\(name)'", remedy: "'archiver list' shows the ids")
        }
        guard candidates.count == 1 else {
            throw ArchiverError(
                .ambiguousSelector, "'\(name)' is the beginning of several ids", remedy: "give more digits",
                candidates: candidates)
        }
        return first
    }

    private func noSuchSnapshot(_ selector: SnapshotSelector, _ root: ArchivedRoot?) -> ArchiverError {
        let place = root.map { "of \($0.path) " } ?? ""
        return ArchiverError(
            .noSuchSnapshot, "no snapshot \(place)is that old: '\(selector)'",
            remedy: "'archiver list' shows what there is")
    }
}
