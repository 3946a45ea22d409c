// What a restore leaves alone: decided once, before it does anything, and by the same rules for a dry run.

package import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
internal import FileIO
internal import Roots
internal import SnapshotTree

/// The operation that a restore takes back.
package struct ReversedOperation {
    /// What it brought: the tree of its snapshot, as far as that is known.
    let tree: ChunkID?

    package init(tree: ChunkID?) { self.tree = tree }
}

/// The rules of one restore in place.
///
/// What the wanted snapshot left out need not have been absent, so it is not removed. What today's rules leave out is not
/// brought back, unless the user names it. Ignore files that are restored themselves count as they will be: else the same
/// restore would find more to do when it is run again.
struct RestoreRules {
    /// What today's rules leave out of the directory that holds the part; nil where they leave out that directory.
    private let outer: DirectoryScope?
    private let part: RelativePath
    /// Whether the part itself is left out, which only its being named brings back.
    let isPartLeftOut: Bool
    /// What is taken back, where that is what the restore is for: all that its operation altered, whatever the rules say.
    private let reversed: ReversedOperation?
    private let brought: Tree<StoredNodes>?
    /// What the wanted snapshot left out.
    private let wanted: SnapshotScopes
    /// What today's rules will leave out where the wanted ignore files are back.
    private let later: SnapshotScopes
    private let rules: ExclusionRules
    private let root: RootDirectory

    /// - Parameters:
    ///   - rules: today's.
    ///   - reversed: the operation that is taken back.
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

    /// What is left out of `directory`, or above the root where that is nil.
    ///
    /// - Returns: nil where the directory is left out itself.
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

    /// Whether `step` would touch what is to be left alone.
    func leavesAlone(_ step: RestoreStep) throws -> Bool {
        switch (step.present, step.wanted) {
        case (let present?, nil):
            // What the operation brought goes again.
            return try wanted.excludes(present) && brought?.entry(at: present.path) == nil
        case (nil, let new?):
            if new.kind == .file, TemporaryFile.isTemporaryName(new.path.name) { return true }
            if reversed != nil || isPartLeftOut { return false }
            if leavesOut(new) { return true }
            // Where nothing is in its place it may come back, though the next capture will leave it out.
            guard try later.excludes(new) else { return false }
            return try FileStatus.read(new.path, beneath: root.directory.descriptor) != nil
        default:
            return false
        }
    }

    /// Whether today's rules leave `entry` out, apart from ignore files in the part.
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

    /// What has to be captured before the restore although present rules leave it out.
    ///
    /// - Parameter directories: those in which the restore changes ignore files.
    func foreseen(_ directories: Set<RelativePath>) throws -> ForeseenRules? {
        var foreseen = ForeseenRules(named: isPartLeftOut ? part : nil)
        for directory in directories where part.contains(directory) {
            foreseen.own[directory] = try later.ownRules(of: directory)
        }
        return foreseen.named == nil && foreseen.own.isEmpty ? nil : foreseen
    }

    /// The directory in which carrying out `step` changes what is left out; nil for none.
    func directoryDecided(by step: RestoreStep) -> RelativePath? {
        DirectoryRules.decides(step.path.name, rules) ? step.path.parent : nil
    }
}
