// The walk of a capture: the file system and the base tree merged in walk order. What is equal by its signature is
// passed over; everything else comes out in order.

internal import ArchiveFormat
internal import FileIO
internal import FileWatching
internal import Glibc
internal import SnapshotTree
internal import SystemPackage

/// Walks ranges of a root beside a tree and tells what may differ.
///
/// Holds one open directory a level, and reads only those nodes of the tree that hold something in the ranges.
struct TreeWalk {
    private let root: RootDirectory
    private var base: TreeCursor<StoredNodes>?
    private let isExcluded: (FileStatus) -> Bool
    private let emit: (ScanItem) throws -> Void
    private let progress: OperationProgress?
    private var pending: ArraySlice<PathRange> = []
    private var reader = DirectoryReaderBox()

    /// - Parameters:
    ///   - base: the tree to compare with, at its start; nil to find everything new.
    ///   - isExcluded: whether an object is to be treated as if it were not there.
    ///   - emit: takes what is found, in walk order.
    init(
        _ root: RootDirectory, base: TreeCursor<StoredNodes>?, isExcluded: @escaping (FileStatus) -> Bool,
        progress: OperationProgress?, emit: @escaping (ScanItem) throws -> Void
    ) {
        self.root = root
        self.base = base
        self.isExcluded = isExcluded
        self.progress = progress
        self.emit = emit
    }

    /// Walks `ranges`, which are in walk order and do not overlap.
    mutating func walk(_ ranges: [PathRange]) throws {
        pending = ranges[...]
        while let range = pending.popFirst() { try walk(takeRange(at: range.path) ?? range) }
    }

    /// Takes the widest pending range at `path`; those before it have been passed and go.
    private mutating func takeRange(at path: RelativePath) -> PathRange? {
        while let first = pending.first, first.path < path { pending.removeFirst() }
        var range: PathRange?
        while let first = pending.first, first.path == path { range = pending.removeFirst() }
        return range
    }

    // MARK: One range

    private mutating func walk(_ range: PathRange) throws {
        let path = range.path
        try base?.seek(to: path)
        if path.isRoot {
            let name = CName(".".utf8)
            let status = try FileStatus.read(name, in: root.directory.descriptor)
            try visit(path, in: root.directory, name, status, range)
            return
        }
        let name = CName(path.name)
        let found: (parent: SharedDirectory, status: FileStatus?)?
        do throws(FileError) {
            found = try look(at: path, name)
        } catch {
            return try keepBase(below: path, error)
        }
        guard let found else { return try removeBase(below: path) }
        try visit(path, in: found.parent, name, found.status, range)
    }

    /// The directory that holds `path` and the status of `name` in it; nil where there is no such directory.
    private func look(
        at path: RelativePath, _ name: CName
    ) throws(FileError) -> (parent: SharedDirectory, status: FileStatus?)? {
        guard let parent = try parent(of: path) else { return nil }
        return (parent, try FileStatus.read(name, in: parent.descriptor, path: path))
    }

    /// The directory that holds `path`; nil where there is none.
    private func parent(of path: RelativePath) throws(FileError) -> SharedDirectory? {
        guard let parent = path.parent, !parent.isRoot else { return root.directory }
        do {
            return SharedDirectory(
                try root.directory.descriptor.open(beneath: parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        } catch {
            guard error.meansAbsence else { throw error }
            return nil
        }
    }

    /// Looks at one object, and below it as far as `range` asks.
    private mutating func visit(
        _ path: RelativePath, in parent: SharedDirectory, _ name: CName, _ status: FileStatus?, _ range: PathRange
    ) throws {
        guard let status, !isExcluded(status) else { return try removeBase(below: path) }
        let old = try takeBase(at: path)
        try compare(path, in: parent, name, status, old)
        guard status.kind == .directory else { return try removeBase(below: path) }
        let isKnown = old?.isSameDirectory(status) ?? false
        switch range {
        case .entry where isKnown: return
        case .children where isKnown: try list(path, in: parent, name, status, descending: false)
        default: try list(path, in: parent, name, status, descending: true)
        }
    }

    // MARK: Directories

    /// A directory whose names are being gone through.
    private struct Frame {
        let path: RelativePath
        let directory: SharedDirectory
        let records: [DirectoryRecord]
        /// Whether directories that the base tree has are gone through too; those that are new or whose access changed
        /// always are.
        let isDescending: Bool
        var next = 0
    }

    /// Goes through the directory at `path`, and through those below it that are new, or in the range, or in ranges of
    /// their own.
    private mutating func list(
        _ path: RelativePath, in parent: SharedDirectory, _ name: CName, _ status: FileStatus, descending: Bool
    ) throws {
        var frames: [Frame] = []
        try enter(path, in: parent, name, status, descending: descending, &frames)
        while let frame = frames.last {
            guard frame.next < frame.records.count else {
                try removeBase(below: frame.path)
                while let range = pending.first, frame.path.contains(range.path) { pending.removeFirst() }
                frames.removeLast()
                continue
            }
            frames[frames.count - 1].next += 1
            let recordName = frame.records[frame.next].name
            let childPath = frame.path.appending(recordName)
            let range = takeRange(at: childPath)
            try removeBase(before: childPath)
            let childName = CName(recordName)
            let childStatus: FileStatus?
            do {
                childStatus = try FileStatus.read(childName, in: frame.directory.descriptor, path: childPath)
            } catch {
                try keepBase(below: childPath, error)
                continue
            }
            guard let childStatus, !isExcluded(childStatus) else { continue }
            let old = try takeBase(at: childPath)
            try compare(childPath, in: frame.directory, childName, childStatus, old)
            guard childStatus.kind == .directory else {
                try removeBase(below: childPath)
                continue
            }
            let isKnown = old?.isSameDirectory(childStatus) ?? false
            if frame.isDescending || !isKnown || range == .subtree(childPath) {
                try enter(childPath, in: frame.directory, childName, childStatus, descending: true, &frames)
            } else if range == .children(childPath) {
                try enter(childPath, in: frame.directory, childName, childStatus, descending: false, &frames)
            } else {
                while let range = pending.first, childPath.contains(range.path) {
                    pending.removeFirst()
                    try walk(takeRange(at: range.path) ?? range)
                }
                try skipBase(below: childPath)
            }
        }
    }

    private mutating func enter(
        _ path: RelativePath, in parent: SharedDirectory, _ name: CName, _ status: FileStatus, descending: Bool,
        _ frames: inout [Frame]
    ) throws {
        // What lies under a mount point is neither seen nor gone.
        if status.device != root.status.device || status.mount != root.status.mount {
            return try skipBase(below: path)
        }
        do {
            frames.append(try open(path, in: parent, name, descending: descending))
        } catch {
            if error.meansAbsence { return try removeBase(below: path) }
            try keepBase(below: path, error)
        }
    }

    private func open(
        _ path: RelativePath, in parent: SharedDirectory, _ name: CName, descending: Bool
    ) throws(FileError) -> Frame {
        let directory = SharedDirectory(try parent.descriptor.openForReading(name, O_DIRECTORY, path: path))
        return Frame(
            path: path, directory: directory, records: try reader.read(directory.descriptor, path),
            isDescending: descending)
    }

    private func compare(
        _ path: RelativePath, in parent: SharedDirectory, _ name: CName, _ status: FileStatus, _ old: Entry?
    ) throws {
        progress?.add(entries: 1)
        if let old, old.isCurrent(status) { return }
        try emit(.suspect(Suspect(path: path, directory: parent, name: name, status: status, old: old)))
    }

    // MARK: The base tree

    /// Takes the base tree's entry at `path` if it has one; the cursor stands there or behind.
    private mutating func takeBase(at path: RelativePath) throws -> Entry? {
        guard base?.path == path, let entry = try base?.entry() else { return nil }
        base?.skip()
        return entry
    }

    /// Tells of everything that the base tree has before `path` as gone.
    private mutating func removeBase(before path: RelativePath) throws {
        while let first = base?.path, first < path, let entry = try base?.entry() {
            base?.skip()
            try emit(.gone(entry))
        }
    }

    /// Tells of everything that the base tree has at `path` and below as gone.
    private mutating func removeBase(below path: RelativePath) throws {
        while let first = base?.path, path.contains(first), let entry = try base?.entry() {
            base?.skip()
            try emit(.gone(entry))
        }
    }

    /// Keeps everything that the base tree has at `path`, if it was not taken yet, and below: it may not be looked at.
    ///
    /// - Throws: `error` where it does not say so.
    private mutating func keepBase(below path: RelativePath, _ error: FileError) throws {
        guard error.code == .permissionDenied || error.code == .notPermitted else { throw error }
        try emit(.problem(Problem(path: path, reason: .unreadable, detail: error.code.description)))
        try skipBase(below: path)
    }

    /// Passes over everything that the base tree has below `path`.
    private mutating func skipBase(below path: RelativePath) throws {
        if path.isRoot {
            while base?.path != nil { base?.skip() }
        } else {
            // 0x01 is the least byte that can follow the directory's name in a sibling's; `/` counts as 0x00.
            try base?.seek(to: RelativePath(unchecked: path.bytes + [1]))
        }
    }
}

/// A directory reader that a copyable value can hold.
private final class DirectoryReaderBox {
    private var reader = DirectoryReader()

    func read(_ directory: borrowing Descriptor, _ path: RelativePath) throws(FileError) -> [DirectoryRecord] {
        try reader.read(directory, path: path)
    }
}

extension FileError {
    /// Whether the error says that there is nothing at the path, or no directory on the way to it.
    var meansAbsence: Bool {
        code == .noSuchFileOrDirectory || code == .notDirectory || code == .tooManySymbolicLinkLevels
    }
}

extension Entry {
    /// Whether the status is that of a directory with the same access as before: while it is denied, nothing tells of
    /// changes below, so afterwards everything there is looked at.
    func isSameDirectory(_ status: FileStatus) -> Bool {
        kind == .directory && status.kind == .directory && permissions == status.permissions
            && owner == status.owner && group == status.group
    }

    /// Whether an object of this status is surely the one that this entry was made from, unchanged.
    func isCurrent(_ status: FileStatus) -> Bool {
        guard let signature, !isUnstable, kind == status.kind else { return false }
        return signature.inode == status.inode && signature.changed == status.changed && modified == status.modified
            && (kind != .file || size == status.size)
    }
}
