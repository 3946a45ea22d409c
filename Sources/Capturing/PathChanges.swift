// Collects a snapshot's changes in walk order, during a capture or while two trees are compared.

package import ArchiveFormat
package import ArchiveStorage
internal import FileIO

/// Collects the changes of one snapshot for the index of paths.
///
/// A directory of which only the time differs is no change here: every added or removed file sets that time.
package struct PathChanges {
    private var changes: [PathChange] = []
    private var removed: [RenameCandidate] = []
    private var added: [RenameCandidate] = []
    private let limit: Int
    /// Whether there were more changes than the limit.
    private(set) var isOverfull = false

    /// The most changes that a commit records; if there are more, the trees are compared when a query needs them.
    static let commitLimit = 1 << 16
    /// If more names were added or removed than this, renames are not searched.
    private static let candidatesLimit = 1 << 18

    package init(limit: Int = .max) {
        self.limit = limit
    }

    private init(overfull limit: Int) {
        self.limit = limit
        isOverfull = true
    }

    /// Adds the next path, unless it differs in nothing that counts.
    package mutating func add(_ old: Entry?, _ new: Entry?) {
        guard !isOverfull, let entry = new ?? old, let kind = PathChanges.kind(old, new) else { return }
        if changes.count == limit {
            self = PathChanges(overfull: limit)
            return
        }
        switch kind {
        case .added: added.append(RenameCandidate(entry, index: changes.count))
        case .removed: removed.append(RenameCandidate(entry, index: changes.count))
        case .modified, .metadata: break
        }
        changes.append(PathChange(path: entry.path, kind: kind, object: entry.kind, size: entry.size))
    }

    private static func kind(_ old: Entry?, _ new: Entry?) -> PathChange.Kind? {
        guard let old else { return new == nil ? nil : .added }
        guard let new else { return .removed }
        if old.hasSameState(as: new) { return nil }
        if old.kind != new.kind || old.content != new.content || old.device != new.device { return .modified }
        guard old.kind == .directory else { return .metadata }
        var same = new
        same.modified = old.modified
        return same.hasSameState(as: old) ? nil : .metadata
    }

    /// Returns the changes, with the two names of each rename linked.
    ///
    /// - Parameters:
    ///   - isNext: whether no snapshot is missing between the two states.
    ///   - contents: the archive with the contents of both states; nil if none may be read.
    /// - Returns: nil if `contents` is nil, and contents have to be read to find all renames.
    package func linked(isNext: Bool, contents: ArchiveStore?) throws -> [PathChange]? {
        guard !removed.isEmpty, !added.isEmpty, removed.count + added.count <= PathChanges.candidatesLimit else {
            return changes
        }
        let renames = try Renames(removed, added, inodesCount: isNext, contents: contents)
        if renames.isIncomplete { return nil }
        var linked = changes
        for pair in renames.pairs {
            linked[pair.old.index].other = pair.new.path
            linked[pair.new.index].other = pair.old.path
            (linked[pair.old.index].isEdited, linked[pair.new.index].isEdited) = (pair.isEdited, pair.isEdited)
        }
        return linked
    }
}
