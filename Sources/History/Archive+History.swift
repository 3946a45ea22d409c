// The versions of a file or a directory, newest first.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
public import FileIO
public import Roots
internal import SnapshotTree

extension Archive {
    /// Returns the versions of a path, the newest first: one for each snapshot that changed it.
    ///
    /// Reads only what belongs to the answer, however many snapshots there are. The first call compares the snapshots
    /// whose changes are not indexed yet with their predecessors.
    ///
    /// - Parameter progress: counts the snapshots compared.
    /// - Returns: an empty array if no snapshot of the root ever held the path.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func history(
        of path: RelativePath, in root: ArchivedRoot, _ query: HistoryQuery = HistoryQuery(),
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [PathVersion] {
        try facing {
            guard let number = try indexed(root, progress) else { return [] }
            return try VersionSearch(archive: self, root: number, query: query).versions(of: path)
        }
    }

    /// Returns the snapshots that changed the directory at `path` or something below it, the newest first.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func history(
        ofDirectory path: RelativePath, in root: ArchivedRoot, _ query: HistoryQuery = HistoryQuery(),
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [DirectoryVersion] {
        try facing {
            guard let number = try number(of: root) else { return [] }
            let search = VersionSearch(archive: self, root: number, query: query)
            if path.isRoot, let newest = try search.newestVersionsOfRoot() { return newest }
            try indexHistory(root: number, progress: progress)
            return try search.versions(ofDirectory: path)
        }
    }

    /// Returns the snapshots whose changes are unknown because a part of their trees cannot be read.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func damagedHistory(of root: ArchivedRoot) throws(ArchiverError) -> [ListedSnapshot] {
        try facing { try number(of: root).map { try store.catalogue.damagedHistory(root: $0) } ?? [] }
    }

    /// Returns how many snapshots of a root the next query has to compare first.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func unknownHistoryCount(of root: ArchivedRoot) throws(ArchiverError) -> Int {
        try facing { try number(of: root).map { try store.catalogue.unknownHistoryCount(root: $0) } ?? 0 }
    }

    /// Compares the snapshots of a root that the index of paths lacks, so that the next query need not.
    ///
    /// - Parameter isCancelled: asked again and again; if it returns true, the rest is left.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    package func completeHistory(of root: ArchivedRoot, isCancelled: () -> Bool) throws(ArchiverError) {
        try facing {
            guard let number = try number(of: root) else { return }
            try HistoryIndexing(archive: self, progress: nil).run(root: number, isCancelled: isCancelled)
        }
    }

    /// Completes a root's index of paths and returns its number; nil if the archive has no snapshots of it.
    func indexed(_ root: ArchivedRoot, _ progress: OperationProgress? = nil) throws -> Int64? {
        guard let number = try number(of: root) else { return nil }
        try indexHistory(root: number, progress: progress)
        return number
    }
}

/// One search for versions.
private struct VersionSearch {
    let archive: Archive
    let root: Int64
    let query: HistoryQuery

    private var catalogue: Catalogue { archive.store.catalogue }

    /// Versions that are read per query.
    private static let step = 512

    /// Whether `snapshot`, and every one before it, is older than the query wants.
    private func isBefore(_ snapshot: ListedSnapshot) throws -> Bool {
        guard let since = query.since, snapshot.time < since else { return false }
        return try catalogue.isOrderedByTime(root: root)
    }

    func versions(of path: RelativePath) throws -> [PathVersion] {
        var (path, end, oldest) = (path, query.end, PathChange.Kind?.none)
        var found: [PathVersion] = []
        search: while true {
            let step = min(query.until == nil ? query.limit ?? .max : .max, VersionSearch.step)
            let changes = try catalogue.changes(of: path, root: root, before: end, limit: step)
            for placed in changes {
                (end, oldest) = (placed.place, placed.change.kind)
                guard let snapshot = try catalogue.snapshot(at: placed.place, root: root) else { continue }
                if try isBefore(snapshot) { return found }
                if query.accepts(snapshot) { found.append(PathVersion(snapshot, placed.change)) }
                if found.count == query.limit { return found }
                if query.followsRenames, placed.change.kind == .added, let other = placed.change.other {
                    (path, oldest) = (other, nil)
                    continue search
                }
            }
            if changes.count < step { break }
        }
        if oldest != .added, let first = try firstVersion(of: path, before: end), query.accepts(first.snapshot) {
            found.append(first)
        }
        return found
    }

    /// Returns the version in the root's first snapshot; nil if it has none or comes after `end`.
    private func firstVersion(of path: RelativePath, before end: HistoryPlace) throws -> PathVersion? {
        guard let first = try catalogue.firstSnapshot(root: root), HistoryPlace(first) < end,
            let entry = try archive.readableEntry(at: path, in: first)
        else { return nil }
        return PathVersion(
            first, PathChange(path: path, kind: .added, object: entry.kind, size: entry.size))
    }

    /// Returns the newest versions of the root, and compares only the snapshots that may be among them.
    ///
    /// After a rebuild of the catalogue, comparing all of them takes a minute for 100,000.
    ///
    /// - Returns: nil if more must be compared.
    func newestVersionsOfRoot() throws -> [DirectoryVersion]? {
        guard let limit = query.limit, query.until == nil else { return nil }
        // Some snapshots change nothing.
        let (read, isOver) = limit.multipliedReportingOverflow(by: 2)
        if isOver { return nil }
        let start = try catalogue.place(ofNewest: max(read, 1), root: root, before: query.end)
        try HistoryIndexing(archive: archive, progress: nil).run(root: root, from: start, before: query.end)
        let found = try versions(ofDirectory: .root)
        guard let last = found.last else { return nil }
        return found.count == limit && HistoryPlace(last.snapshot) >= start ? found : nil
    }

    func versions(ofDirectory path: RelativePath) throws -> [DirectoryVersion] {
        var (path, end) = (path, query.end)
        var found: [DirectoryVersion] = []
        while true {
            let renaming = try query.followsRenames ? catalogue.renaming(to: path, root: root, before: end) : nil
            // The query's limits are reached.
            guard try addVersions(ofDirectory: path, from: renaming?.place, before: end, to: &found) else {
                return found
            }
            guard let renaming, let other = renaming.change.other else { break }
            (path, end) = (other, renaming.place)
        }
        if let first = try catalogue.firstSnapshot(root: root), HistoryPlace(first) < end, query.accepts(first),
            try archive.readableEntry(at: path, in: first) != nil
        {
            let counts = ChangeCounts()
            found.append(DirectoryVersion(snapshot: first, path: path, counts: counts, isFirst: true))
        }
        return found
    }

    /// Adds the versions of a directory while it had one name.
    ///
    /// - Parameter start: where it got that name; nil for no limit.
    /// - Returns: false if no more versions are wanted.
    private func addVersions(
        ofDirectory path: RelativePath, from start: HistoryPlace?, before end: HistoryPlace,
        to found: inout [DirectoryVersion]
    ) throws -> Bool {
        var end = end
        while true {
            let step = query.limit.map { query.until == nil ? $0 - found.count : max($0, VersionSearch.step) }
            let placed = try catalogue.counts(below: path, root: root, before: end, limit: step)
            for version in placed {
                if let start, version.place < start { return true }
                end = version.place
                guard let snapshot = try catalogue.snapshot(at: version.place, root: root) else { continue }
                if try isBefore(snapshot) { return false }
                if query.accepts(snapshot) {
                    found.append(
                        DirectoryVersion(snapshot: snapshot, path: path, counts: version.counts, isFirst: false))
                }
                if found.count == query.limit { return false }
            }
            guard let step, placed.count == step else { return true }
        }
    }
}

extension Archive {
    /// Returns the entry of a snapshot at `path`; nil if there is none or it cannot be read.
    func readableEntry(at path: RelativePath, in snapshot: ListedSnapshot) throws(StorageError) -> Entry? {
        do { return try Tree(snapshot.tree, in: nodes).entry(at: path) } catch {
            guard error.isAboutBytes, error.path != store.layout.catalogue else { throw error }
            return nil
        }
    }
}
