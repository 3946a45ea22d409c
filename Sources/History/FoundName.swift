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
    /// A path with that name.
    public let path: RelativePath
    /// The kind of the last object with this name.
    public let kind: FileKind
    /// The last size in bytes.
    public let size: UInt64
    /// How many versions the name has, including those before a rename.
    public let versionCount: Int
    /// The first snapshot that has it.
    public let first: ListedSnapshot
    /// The last snapshot that changed it, which may be the one that deleted it.
    public let lastChange: ListedSnapshot
    /// The last snapshot that has it, from which it can be restored.
    public let lastIn: ListedSnapshot
    /// The first snapshot without it; nil if the latest snapshot has it.
    public let deletedIn: ListedSnapshot?

    /// Whether the latest snapshot does not have it.
    public var isDeleted: Bool { deletedIn != nil }
}

/// What a user searches names for.
package enum NameWords {
    /// Returns the pattern for a user's text: a plain word matches anywhere in a name, anything else is a pattern.
    package static func pattern(_ given: [UInt8]) -> [UInt8] {
        if given.isEmpty || given.contains(where: Array("/*?[\\!".utf8).contains) { return given }
        let star = UInt8(ascii: "*")
        return [star] + given + [star]
    }
}

extension Archive {
    /// Returns the names of all snapshots of the root that match `pattern`, in walk order.
    ///
    /// - Parameter size: only files that were once larger than this, in bytes; nil for all.
    /// - Throws: `ArchiverError`: `malformedSelector` if the pattern is malformed…
    public func names(
        matching pattern: [UInt8], ignoringCase: Bool = false, largerThan size: UInt64? = nil, in root: ArchivedRoot,
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [FoundName] {
        var found: [FoundName] = []
        try forEachName(matching: pattern, ignoringCase: ignoringCase, largerThan: size, in: root, progress: progress) {
            name in
            found.append(name)
            return true
        }
        return found
    }

    /// Calls `body` with each name of all snapshots of the root that matches `pattern`, in walk order, until it returns
    /// false.
    ///
    /// Reads every name, and the first and last change of those that match, however many versions they have.
    ///
    /// - Parameters:
    ///   - pattern: as in a .gitignore file: `*.md` at any depth, `/docs/*.md` from the root on.
    ///   - ignoringCase: whether the letters A to Z and a to z are the same.
    ///   - size: only names whose file was once larger than this, in bytes; nil for all.
    ///   - isCancelled: asked again and again; if it returns true, the search ends early.
    /// - Throws: `ArchiverError` with the code `malformedSelector` if the pattern is invalid.
    public func forEachName(
        matching pattern: [UInt8], ignoringCase: Bool = false, largerThan size: UInt64? = nil, in root: ArchivedRoot,
        progress: OperationProgress? = nil, isCancelled: @escaping @Sendable () -> Bool = { false },
        _ body: (FoundName) -> Bool
    ) throws(ArchiverError) {
        let pattern = try SoughtName(pattern, ignoringCase: ignoringCase)
        try facing {
            guard let number = try indexed(root, progress) else { return }
            let search = NameSearch(
                archive: self, root: number, pattern: pattern, size: size, isCancelled: isCancelled)
            try search.run(body)
        }
    }

    /// Returns the entries of a snapshot that match `pattern`, in walk order.
    ///
    /// - Throws: `ArchiverError`: `malformedSelector` if the pattern is malformed, `damaged` if a part of the snapshot
    ///   cannot be read…
    public func entries(
        matching pattern: [UInt8], ignoringCase: Bool = false, in snapshot: ListedSnapshot
    ) throws(ArchiverError) -> [Entry] {
        let pattern = try SoughtName(pattern, ignoringCase: ignoringCase)
        var found: [Entry] = []
        try forEachEntry(in: snapshot) { entry in
            if !entry.path.isRoot, pattern.matches(entry.path.bytes, isDirectory: entry.kind == .directory) {
                found.append(entry)
            }
            return true
        }
        return found
    }
}

/// The pattern of a search.
private struct SoughtName {
    private let pattern: NamePattern
    private let ignoresCase: Bool

    init(_ bytes: [UInt8], ignoringCase: Bool) throws(ArchiverError) {
        let given = ignoringCase ? SoughtName.folded(bytes) : bytes
        guard let pattern = NamePattern(given, isAlsoText: true) else {
            throw ArchiverError(
                .malformedSelector, "'\(String(decoding: bytes, as: UTF8.self))' is not a pattern for names",
                remedy: "use a pattern such as '*.md', 'notes*' or '/docs/**/*.txt'")
        }
        self.pattern = pattern
        ignoresCase = ignoringCase
    }

    func matches(_ path: [UInt8], isDirectory: Bool) -> Bool {
        pattern.matches(ignoresCase ? SoughtName.folded(path) : path, isDirectory: isDirectory)
    }

    private static func folded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

/// One search for names.
private struct NameSearch {
    let archive: Archive
    let root: Int64
    let pattern: SoughtName
    let size: UInt64?
    let isCancelled: @Sendable () -> Bool

    /// The matching entries of the root's first snapshot.
    private typealias Originals = [RelativePath: (kind: FileKind, size: UInt64)]

    /// Snapshots that were read already.
    private struct Snapshots {
        let catalogue: Catalogue
        let root: Int64
        var known: [HistoryPlace: ListedSnapshot] = [:]
        var before: [HistoryPlace: ListedSnapshot] = [:]
        var regular: [HistoryPlace: ListedSnapshot] = [:]

        mutating func at(_ place: HistoryPlace) throws(StorageError) -> ListedSnapshot? {
            if let known = known[place] { return known }
            known[place] = try catalogue.snapshot(at: place, root: root)
            return known[place]
        }

        mutating func regular(from place: HistoryPlace) throws(StorageError) -> ListedSnapshot? {
            if let known = try at(place), !known.isAside { return known }
            if let known = regular[place] { return known }
            regular[place] = try catalogue.regularSnapshot(from: place, root: root)
            return regular[place]
        }

        mutating func before(_ place: HistoryPlace) throws(StorageError) -> ListedSnapshot? {
            if let known = before[place] { return known }
            before[place] = try catalogue.snapshot(before: place, root: root)
            return before[place]
        }
    }

    private var catalogue: Catalogue { archive.store.catalogue }

    func run(_ body: (FoundName) -> Bool) throws {
        let excluded = ExcludedPaths(archive)
        var snapshots = Snapshots(catalogue: catalogue, root: root)
        guard let first = try catalogue.firstSnapshot(root: root), let latest = try snapshots.before(.end) else {
            return
        }
        let originals = try originals(first)
        for path in try changedPaths().union(originals.keys).sorted() {
            if isCancelled() { return }
            guard let name = try name(path, originals[path], first, latest, &snapshots, excluded),
                pattern.matches(path.bytes, isDirectory: name.kind == .directory)
            else { continue }
            if !body(name) { return }
        }
    }

    // Patterns for directories only are matched again when the kind of each path is known.

    private func changedPaths() throws -> Set<RelativePath> {
        var paths: Set<RelativePath> = []
        try catalogue.forEachChangedPath(root: root) { path in
            if !path.isRoot, pattern.matches(path.bytes, isDirectory: true) { paths.insert(path) }
            return !isCancelled()
        }
        return paths
    }

    private func originals(_ first: ListedSnapshot) throws -> Originals {
        var originals: Originals = [:]
        try Tree(first.tree, in: archive.nodes).forEach { (entry) throws(StorageError) in
            if !entry.path.isRoot, pattern.matches(entry.path.bytes, isDirectory: true) {
                originals[entry.path] = (entry.kind, entry.size)
            }
            return !isCancelled()
        }
        return originals
    }

    /// Returns the facts about a name; nil if it was never as large as the query asks.
    ///
    /// - Parameters:
    ///   - original: what the root's first snapshot has at the path.
    ///   - first: the root's first snapshot.
    private func name(
        _ path: RelativePath, _ original: (kind: FileKind, size: UInt64)?, _ first: ListedSnapshot,
        _ latest: ListedSnapshot, _ snapshots: inout Snapshots, _ excluded: ExcludedPaths
    ) throws -> FoundName? {
        let wasLarger = size.map { size in (original?.size ?? 0) > size } ?? true
        guard let ends = try catalogue.ends(of: path, root: root, largerThan: size) else {
            guard let original, wasLarger else { return nil }
            return FoundName(
                path: path, kind: original.kind, size: original.size, versionCount: 1, first: first, lastChange: first,
                lastIn: latest, deletedIn: nil)
        }
        // The entries of the first snapshot are not among the changes.
        let isOriginal = original != nil && ends.first.change.kind != .added
        guard ends.isLarger || isOriginal && wasLarger, let lastChange = try snapshots.at(ends.last.place),
            let oldest = try isOriginal ? first : snapshots.at(ends.first.place)
        else { return nil }
        let change = ends.last.change
        let isGone = change.kind == .removed
        guard let lastIn = try isGone ? snapshots.before(ends.last.place) : latest else { return nil }
        // A snapshot captured aside lacks paths that it excludes: only a later one shows their deletion.
        var deletedIn = isGone ? try snapshots.regular(from: ends.last.place) : nil
        if let known = deletedIn, try excluded.explain(change, after: lastIn, in: known) { deletedIn = nil }
        return FoundName(
            path: path, kind: change.object, size: change.size, versionCount: ends.count + (isOriginal ? 1 : 0),
            first: oldest, lastChange: lastChange, lastIn: lastIn, deletedIn: deletedIn)
    }
}
