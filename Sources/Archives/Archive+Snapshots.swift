// Looking into an archive: its roots, its snapshots, what they hold.

public import ArchiveFormat
public import ArchiveStorage
internal import Exclusions
public import FileIO
internal import FoundationEssentials
public import Roots
internal import SnapshotTree
public import SystemPackage

/// Which snapshots are wanted.
public struct SnapshotQuery: Sendable {
    /// Of this root only.
    public var root: ArchivedRoot?
    /// With this label only.
    public var label: String?
    /// Made at this instant or after.
    public var since: Timestamp?
    /// Made at this instant or before.
    public var until: Timestamp?
    /// Whether the newest comes first.
    public var newestFirst: Bool
    /// The most snapshots to give.
    public var limit: Int?

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
    /// The directories that the archive has snapshots of, by path.
    public func roots() throws(ArchiverError) -> [ArchivedRoot] {
        try facing { try store.catalogue.roots().map(ArchivedRoot.init) }
    }

    /// The root of this machine at `directory`; nil where the archive has no snapshots of it.
    package func root(at directory: FilePath) throws(ArchiverError) -> ArchivedRoot? {
        let path = (try? RootDirectory.resolved(directory)) ?? directory
        return try root(holding: path).flatMap { $0.path == path ? $0 : nil }
    }

    /// The innermost root of this machine that is `directory` or holds it.
    ///
    /// - Parameter directory: an absolute path without symbolic links, or any path of an existing directory.
    public func root(holding directory: FilePath) throws(ArchiverError) -> ArchivedRoot? {
        let absolute = (try? RootDirectory.resolved(directory)) ?? directory
        return try roots()
            .filter { $0.isHere && absolute.starts(with: $0.path) }
            .max { $0.path.components.count < $1.path.components.count }
    }

    /// The snapshots that `query` asks for: those of one root in their order, those of several by time.
    public func snapshots(_ query: SnapshotQuery = SnapshotQuery()) throws(ArchiverError) -> [ListedSnapshot] {
        try facing {
            guard let filter = try filter(query) else { return [] }
            return try store.catalogue.snapshots(filter)
        }
    }

    /// How many snapshots `query` asks for, its limit left aside.
    public func snapshotCount(_ query: SnapshotQuery = SnapshotQuery()) throws(ArchiverError) -> Int {
        try facing {
            guard let filter = try filter(query) else { return 0 }
            return try store.catalogue.count(filter)
        }
    }

    /// Calls `body` with the snapshots that `query` asks for, in the order of `snapshots`, until it returns false.
    ///
    /// The first come at once, however many there are, and only some are in memory at a time. `body` may use the archive
    /// and may take its time: nobody waits for it.
    public func forEachSnapshot(
        _ query: SnapshotQuery = SnapshotQuery(), _ body: (ListedSnapshot) -> Bool
    ) throws(ArchiverError) {
        try facing {
            guard var filter = try filter(query) else { return }
            // Those of the only root lie side by side.
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

    /// The snapshots of its root right after one, or right before it, the nearest first.
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

    /// Another number after each change of the archive, whoever made it.
    package func changeNumber() throws(ArchiverError) -> ChangeNumber {
        try facing { try store.catalogue.changeNumber() }
    }

    /// The last snapshot of a root that was made at `time` or before; nil where there is none.
    public func snapshot(of root: ArchivedRoot, at time: Timestamp) throws(ArchiverError) -> ListedSnapshot? {
        try facing {
            guard let number = try number(of: root) else { return nil }
            var filter = Catalogue.SnapshotFilter(of: number, until: time, newestFirst: true, limit: 1)
            filter.isByTime = true
            return try store.catalogue.snapshots(filter).first
        }
    }

    /// What a snapshot holds in a directory, without what is in the directories below, in walk order.
    ///
    /// Reads what lies in the directory itself, however much is below it.
    ///
    /// - Parameters:
    ///   - last: the last entry that is known already, to go on behind it.
    ///   - limit: the most entries to give.
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

    /// The least path behind all that a directory can hold: nothing but a slash comes before the byte 1 in walk order.
    private static func behindAll(in directory: RelativePath) -> RelativePath {
        RelativePath(unchecked: directory.bytes + [1])
    }

    /// What `query` means to the catalogue; nil where there can be no such snapshots.
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

    /// The catalogue's number of `root`; nil where the archive has no snapshots of it.
    package func number(of root: ArchivedRoot) throws(StorageError) -> Int64? {
        try store.catalogue.root(path: root.path.bytes, machine: root.machine)?.number
    }

    /// Everything recorded about a snapshot: changed paths, problems, names of owners.
    public func details(of snapshot: ListedSnapshot) throws(ArchiverError) -> Snapshot {
        try facing { try store.snapshot(snapshot.id) }
    }

    /// The snapshot's stored value, rendered as JSON with sorted keys.
    public func rawJSON(of snapshot: ListedSnapshot) throws(ArchiverError) -> String {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(store.snapshot(snapshot.id)), as: UTF8.self)
        }
    }

    /// What `snapshot` holds at `path`; nil for nothing.
    public func entry(at path: RelativePath, in snapshot: ListedSnapshot) throws(ArchiverError) -> Entry? {
        try facing { try Tree(snapshot.tree, in: nodes).entry(at: path) }
    }

    /// Calls `body` with the entry at `path` and all below it, in walk order, until it returns false.
    public func forEachEntry(
        in snapshot: ListedSnapshot, at path: RelativePath = .root, _ body: (Entry) -> Bool
    ) throws(ArchiverError) {
        try facing {
            try Tree(snapshot.tree, in: nodes).forEach(at: path) { (entry) throws(StorageError) in body(entry) }
        }
    }

    /// The bytes at `range` of a file's content; fewer where the file ends before, holes as zeros.
    ///
    /// Only what the range touches is read: of a large file one list of its slices, and the chunks that hold the bytes.
    public func read(_ entry: Entry, range: Range<UInt64>) throws(ArchiverError) -> [UInt8] {
        try facing {
            guard range.lowerBound < entry.size else { return [] }
            let count = min(range.upperBound, entry.size) - range.lowerBound
            var bytes = StoredBytes(entry.content, in: store)
            return try bytes.read(at: range.lowerBound, Int(count))
        }
    }

    /// Calls `body` with a file's content piece by piece, holes as zeros, until it returns false.
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
