// Decides which paths a restore does not touch: once, before its first change, and by the same rules for a dry run.

package import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
internal import FileIO
internal import Roots
internal import SnapshotTree

/// The operation that a restore reverses.
package struct ReversedOperation {
    /// The tree of the snapshot that it restored; nil if unknown.
    let tree: ChunkID?

    package init(tree: ChunkID?) { self.tree = tree }
}

/// The rules of one restore in place.
///
/// A path that was excluded from the wanted snapshot may have existed, so it is not removed. A path that today's rules
/// exclude is not restored, unless the user names it. Ignore files that the restore changes count in their restored
/// state: otherwise the same restore would find more to do when it is run again.
struct RestoreRules {
    /// Today's exclusions in the directory of the part; nil if that directory itself is excluded.
    private let outer: DirectoryScope?
    private let part: RelativePath
    /// Whether the part itself is excluded, so that it is restored only because the user named it.
    let isPartLeftOut: Bool
    /// The operation to reverse, if any: everything that it changed is restored, regardless of the rules.
    private let reversed: ReversedOperation?
    private let brought: Tree<StoredNodes>?
    /// The exclusions of the wanted snapshot.
    private let wanted: SnapshotScopes
    /// Today's exclusions, with the ignore files of the wanted snapshot.
    private let later: SnapshotScopes
    private let rules: ExclusionRules
    private let root: RootDirectory

    /// - Parameters:
    ///   - rules: today's exclusions.
    ///   - reversed: the operation to reverse, if any.
    init(
        _ snapshot: ListedSnapshot, part: RelativePath, isDirectory: Bool, in root: RootDirectory,
        _ rules: ExclusionRules, _ reversed: ReversedOperation?, _ nodes: StoredNodes
    ) throws {
        self.root = root
        self.rules = rules
        self.part = part
        self.reversed = reversed
        brought = reversed?.tree.map { Tree($0, in: nodes) }
        wanted = SnapshotScopes(snapshot.tree, try nodes.store.snapshot(snapshot.id).exclusions, in: nodes)
        later = SnapshotScopes(snapshot.tree, rules, in: nodes)
        outer = try RestoreRules.scope(of: part.parent, in: root, rules)
        isPartLeftOut = part.isRoot ? false : outer?.excludes(part, isDirectory: isDirectory) ?? true
    }

    /// The exclusions in `directory`, or those that apply to the root if it is nil.
    ///
    /// - Returns: nil if the directory itself is excluded.
    private static func scope(
        of directory: RelativePath?, in root: RootDirectory, _ rules: ExclusionRules
    ) throws(FileError) -> DirectoryScope? {
        guard let directory else { return DirectoryScope(rules) }
        do throws(FileError) {
            return try DirectoryScopes(root, rules).scope(of: directory)
        } catch {
            guard error.meansAbsence else { throw error }
            return DirectoryScope(rules)
        }
    }

    /// Whether not to apply `step`.
    func leavesAlone(_ step: RestoreStep) throws -> Bool {
        switch (step.present, step.wanted) {
        case (let present?, nil):
            // A path that the reversed operation restored is removed again.
            return try wanted.excludes(present) && brought?.entry(at: present.path) == nil
        case (nil, let new?):
            if new.kind == .file, TemporaryFile.isTemporaryName(new.path.name) { return true }
            if reversed != nil || isPartLeftOut { return false }
            if leavesOut(new) { return true }
            // If its place is free, it is restored, although the next capture will exclude it.
            guard try later.excludes(new) else { return false }
            return try FileStatus.read(new.path, beneath: root.directory.descriptor) != nil
        default:
            return false
        }
    }

    /// Whether today's rules exclude `entry`, without the ignore files in the part.
    private func leavesOut(_ entry: Entry) -> Bool {
        guard let outer else { return false }
        var path = part
        for component in part.suffix(of: entry.path)?.components ?? [] {
            path = path.appending(component)
            let isDirectory = path != entry.path || entry.kind == .directory
            if outer.excludes(path, isDirectory: isDirectory) { return true }
        }
        return false
    }

    /// The paths to capture before the restore although the present rules exclude them.
    ///
    /// - Parameter directories: the directories in which the restore changes ignore files.
    func foreseen(_ directories: Set<RelativePath>) throws -> ForeseenRules? {
        var foreseen = ForeseenRules(named: isPartLeftOut ? part : nil)
        for directory in directories where part.contains(directory) {
            foreseen.own[directory] = try later.ownRules(of: directory)
        }
        return foreseen.named == nil && foreseen.own.isEmpty ? nil : foreseen
    }

    /// The directory whose exclusions `step` changes; nil if there is none.
    func directoryDecided(by step: RestoreStep) -> RelativePath? {
        DirectoryRules.decides(step.path.name, rules) ? step.path.parent : nil
    }
}
