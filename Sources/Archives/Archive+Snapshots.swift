// Reads an archive: its roots, its snapshots and their entries.

public import ArchiveFormat
public import ArchiveStorage
internal import Exclusions
public import FileIO
internal import FoundationEssentials
public import Roots
internal import SnapshotTree
public import SystemPackage

/// Selects snapshots.
public struct SnapshotQuery: Sendable {
    /// Only snapshots of this root.
    public var root: ArchivedRoot?
    /// Only snapshots with this label.
    public var label: String?
    /// Only snapshots made at or after this instant.
    public var since: Timestamp?
    /// Only snapshots made at or before this instant.
    public var until: Timestamp?
    /// Whether the newest snapshot comes first.
    public var newestFirst: Bool
    /// The maximum number of snapshots to return.
    public var limit: Int?

    /// A query; what is nil is not restricted.
    public init(
        root: ArchivedRoot? = nil, label: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil,
        newestFirst: Bool = false, limit: Int? = nil
    ) {
        self.root = root
        self.label = label
        self.since = since
        self.until = until
        self.newestFirst = newestFirst
        self.limit = limit
    }
}

extension Archive {
    /// The directories that the archive has snapshots of, ordered by path.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func roots() throws(ArchiverError) -> [ArchivedRoot] {
        try facing { try store.catalogue.roots().map(ArchivedRoot.init) }
    }

    /// The root of this machine at `directory`; nil if the archive has no snapshots of it.
    package func root(at directory: FilePath) throws(ArchiverError) -> ArchivedRoot? {
        let path = (try? RootDirectory.resolved(directory)) ?? directory
        return try root(holding: path).flatMap { $0.path == path ? $0 : nil }
    }

    /// The innermost root of this machine that is `directory` or contains it; nil if there is none.
    ///
    /// - Parameter directory: an absolute path without symbolic links, or any path of an existing directory.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func root(holding directory: FilePath) throws(ArchiverError) -> ArchivedRoot? {
        let absolute = (try? RootDirectory.resolved(directory)) ?? directory
        return try roots()
            .filter { $0.isHere && absolute.starts(with: $0.path) }
            .max { $0.path.components.count < $1.path.components.count }
    }

    /// The snapshots that `query` selects: those of one root in their order, those of several roots ordered by time.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func snapshots(_ query: SnapshotQuery = SnapshotQuery()) throws(ArchiverError) -> [ListedSnapshot] {
        try facing {
            guard let filter = try filter(query) else { return [] }
            return try store.catalogue.snapshots(filter)
        }
    }

    /// The number of snapshots that `query` selects, without its limit.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func snapshotCount(_ query: SnapshotQuery = SnapshotQuery()) throws(ArchiverError) -> Int {
        try facing {
            guard let filter = try filter(query) else { return 0 }
            return try store.catalogue.count(filter)
        }
    }

    /// Calls `body` with each snapshot that `query` selects, in the order of `snapshots`, until it returns false.
    ///
    /// Reads the snapshots in batches, so the first arrive immediately and few are in memory. `body` may use the
    /// archive and may be slow: no lock is held while it runs.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func forEachSnapshot(
        _ query: SnapshotQuery = SnapshotQuery(), _ body: (ListedSnapshot) -> Bool
    ) throws(ArchiverError) {
        try facing {
            guard var filter = try filter(query) else { return }
            // The catalogue stores the snapshots of one root side by side, so this is faster.
            if filter.owner == nil {
                let roots = try store.catalogue.roots()
                if roots.count == 1 { filter.owner = roots.first?.number }
            }
            var left = query.limit ?? .max
            var step = 256
            while left > 0 {
                filter.limit = min(step, left)
                let records = try store.catalogue.snapshots(filter)
                for record in records { guard body(record) else { return } }
                guard let last = records.last, records.count == filter.limit else { return }
                filter.behind = .init(sequence: last.sequence, time: last.time, id: last.id.chunk)
                left -= records.count
                step = 4096
            }
        }
    }

    /// The snapshots right after `snapshot`, or right before it, in the same root, nearest first.
    ///
    /// - Parameter limit: the maximum number of snapshots.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func neighbours(
        of snapshot: ListedSnapshot, isLater: Bool, limit: Int
    ) throws(ArchiverError) -> [ListedSnapshot] {
        try facing {
            guard let number = try number(of: snapshot.root) else { return [] }
            var filter = Catalogue.SnapshotFilter(of: number, newestFirst: !isLater, limit: limit)
            filter.behind = .init(sequence: snapshot.sequence, time: snapshot.time, id: snapshot.id.chunk)
            return try store.catalogue.snapshots(filter)
        }
    }

    /// A number that is different after each change of the archive by any process.
    package func changeNumber() throws(ArchiverError) -> ChangeNumber {
        try facing { try store.catalogue.changeNumber() }
    }

    /// The last snapshot of `root`, in their order, among those made at or before `time`; nil if there is none.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func snapshot(of root: ArchivedRoot, at time: Timestamp) throws(ArchiverError) -> ListedSnapshot? {
        try facing { try number(of: root).flatMap { try store.catalogue.lastSnapshot(root: $0, at: time) } }
    }

    /// Whether the times of the snapshots of `root` follow their order.
    package func isOrderedByTime(_ root: ArchivedRoot) throws(ArchiverError) -> Bool {
        try facing { try number(of: root).map { try store.catalogue.isOrderedByTime(root: $0) } ?? true }
    }

    /// The snapshots whose times contradict the order of their root, or are later than now: a clock was wrong.
    ///
    /// - Parameter root: nil for all roots.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func snapshotsOutOfOrder(of root: ArchivedRoot?) throws(ArchiverError) -> Set<SnapshotID> {
        try facing {
            let now = Timestamp.now
            let roots =
                try root.map { Set([try number(of: $0)].compactMap { $0 }) }
                ?? store.catalogue.rootsOutOfOrder(now: now)
            return try roots.reduce(into: []) { $0.formUnion(try store.catalogue.outOfOrder(root: $1, now: now)) }
        }
    }

    /// The entries of a directory in a snapshot, in walk order, without those of its subdirectories.
    ///
    /// Skips the subtrees, so the cost does not depend on their size.
    ///
    /// - Parameters:
    ///   - last: the last entry already returned; the result begins after it.
    ///   - limit: the maximum number of entries to return.
    /// - Throws: `ArchiverError`: `damaged` if a part of the snapshot cannot be read…
    public func children(
        of directory: RelativePath, in snapshot: ListedSnapshot, after last: RelativePath? = nil, limit: Int = .max
    ) throws(ArchiverError) -> [Entry] {
        try facing {
            var cursor = try TreeCursor(snapshot.tree, in: nodes)
            try cursor.seek(to: last.map(Archive.behindAll(in:)) ?? directory)
            var found: [Entry] = []
            while found.count < limit, let entry = try cursor.next(), directory.contains(entry.path) {
                if entry.path == directory { continue }
                found.append(entry)
                if entry.kind == .directory { try cursor.seek(to: Archive.behindAll(in: entry.path)) }
            }
            return found
        }
    }

    /// The least path after everything a directory can contain: in walk order only a slash comes before the byte 1.
    private static func behindAll(in directory: RelativePath) -> RelativePath {
        RelativePath(unchecked: directory.bytes + [1])
    }

    /// The catalogue's filter for `query`; nil if no snapshot can match.
    func filter(_ query: SnapshotQuery) throws -> Catalogue.SnapshotFilter? {
        var filter = Catalogue.SnapshotFilter(
            label: query.label, until: query.until, since: query.since, newestFirst: query.newestFirst,
            limit: query.limit)
        if let root = query.root {
            guard let number = try number(of: root) else { return nil }
            filter.owner = number
        }
        return filter
    }

    /// The catalogue's number of `root`; nil if the archive has no snapshots of it.
    package func number(of root: ArchivedRoot) throws(StorageError) -> Int64? {
        try store.catalogue.root(path: root.path.bytes, machine: root.machine)?.number
    }

    /// The whole record of a snapshot, with changed paths, problems and names of owners.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of the snapshot cannot be read…
    public func details(of snapshot: ListedSnapshot) throws(ArchiverError) -> Snapshot {
        try facing { try store.snapshot(snapshot.id) }
    }

    /// The snapshot's record as JSON with sorted keys.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of the snapshot cannot be read…
    public func rawJSON(of snapshot: ListedSnapshot) throws(ArchiverError) -> String {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(store.snapshot(snapshot.id)), as: UTF8.self)
        }
    }

    /// The entry at `path` in `snapshot`; nil if there is none.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of the snapshot cannot be read…
    public func entry(at path: RelativePath, in snapshot: ListedSnapshot) throws(ArchiverError) -> Entry? {
        try facing { try Tree(snapshot.tree, in: nodes).entry(at: path) }
    }

    /// Calls `body` with the entry at `path` and all entries below it, in walk order, until it returns false.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of the snapshot cannot be read…
    public func forEachEntry(
        in snapshot: ListedSnapshot, at path: RelativePath = .root, _ body: (Entry) -> Bool
    ) throws(ArchiverError) {
        try facing {
            try Tree(snapshot.tree, in: nodes).forEach(at: path) { (entry) throws(StorageError) in body(entry) }
        }
    }

    /// The bytes of a file's content in `range`, with holes as zeros; fewer if the file ends earlier.
    ///
    /// Reads only what the range touches: in a large file, one list of its slices, and the chunks that hold the bytes.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of the file cannot be read…
    public func read(_ entry: Entry, range: Range<UInt64>) throws(ArchiverError) -> [UInt8] {
        try facing {
            guard range.lowerBound < entry.size else { return [] }
            let count = min(range.upperBound, entry.size) - range.lowerBound
            var bytes = StoredBytes(entry.content, in: store)
            return try bytes.read(at: range.lowerBound, Int(count))
        }
    }

    /// The content of a file in a snapshot.
    ///
    /// - Parameters:
    ///   - path: the file's path below the snapshot's root.
    ///   - limit: the most bytes to return.
    /// - Throws: `ArchiverError` with the codes `noSuchPath` if the snapshot has no file there, `unsuitable` if it is
    ///   larger than `limit`, `damaged`…
    public func contents(
        of path: RelativePath, in snapshot: ListedSnapshot, limit: Int = 64 << 20
    ) throws(ArchiverError) -> [UInt8] {
        guard let entry = try entry(at: path, in: snapshot), entry.kind == .file else {
            throw ArchiverError(
                .noSuchPath, "snapshot \(snapshot.id.short) has no file at '\(path)'", remedy: "list its entries")
        }
        guard entry.size <= UInt64(max(0, limit)) else {
            throw ArchiverError(
                .unsuitable, "'\(path)' has \(entry.size) bytes, more than the limit of \(limit)",
                remedy: "read it piece by piece")
        }
        return try read(entry, range: 0..<entry.size)
    }

    /// Returns the extended attributes of an entry with their values, of which large ones are read from the archive.
    ///
    /// - Throws: `ArchiverError` with the code `damaged` if a value cannot be read.
    public func attributes(of entry: Entry) throws(ArchiverError) -> [ExtendedAttribute] {
        try facing {
            try entry.attributes.map { ExtendedAttribute(name: $0.name, value: try store.value(of: $0)) }
        }
    }

    /// Calls `body` with each piece of a file's content, with holes as zeros, until it returns false.
    ///
    /// - Throws: `ArchiverError`: `damaged` if a part of the file cannot be read…
    public func forEachPiece(of entry: Entry, _ body: (UnsafeRawBufferPointer) -> Bool) throws(ArchiverError) {
        try facing {
            let zeros = [UInt8](repeating: 0, count: 64 << 10)
            var pieces = ContentReader(entry.content, in: store)
            while let piece = try pieces.next() {
                switch piece {
                case .data(let bytes):
                    guard bytes.withUnsafeBytes(body) else { return }
                case .hole(var length):
                    while length > 0 {
                        let count = Int(min(length, UInt64(zeros.count)))
                        guard zeros.withUnsafeBytes({ body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }) else {
                            return
                        }
                        length -= UInt64(count)
                    }
                }
            }
        }
    }
}
