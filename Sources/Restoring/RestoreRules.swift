// Decides which paths a restore in place leaves alone: once, before its first change, and by the same rules for a dry
// run.

package import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Roots
internal import SnapshotTree

/// The operation that a restore reverses.
package struct ReversedOperation {
    /// The tree of the snapshot that it restored, or of the state after it; nil if unknown.
    let tree: ChunkID?
    /// Whether it was a restore of `tree`.
    let isRestore: Bool

    package init(tree: ChunkID?, isRestore: Bool) {
        self.tree = tree
        self.isRestore = isRestore
    }
}

/// The paths that one part of a restore leaves alone.
struct LeftAlone {
    fileprivate var paths: Set<RelativePath> = []
    /// The directories above the paths.
    private var holders: Set<RelativePath> = []
    /// How many are excluded from snapshots.
    fileprivate(set) var excluded = 0
    /// How many belong to repositories.
    fileprivate(set) var repositories = 0
    /// What to say about them, each a sentence.
    fileprivate(set) var remarks: [String] = []

    /// Whether not to apply `step`: a directory that holds something left alone is not removed.
    func contains(_ step: RestoreStep) -> Bool {
        paths.contains(step.path) || step.wanted == nil && holders.contains(step.path)
    }

    fileprivate mutating func add(_ path: RelativePath) {
        paths.insert(path)
        var holder = path.parent
        while let directory = holder, holders.insert(directory).inserted { holder = directory.parent }
    }
}

/// The rules of one part of a restore in place.
///
/// A path is excluded if the present rules exclude it, or those of the wanted snapshot. Nobody knows what it was then,
/// or it is in no snapshot now, so a restore neither reads nor changes it, unless the user names it. For the same
/// reason a restore changes no ignore file if existing paths would no longer be excluded: the next capture would store
/// them, and the same restore would then remove them.
struct RestoreRules {
    private let part: RelativePath
    /// Whether the part itself is excluded, so that it is restored only because the user named it.
    let isNamed: Bool
    private let reversed: ReversedOperation?
    private let leavesRepositories: Bool
    /// The present exclusions.
    private let present: DirectoryScopes
    /// The exclusions of the wanted snapshot.
    private let wanted: SnapshotScopes
    /// The root's present rules, with the ignore files of the wanted snapshot.
    private let later: SnapshotScopes
    /// Paths that the wanted snapshot could not read, and that are still there.
    private let unread: [RelativePath]
    private let source: RestoreSource
    private let rules: ExclusionRules
    private let root: RootDirectory

    /// - Parameters:
    ///   - snapshot: the snapshot of `source`.
    ///   - rules: the root's exclusions.
    ///   - reversed: the operation to reverse, if any.
    init(
        _ source: RestoreSource, _ snapshot: ListedSnapshot, in root: RootDirectory,
        _ rules: ExclusionRules, _ reversed: ReversedOperation?, leavesRepositories: Bool
    ) throws {
        let (part, nodes) = (source.path, source.nodes)
        let recorded = try nodes.store.snapshot(snapshot.id)
        let isDirectory = try source.entry()?.kind == .directory
        self.root = root
        self.rules = rules
        self.part = part
        self.reversed = reversed
        self.leavesRepositories = leavesRepositories
        self.source = source
        present = DirectoryScopes(root, rules)
        wanted = SnapshotScopes(snapshot.tree, recorded.exclusions, in: nodes)
        later = SnapshotScopes(snapshot.tree, rules, in: nodes)
        unread = recorded.problems.filter { problem in
            guard problem.reason == .unreadable else { return false }
            // What is gone by now comes back as it was last known; a dead mount is not gone.
            do { return try FileStatus.read(problem.path, beneath: root.directory.descriptor) != nil } catch {
                return true
            }
        }.map(\.path)
        isNamed =
            try !part.isRoot
            && (RestoreRules.excludes(part, isDirectory: isDirectory, present)
                || wanted.excludes(part, isDirectory: isDirectory))
    }

    /// Decides which of the steps are left alone.
    ///
    /// - Parameter forEachStep: calls its argument with each step, in walk order.
    func leftAlone(_ forEachStep: ((RestoreStep) throws -> Void) throws -> Void) throws -> LeftAlone {
        var found = LeftAlone()
        var deciding: [RelativePath] = []
        var mounts = MountPoints(root, part: part, crossesMounts: rules.crossesMounts)
        var repositories = Repositories(root, source)
        let isInRepository = try repositories.contain(part, isDirectory: true)
        var restored = 0
        var leftUnread: Set<RelativePath> = []
        try forEachStep { step in
            guard let kind = (step.wanted ?? step.present)?.kind else { return }
            if try mounts.isAtMountPoint(step) { return found.add(step.path) }
            if !isInRepository, try repositories.contain(step.path, isDirectory: kind == .directory) {
                if !leavesRepositories {
                    restored += 1
                } else {
                    found.repositories += 1
                    return found.add(step.path)
                }
            }
            if try isExcluded(step) {
                found.excluded += 1
                return found.add(step.path)
            }
            if try wasUnread(step) {
                if let path = unread.first(where: { $0.contains(step.path) }) { leftUnread.insert(path) }
                return found.add(step.path)
            }
            if let directory = try directoryDecided(by: step), deciding.last != directory { deciding.append(directory) }
        }
        for path in leftUnread.sorted() {
            found.remarks.append("\(path) could not be read before the operation, so it was left as it is")
        }
        if restored > 0, reversed == nil {
            found.remarks.append(
                "the restored paths include \(restored) of repositories such as .git: the log then shows no later commits"
            )
        }
        try keepIgnoreFiles(in: deciding, &found)
        return found
    }

    // MARK: Excluded paths

    private func isExcluded(_ step: RestoreStep) throws -> Bool {
        switch (step.present, step.wanted) {
        case (let present?, nil):
            return try !isNamed && wanted.excludes(present)
        case (nil, let new?):
            if new.kind == .file, TemporaryFile.isTemporaryName(new.path.name) { return true }
            return try !isNamed && isExcludedNow(new)
        default:
            return false
        }
    }

    /// Whether the present rules exclude the wanted `entry`, or the object in its place.
    private func isExcludedNow(_ entry: Entry) throws -> Bool {
        let scope = try entry.path.parent.map { try present.nearestScope(of: $0) } ?? DirectoryScope(rules)
        let isExcluded =
            scope?.excludes(entry.path, isDirectory: entry.kind == .directory) ?? true
            || entry.kind == .file && rules.excludes(fileOfSize: entry.size)
        // An undo brings back what its operation removed, even if it is excluded by now.
        if isExcluded, reversed == nil { return true }
        guard isExcluded || scope?.isTrivial == false || rules.largerThan != nil,
            let status = try FileStatus.read(entry.path, beneath: root.directory.descriptor)
        else { return false }
        return isExcluded || scope?.excludes(entry.path, status) ?? true
    }

    private static func excludes(
        _ path: RelativePath, isDirectory: Bool, _ scopes: DirectoryScopes
    ) throws -> Bool {
        guard let parent = path.parent, let scope = try scopes.nearestScope(of: parent) else { return true }
        return scope.excludes(path, isDirectory: isDirectory)
    }

    /// Whether the state before the reversed operation is unknown at the path of `step`.
    private func wasUnread(_ step: RestoreStep) throws -> Bool {
        guard let reversed else { return false }
        let isUnread = unread.contains { path in
            // The status of a directory is known even if its content is not.
            path.contains(step.path) && (path != step.path || (step.wanted ?? step.present)?.kind != .directory)
        }
        guard isUnread, reversed.isRestore, let tree = reversed.tree else { return isUnread }
        // What is now as the restore wanted it, the restore has made so: it could be read in the meantime.
        let restored = try Tree(tree, in: source.nodes).entry(at: step.path)
        guard let restored, let present = step.present else { return restored != nil || step.present != nil }
        return restored.kind != present.kind || restored.content != present.content
    }

    // MARK: Ignore files

    /// The directory whose exclusions `step` changes; nil if there is none, or the user asks for that change.
    private func directoryDecided(by step: RestoreStep) throws -> RelativePath? {
        guard DirectoryRules.decides(step.path.name, rules), step.path != part, !isNamed else { return nil }
        guard let reversed else { return step.path.parent }
        // An undo takes back the changes of its operation, also those of ignore files.
        guard let tree = reversed.tree else { return nil }
        let (before, after) = (step.wanted, try Tree(tree, in: source.nodes).entry(at: step.path))
        if let before, let after { return after.hasSameState(as: before) ? step.path.parent : nil }
        return before == nil && after == nil ? step.path.parent : nil
    }

    /// Adds the ignore files that hide existing paths which the wanted ones would not hide, and counts those paths.
    private func keepIgnoreFiles(in directories: [RelativePath], _ found: inout LeftAlone) throws {
        var own: [RelativePath: DirectoryRules] = [:]
        for directory in directories where own[directory] == nil {
            own[directory] = try later.ownRules(of: directory)
            let hidden = try hidden(only: own, below: directory)
            guard let first = hidden.first else { continue }
            own[directory] = nil
            found.excluded += hidden.count { !found.paths.contains($0) }
            for name in DirectoryRules.decidingNames(rules) { found.add(directory.appending(name)) }
            let others = hidden.count > 1 ? " and \(hidden.count - 1) more" : ""
            let place = directory.isRoot ? "" : " in \(directory)"
            found.remarks.append(
                "the ignore files\(place) were left as they are: with those of the wanted state, "
                    + "\(first)\(others) would no longer be excluded; name an ignore file to restore it, or remove it yourself"
            )
        }
    }

    /// The existing paths below `directory` that are excluded now, and would not be if directories had the rules `own`.
    private func hidden(
        only own: [RelativePath: DirectoryRules], below directory: RelativePath
    ) throws -> [RelativePath] {
        var hidden: [RelativePath] = []
        let archive = try FileStatus.read(
            CName(), in: Descriptor.open(source.store.layout.directory, O_RDONLY | O_DIRECTORY))
        var walk = TreeWalk(
            root, base: nil, isHidden: { status in archive.map { status.isSameObject(as: $0) } ?? false },
            rules: rules, foreseen: ForeseenRules(own: own), removesExcluded: false, progress: nil
        ) { item in
            guard case .suspect(let found) = item, let parent = found.path.parent else { return }
            let scope = try present.nearestScope(of: parent)
            if scope?.excludes(found.path, found.status) ?? true { hidden.append(found.path) }
        }
        try walk.walk([.subtree(directory)])
        return hidden
    }
}
