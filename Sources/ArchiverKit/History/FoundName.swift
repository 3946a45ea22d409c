// Every name that ever was: found by a pattern.

public import ArchiveFormat
public import ArchiveStorage
internal import Exclusions
public import FileIO
internal import SnapshotTree

/// A name that some snapshot has, and its versions.
public struct FoundName: Sendable, Hashable {
    public let path: RelativePath
    /// What was there last.
    public let kind: FileKind
    /// Its size then, and the greatest that it ever had, in bytes.
    public let size: UInt64
    public let greatestSize: UInt64
    /// Its versions, the newest first; what had the name before a rename among them.
    public let versions: [PathVersion]

    /// Whether the latest snapshot does not have it.
    public var isDeleted: Bool { !(versions.first?.isPresent ?? false) }

    fileprivate init?(_ versions: [PathVersion]) {
        guard let newest = versions.first else { return nil }
        path = newest.path
        kind = newest.kind
        size = newest.size
        greatestSize = versions.map(\.size).max() ?? 0
        self.versions = versions
    }
}

extension Archive {
    /// The names that match `pattern` and that some snapshot of the root has, in walk order.
    ///
    /// - Parameter pattern: as in a .gitignore file: `*.md` at any depth, `/docs/*.md` from the root on.
    /// - Throws: `ArchiverError` of the code `malformedSelector` where it is no pattern.
    public func names(
        matching pattern: [UInt8], in root: ArchivedRoot, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [FoundName] {
        let pattern = try Archive.namePattern(pattern)
        return try facing {
            guard let number = try indexed(root, progress) else { return [] }
            var paths: Set<RelativePath> = []
            // A pattern for directories alone is asked again when it is known what each of them was.
            try store.catalogue.forEachChangedPath(root: number) { path in
                if !path.isRoot, pattern.matches(path.bytes, isDirectory: true) { paths.insert(path) }
            }
            if let first = try store.catalogue.firstSnapshot(root: number) {
                try Tree(first.tree, in: nodes).forEach { (entry) throws(StorageError) in
                    if !entry.path.isRoot, pattern.matches(entry.path.bytes, isDirectory: true) {
                        paths.insert(entry.path)
                    }
                    return true
                }
            }
            var found: [FoundName] = []
            let query = HistoryQuery(followsRenames: false)
            for path in paths.sorted() {
                guard let name = FoundName(try history(of: path, in: root, query)),
                    pattern.matches(path.bytes, isDirectory: name.kind == .directory)
                else { continue }
                found.append(name)
            }
            return found
        }
    }

    /// What a snapshot holds that matches `pattern`, in walk order.
    public func entries(matching pattern: [UInt8], in snapshot: SnapshotRecord) throws(ArchiverError) -> [Entry] {
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
        if let pattern = NamePattern(bytes) { return pattern }
        throw ArchiverError(
            .malformedSelector, "'\(String(decoding: bytes, as: UTF8.self))' is not a pattern that a name could match",
            remedy: "a pattern is like '*.md', 'notes*' or '/docs/**/*.txt'")
    }
}
