// Searches the names of all snapshots for a pattern.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import Exclusions
public import FileIO
public import Roots
internal import SnapshotTree

/// A name that some snapshot has.
public struct FoundName: Sendable, Hashable {
    public let path: RelativePath
    /// The kind of the last object with this name.
    public let kind: FileKind
    /// The last size in bytes.
    public let size: UInt64
    /// How many versions the name has, including those before a rename.
    public let versionCount: Int
    /// The first snapshot that has it.
    public let first: ListedSnapshot
    /// The last snapshot that changed it.
    public let last: ListedSnapshot
    /// Whether the latest snapshot does not have it.
    public let isDeleted: Bool
}

extension Archive {
    /// Returns the names of all snapshots of the root that match `pattern`, in walk order.
    ///
    /// Reads every name, and the first and last change of those that match, however many versions they have.
    ///
    /// - Parameters:
    ///   - pattern: as in a .gitignore file: `*.md` at any depth, `/docs/*.md` from the root on.
    ///   - size: only names whose file was once larger than this, in bytes; nil for all.
    /// - Throws: `ArchiverError` with the code `malformedSelector` if the pattern is invalid.
    public func names(
        matching pattern: [UInt8], largerThan size: UInt64? = nil, in root: ArchivedRoot,
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [FoundName] {
        let pattern = try Archive.namePattern(pattern)
        return try facing {
            guard let number = try indexed(root, progress) else { return [] }
            let search = try NameSearch(self, number, pattern, largerThan: size)
            return try search.run()
        }
    }

    /// Returns the entries of a snapshot that match `pattern`, in walk order.
    public func entries(matching pattern: [UInt8], in snapshot: ListedSnapshot) throws(ArchiverError) -> [Entry] {
        let pattern = try Archive.namePattern(pattern)
        var found: [Entry] = []
        try forEachEntry(in: snapshot) { entry in
            if !entry.path.isRoot, pattern.matches(entry.path.bytes, isDirectory: entry.kind == .directory) {
                found.append(entry)
            }
            return true
        }
        return found
    }

    private static func namePattern(_ bytes: [UInt8]) throws(ArchiverError) -> NamePattern {
        if let pattern = NamePattern(bytes, isAlsoText: true) { return pattern }
        throw ArchiverError(
            .malformedSelector, "'\(String(decoding: bytes, as: UTF8.self))' is not a pattern for names",
            remedy: "use a pattern such as '*.md', 'notes*' or '/docs/**/*.txt'")
    }
}

/// One search for names.
private struct NameSearch {
    private let archive: Archive
    private let root: Int64
    private let pattern: NamePattern
    private let size: UInt64?
    private let first: ListedSnapshot?
    /// The matching entries of the root's first snapshot.
    private var original: [RelativePath: (kind: FileKind, size: UInt64)] = [:]
    private var paths: Set<RelativePath> = []

    private var catalogue: Catalogue { archive.store.catalogue }

    init(_ archive: Archive, _ root: Int64, _ pattern: NamePattern, largerThan size: UInt64?) throws {
        (self.archive, self.root, self.pattern, self.size) = (archive, root, pattern, size)
        first = try archive.store.catalogue.firstSnapshot(root: root)
        var (changed, original) = (paths, original)
        // Patterns for directories only are matched again when the kind of each path is known.
        try archive.store.catalogue.forEachChangedPath(root: root) { path in
            if !path.isRoot, pattern.matches(path.bytes, isDirectory: true) { changed.insert(path) }
        }
        if let first {
            try Tree(first.tree, in: archive.nodes).forEach { (entry) throws(StorageError) in
                if !entry.path.isRoot, pattern.matches(entry.path.bytes, isDirectory: true) {
                    original[entry.path] = (entry.kind, entry.size)
                }
                return true
            }
        }
        self.original = original
        paths = changed.union(original.keys)
    }

    func run() throws -> [FoundName] {
        var snapshots: [HistoryPlace: ListedSnapshot] = [:]
        var found: [FoundName] = []
        for path in paths.sorted() {
            guard let name = try name(path, &snapshots),
                pattern.matches(path.bytes, isDirectory: name.kind == .directory)
            else { continue }
            found.append(name)
        }
        return found
    }

    /// Returns the facts about a name; nil if it was never as large as the query asks.
    private func name(_ path: RelativePath, _ snapshots: inout [HistoryPlace: ListedSnapshot]) throws -> FoundName? {
        let original = original[path]
        let wasLarger = size.map { size in (original?.size ?? 0) > size } ?? true
        guard let ends = try catalogue.ends(of: path, root: root, largerThan: size) else {
            guard let original, let first, wasLarger else { return nil }
            return FoundName(
                path: path, kind: original.kind, size: original.size, versionCount: 1, first: first, last: first,
                isDeleted: false)
        }
        // The entries of the first snapshot are not among the changes.
        let isOriginal = original != nil && ends.first.change.kind != .added
        guard ends.isLarger || isOriginal && wasLarger,
            let last = try snapshot(at: ends.last.place, &snapshots),
            let oldest = try isOriginal ? first : snapshot(at: ends.first.place, &snapshots)
        else { return nil }
        let change = ends.last.change
        return FoundName(
            path: path, kind: change.object, size: change.size, versionCount: ends.count + (isOriginal ? 1 : 0),
            first: oldest, last: last, isDeleted: change.kind == .removed)
    }

    private func snapshot(
        at place: HistoryPlace, _ snapshots: inout [HistoryPlace: ListedSnapshot]
    ) throws -> ListedSnapshot? {
        if let known = snapshots[place] { return known }
        snapshots[place] = try catalogue.snapshot(at: place, root: root)
        return snapshots[place]
    }
}
