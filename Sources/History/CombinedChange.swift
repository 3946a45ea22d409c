// The combined changes of each file between two snapshots, named as at the two ends.

public import ArchiveStorage
public import Archives
public import FileIO
public import Roots
internal import SnapshotTree

/// What became of a path between two snapshots.
public struct CombinedChange: Sendable, Hashable {
    /// The path at the earlier and at the later snapshot.
    public enum Change: String, Sendable {
        /// Only the later snapshot has it.
        case added
        /// Both have it, and it changed in between.
        case modified
        /// Only the earlier one has it.
        case deleted
        /// Only the later one has it: it was `otherPath` in the earlier one.
        case renamed
        /// Only the earlier one has it: it is `otherPath` in the later one.
        case renamedAway
        /// Neither has it: a file that was added and deleted in between had this name last.
        case transient
    }

    /// The path that changed.
    public let path: RelativePath
    /// What happened to it over the whole span.
    public let change: Change
    /// The kind of the object in the later snapshot, or of the one that was removed.
    public let kind: FileKind
    /// How many snapshots changed it, under any name.
    public let snapshotCount: Int
    /// The other name of a rename.
    public let otherPath: RelativePath?
    /// Whether something else than its name changed.
    public let isEdited: Bool
}

extension Archive {
    /// Returns the combined changes after `start` up to `end`, also of files that only existed in between, by path.
    ///
    /// Each path that differs between the two snapshots is in the result, and each name is one that the path has at an
    /// end, or had last. Reads the index of changes, not the trees.
    ///
    /// - Parameters:
    ///   - start: nil for all since the root's first snapshot.
    ///   - path: only paths at or below this one, or renamed from or to there.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func combinedChanges(
        in root: ArchivedRoot, after start: ListedSnapshot?, through end: ListedSnapshot,
        at path: RelativePath = .root, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> [CombinedChange] {
        var span = ChangedSpan()
        let all = try changes(in: root, after: start, through: end, progress: progress)
        for changes in try facing({ try withoutExcluded(all, of: root, through: end) }) { span.add(changes) }
        return span.rows.filter { row in path.contains(row.path) || row.otherPath.map(path.contains) ?? false }
    }
}

extension Archive {
    /// The changes of each snapshot, without those that only exclusions caused.
    ///
    /// A snapshot captured aside lacks paths that it excludes. They are compared with the next snapshot that has them.
    private func withoutExcluded(
        _ snapshots: [SnapshotChanges], of root: ArchivedRoot, through end: ListedSnapshot
    ) throws -> [[PathVersion]] {
        guard snapshots.contains(where: \.snapshot.isAside), let number = try number(of: root) else {
            return snapshots.map(\.changes)
        }
        var lacking: [RelativePath: (removal: PathVersion, before: ListedSnapshot)] = [:]
        var found: [[PathVersion]] = []
        for (snapshot, changes) in snapshots.map({ ($0.snapshot, $0.changes) }) {
            var kept: [PathVersion] = []
            for version in changes {
                if snapshot.isAside, version.change == .removed {
                    guard let before = try store.catalogue.snapshot(before: HistoryPlace(snapshot), root: number)
                    else { continue }
                    lacking[version.path] = (version, before)
                } else if version.change == .added, let (_, before) = lacking.removeValue(forKey: version.path) {
                    let old = try Tree(before.tree, in: nodes).entry(at: version.path)
                    let new = try Tree(snapshot.tree, in: nodes).entry(at: version.path)
                    if old != new { kept.append(PathVersion(snapshot, modified: version)) }
                } else {
                    kept.append(version)
                }
            }
            if !snapshot.isAside {
                kept += lacking.values.map(\.removal)
                lacking = [:]
            }
            found.append(kept)
        }
        // At the end, these are missing, for whatever reason.
        return found + [lacking.values.map(\.removal)]
    }
}

/// Follows each object through the snapshots of a span.
private struct ChangedSpan {
    private struct Object {
        /// Its name at the start; nil if it was added in the span.
        let origin: RelativePath?
        /// Its name now, or its last name.
        var name: RelativePath
        var isPresent = true
        var kind: FileKind
        var isEdited = false
        /// The numbers of the snapshots that changed it.
        var snapshots: Set<Int> = []
    }

    private var objects: [Object] = []
    /// The objects at the paths that were changed, in the latest snapshot.
    private var present: [RelativePath: Int] = [:]
    /// Whether the start has each path that was changed.
    private var isOriginal: [RelativePath: Bool] = [:]
    private var count = 0

    /// Adds the changes of the next snapshot.
    mutating func add(_ changes: [PathVersion]) {
        count += 1
        var moved: [RelativePath: Int] = [:]
        for version in changes {
            let isNew = version.change == .added || version.change == .renamed
            if isOriginal[version.path] == nil { isOriginal[version.path] = !isNew }
            if isNew { continue }
            let object = present[version.path] ?? insert(version, origin: version.path)
            touch(object, version)
            if version.isPresent {
                objects[object].isEdited = true
            } else {
                objects[object].isPresent = false
                present[version.path] = nil
                moved[version.path] = object
            }
        }
        for version in changes where version.change == .added || version.change == .renamed {
            guard version.change == .renamed, let object = version.otherPath.flatMap({ moved[$0] }) else {
                touch(insert(version, origin: nil), version)
                continue
            }
            touch(object, version)
            (objects[object].name, objects[object].isPresent) = (version.path, true)
            if version.isEdited { objects[object].isEdited = true }
            present[version.path] = object
        }
    }

    private mutating func insert(_ version: PathVersion, origin: RelativePath?) -> Int {
        objects.append(Object(origin: origin, name: version.path, kind: version.kind))
        present[version.path] = objects.count - 1
        return objects.count - 1
    }

    private mutating func touch(_ object: Int, _ version: PathVersion) {
        objects[object].kind = version.kind
        objects[object].snapshots.insert(count)
    }

    /// The combined changes, by path.
    var rows: [CombinedChange] {
        var originals: [RelativePath: Int] = [:]
        var ended: [RelativePath: [Int]] = [:]
        for (index, object) in objects.enumerated() {
            if let origin = object.origin { originals[origin] = index }
            if object.origin == nil, !object.isPresent { ended[object.name, default: []].append(index) }
        }
        return isOriginal.sorted { $0.key < $1.key }.compactMap { path, isOriginal in
            let (old, new) = (isOriginal ? originals[path] : nil, present[path])
            switch (old, new) {
            case (let old?, let new?): return row(path, .modified, [new, old])
            case (nil, let new?):
                guard let origin = objects[new].origin, present[origin] == nil else { return row(path, .added, [new]) }
                return row(path, .renamed, [new], origin)
            case (let old?, nil):
                let target = objects[old].name
                guard objects[old].isPresent, self.isOriginal[target] == false else {
                    return row(path, .deleted, [old])
                }
                return row(path, .renamedAway, [old], target)
            case (nil, nil): return ended[path].map { row(path, .transient, $0.reversed()) }
            }
        }
    }

    /// - Parameter indices: the objects that had the path, the latest first.
    private func row(
        _ path: RelativePath, _ change: CombinedChange.Change, _ indices: [Int], _ other: RelativePath? = nil
    ) -> CombinedChange {
        let snapshots = indices.reduce(into: Set<Int>()) { $0.formUnion(objects[$1].snapshots) }
        return CombinedChange(
            path: path, change: change, kind: indices.first.map { objects[$0].kind } ?? .file,
            snapshotCount: snapshots.count, otherPath: other,
            isEdited: indices.contains { objects[$0].isEdited })
    }
}
