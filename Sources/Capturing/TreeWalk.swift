// The walk of a capture merges the file system and the base tree in walk order. It skips objects with an unchanged
// signature and emits everything else in order.

package import ArchiveFormat
package import Exclusions
package import FileIO
package import FileWatching
internal import Glibc
package import Roots
package import SnapshotTree
internal import SystemPackage

/// Walks ranges of a root in parallel with a tree and emits the places that may differ.
///
/// Holds one open directory per level, and reads only the nodes of the tree that have entries in the ranges.
package struct TreeWalk {
    private let root: RootDirectory
    private var base: TreeCursor<StoredNodes>?
    private let isHidden: (FileStatus) -> Bool
    private let rules: ExclusionRules
    private let foreseen: ForeseenRules?
    private let scopes: DirectoryScopes
    private let removesExcluded: Bool
    private let isDoubtful: (RelativePath, FileStatus) -> Bool
    private let isLost: ((Entry) -> Bool)?
    private let postpones: ((RelativePath, FileStatus, Entry) -> Bool)?
    private let emit: (ScanItem) throws -> Void
    private let onLeftBehind: ((RelativePath) -> Void)?
    private let progress: OperationProgress?
    private var pending: ArraySlice<PathRange> = []
    /// Paths of ranges that neither the root nor the base tree has.
    private(set) var unknown: [RelativePath] = []
    private var reader = DirectoryReaderBox()

    /// - Parameters:
    ///   - base: the tree to compare with, at its start; nil to treat everything as new.
    ///   - isHidden: whether to treat an object as absent.
    ///   - rules: the exclusions.
    ///   - foreseen: paths that are included although the rules exclude them.
    ///   - removesExcluded: whether excluded entries of the base tree count as removed; otherwise they are skipped.
    ///   - isDoubtful: whether to read a file although its times are those of the tree.
    ///   - isLost: whether the archive has lost a part of a file's content; nil if nothing is lost.
    ///   - postpones: whether to postpone the reading of a file that may have changed; its entry in the tree stays.
    ///   - onLeftBehind: called for each temporary file of archiver itself.
    ///   - emit: called with each finding, in walk order.
    package init(
        _ root: RootDirectory, base: TreeCursor<StoredNodes>?, isHidden: @escaping (FileStatus) -> Bool,
        rules: ExclusionRules, foreseen: ForeseenRules? = nil, removesExcluded: Bool,
        isDoubtful: @escaping (RelativePath, FileStatus) -> Bool = { _, _ in false },
        isLost: ((Entry) -> Bool)? = nil,
        postpones: ((RelativePath, FileStatus, Entry) -> Bool)? = nil, progress: OperationProgress?,
        onLeftBehind: ((RelativePath) -> Void)? = nil,
        emit: @escaping (ScanItem) throws -> Void
    ) {
        self.root = root
        self.base = base
        self.isHidden = isHidden
        self.rules = rules
        self.foreseen = foreseen
        scopes = DirectoryScopes(root, rules, foreseen)
        self.removesExcluded = removesExcluded
        self.isDoubtful = isDoubtful
        self.isLost = isLost
        self.postpones = postpones
        self.progress = progress
        self.onLeftBehind = onLeftBehind
        self.emit = emit
    }

    /// Walks `ranges`, which are in walk order and do not overlap.
    package mutating func walk(_ ranges: [PathRange]) throws {
        pending = ranges[...]
        while let range = pending.popFirst() { try walk(takeRange(at: range.path) ?? range) }
    }

    /// Takes the widest pending range at `path` and removes those before it, which the walk has passed.
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
            return try visit(path, in: root.directory, DirectoryScope(rules, foreseen), name, status, range)
        }
        let name = CName(path.name)
        let found: (parent: SharedDirectory, scope: DirectoryScope?, status: FileStatus?)?
        do throws(FileError) {
            found = try locate(at: path, name)
        } catch {
            return try retainBase(below: path, error)
        }
        guard let found else { return try removeBase(below: path) }
        guard let scope = found.scope else { return try leaveOut(path) }
        try visit(path, in: found.parent, scope, name, found.status, range)
    }

    /// Returns the directory of `path`, its scope (nil if it is excluded), and the status of `name` in it.
    ///
    /// - Returns: nil if the directory does not exist.
    private func locate(
        at path: RelativePath, _ name: CName
    ) throws(FileError) -> (parent: SharedDirectory, scope: DirectoryScope?, status: FileStatus?)? {
        let parent = path.parent ?? .root
        do {
            let directory =
                parent.isRoot
                ? root.directory
                : SharedDirectory(
                    try root.directory.descriptor.open(beneath: parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
            let scope = try scopes.scope(of: parent)
            return (directory, scope, try FileStatus.read(name, in: directory.descriptor, path: path))
        } catch {
            guard error.meansAbsence else { throw error }
            return nil
        }
    }

    /// Visits one object, and the objects below it that `range` covers.
    private mutating func visit(
        _ path: RelativePath, in parent: SharedDirectory, _ scope: DirectoryScope, _ name: CName,
        _ status: FileStatus?, _ range: PathRange
    ) throws {
        guard let status, !isHidden(status) else {
            if base?.path != path { unknown.append(path) }
            return try removeBase(below: path)
        }
        if !path.isRoot, scope.excludes(path, status) { return try leaveOut(path) }
        let old = try takeBase(at: path)
        try compare(path, in: parent, name, status, old)
        guard status.kind == .directory else { return try removeBase(below: path) }
        let isKnown = old?.isSameDirectory(status) ?? false
        switch range {
        case .entry where isKnown: return
        case .children where isKnown: try list(path, in: parent, scope, name, status, descending: false)
        default: try list(path, in: parent, scope, name, status, descending: true)
        }
    }

    // MARK: Directories

    /// A directory whose names are being visited.
    private struct Frame {
        let path: RelativePath
        let scanned: ScannedDirectory
        /// Whether to enter directories that the base tree has; directories that are new or whose access changed are
        /// always entered.
        let isDescending: Bool
        var next = 0
        /// Directories in this one that are being read ahead, by their indices.
        var prefetched: [(index: Int, directory: PrefetchedDirectory)] = []
        /// Where the search for the next directory to read ahead starts.
        var nextToPrefetch = 0

        /// Takes the directory at `index` if it was read ahead, and drops those before it.
        mutating func takePrefetched(_ index: Int) -> PrefetchedDirectory? {
            while let first = prefetched.first, first.index <= index {
                prefetched.removeFirst()
                if first.index == index { return first.directory }
            }
            return nil
        }
    }

    /// How many directories of one level are read ahead, and down to which level: each one is held open.
    private static let prefetchLimit = 8
    private static let prefetchDepthLimit = 32

    /// Visits the directory at `path`, and the directories below it that are new, or in this or another range.
    private mutating func list(
        _ path: RelativePath, in parent: SharedDirectory, _ scope: DirectoryScope, _ name: CName,
        _ status: FileStatus, descending: Bool
    ) throws {
        var frames: [Frame] = []
        try enter(path, in: parent, scope, name, status, descending: descending, &frames)
        while !frames.isEmpty {
            let last = frames.count - 1
            try passCurrent(&frames[last])
            guard frames[last].next < frames[last].scanned.listing.count else {
                let path = frames[last].path
                try removeBase(below: path)
                while let range = pending.first, path.contains(range.path) { pending.removeFirst() }
                frames.removeLast()
                continue
            }
            frames[last].next += 1
            try visitName(at: frames[last].next - 1, in: &frames)
        }
    }

    /// Skips files that are unchanged since the base tree.
    ///
    /// In a repeated capture these are nearly all files, so nothing is allocated for them.
    private mutating func passCurrent(_ frame: inout Frame) throws {
        guard base != nil else { return }
        let scanned = frame.scanned
        var path = frame.path.bytes
        if !path.isEmpty { path.append(UInt8(ascii: "/")) }
        let nameStart = path.count
        let first = frame.next
        defer { progress?.add(entries: frame.next - first) }
        while frame.next < scanned.listing.count, pending.isEmpty {
            let kind = scanned.listing.kind(at: frame.next)
            if kind == nil || kind == .directory { return }
            path.removeSubrange(nameStart...)
            scanned.listing.appendName(at: frame.next, to: &path)
            guard let status = try? scanned.status(at: frame.next, path: .root), status.kind != .directory,
                !isHidden(status)
            else { return }
            let isCurrent =
                try base?.skipEntry(at: path) { old in
                    guard old.isCurrent(status) else { return false }
                    let path = RelativePath(unchecked: path)
                    if scanned.scope.excludes(path, status) { return false }
                    return !(status.kind == .file && isDoubtful(path, status)) && !(isLost?(old) ?? false)
                } ?? false
            guard isCurrent else { return }
            frame.next += 1
        }
    }

    /// Visits one name of the innermost directory.
    private mutating func visitName(at index: Int, in frames: inout [Frame]) throws {
        let last = frames.count - 1
        let frame = frames[last]
        let scanned = frame.scanned
        let item = scanned.listing[index]
        let path = frame.path.appending(item.name)
        let range = takeRange(at: path)
        try removeBase(before: path)
        if let kind = item.kind, scanned.scope.excludes(path, isDirectory: kind == .directory) {
            if kind != .directory, TemporaryFile.isTemporaryName(item.name) { onLeftBehind?(path) }
            return try leaveOut(path)
        }
        let status: FileStatus?
        do {
            status = try scanned.status(at: index, path: path)
        } catch {
            return try retainBase(below: path, error)
        }
        guard let status, !isHidden(status) else { return }
        if scanned.scope.excludes(path, status) { return try leaveOut(path) }
        let old = try takeBase(at: path)
        let name = CName(item.name)
        try compare(path, in: scanned.directory, name, status, old)
        guard status.kind == .directory else { return try removeBase(below: path) }
        let isKnown = old?.isSameDirectory(status) ?? false
        if frame.isDescending || !isKnown || range == .subtree(path) {
            let prefetched = frames[last].takePrefetched(index)
            prefetch(&frames[last], depth: frames.count)
            try enter(
                path, in: scanned.directory, scanned.scope, name, status, descending: true,
                prefetched: prefetched?.take(status),
                &frames)
        } else if range == .children(path) {
            try enter(path, in: scanned.directory, scanned.scope, name, status, descending: false, &frames)
        } else {
            while let range = pending.first, path.contains(range.path) {
                pending.removeFirst()
                try walk(takeRange(at: range.path) ?? range)
            }
            try skipBase(below: path)
        }
    }

    /// Starts to read ahead the next directories in this one.
    private func prefetch(_ frame: inout Frame, depth: Int) {
        guard frame.isDescending, depth <= TreeWalk.prefetchDepthLimit else { return }
        let scanned = frame.scanned
        frame.nextToPrefetch = max(frame.nextToPrefetch, frame.next)
        while frame.prefetched.count < TreeWalk.prefetchLimit, frame.nextToPrefetch < scanned.listing.count {
            let index = frame.nextToPrefetch
            frame.nextToPrefetch += 1
            guard scanned.listing.kind(at: index) == .directory else { continue }
            let name = scanned.listing[index].name
            let path = frame.path.appending(name)
            if scanned.scope.excludes(path, isDirectory: true) { continue }
            let directory = PrefetchedDirectory(
                CName(name), at: path, in: scanned.directory, scanned.scope, root: root.status)
            frame.prefetched.append((index, directory))
        }
    }

    private mutating func enter(
        _ path: RelativePath, in parent: SharedDirectory, _ scope: DirectoryScope, _ name: CName,
        _ status: FileStatus, descending: Bool, prefetched: ScannedDirectory? = nil, _ frames: inout [Frame]
    ) throws {
        let isOtherMount = status.device != root.status.device || status.mount != root.status.mount
        // Entries below a mount point are not visible, but they are not removed either.
        if isOtherMount && !rules.crossesMounts { return try skipBase(below: path) }
        do throws(FileError) {
            var scanned = prefetched
            if scanned == nil {
                scanned = try ScannedDirectory(
                    opening: name, at: path, in: parent, scope, isOtherMount: isOtherMount, reader)
            }
            if let scanned { return frames.append(Frame(path: path, scanned: scanned, isDescending: descending)) }
        } catch {
            if error.meansAbsence { return try removeBase(below: path) }
            return try retainBase(below: path, error)
        }
        try skipBase(below: path)
    }

    private func compare(
        _ path: RelativePath, in parent: SharedDirectory, _ name: CName, _ status: FileStatus, _ old: Entry?
    ) throws {
        progress?.add(entries: 1)
        if let old, old.isCurrent(status), !(status.kind == .file && isDoubtful(path, status)), !(isLost?(old) ?? false)
        {
            return
        }
        if let old, postpones?(path, status, old) ?? false { return }
        try emit(.suspect(Suspect(path: path, directory: parent, name: name, status: status, old: old)))
    }

    // MARK: The base tree

    /// Takes the base tree's entry at `path`, if there is one; the cursor is at `path` or after it.
    private mutating func takeBase(at path: RelativePath) throws -> Entry? {
        guard base?.path == path, let entry = try base?.entry() else { return nil }
        base?.skip()
        return entry
    }

    /// Emits everything in the base tree before `path` as removed.
    private mutating func removeBase(before path: RelativePath) throws {
        while let first = base?.path, first < path, let entry = try base?.entry() {
            base?.skip()
            try emit(.gone(entry))
        }
    }

    /// Emits everything in the base tree at `path` and below as removed.
    private mutating func removeBase(below path: RelativePath) throws {
        while let first = base?.path, path.contains(first), let entry = try base?.entry() {
            base?.skip()
            try emit(.gone(entry))
        }
    }

    /// Removes or skips the excluded entries of the base tree at `path` and below.
    private mutating func leaveOut(_ path: RelativePath) throws {
        if removesExcluded { try removeBase(below: path) } else { try skipBase(below: path) }
    }

    /// Retains the base tree's entries at `path`, if not taken yet, and below: the place cannot be read.
    ///
    /// The cause (denied access, a failing disk, a missing server) is a problem of that place only.
    ///
    /// - Throws: `error` if the process is out of resources, or if the root itself fails for another cause than denied
    ///   access: then nothing is known about the whole root.
    private mutating func retainBase(below path: RelativePath, _ error: FileError) throws {
        let isDenied = error.code == .permissionDenied || error.code == .notPermitted
        if error.isOfProcess || path.isRoot && !isDenied { throw error }
        try emit(.problem(Problem(path: path, reason: .unreadable, detail: error.code.description)))
        try skipBase(below: path)
    }

    /// Skips everything that the base tree has below `path`.
    private mutating func skipBase(below path: RelativePath) throws {
        if path.isRoot {
            while base?.path != nil { base?.skip() }
        } else {
            // 0x01 is the least byte that can follow the directory's name in a sibling's; `/` counts as 0x00.
            try base?.seek(to: RelativePath(unchecked: path.bytes + [1]))
        }
    }
}
