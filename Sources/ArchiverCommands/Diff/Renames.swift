// Finds renamed files and directories among the differences of two states.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Passes differences on to a report in walk order, with a removed and an added file as one rename.
///
/// Files with the same content are paired, and those that the index of changes knows as renamed, even if they were
/// edited as well.
struct Renames {
    private let archive: Archive
    private let left: ListedSnapshot
    /// Nil for the directory as it is now.
    private let right: ListedSnapshot?
    private var waiting: [Difference] = []
    private var isGivenUp = false

    /// More differences than this are passed on as they are.
    private static let limit = 200_000

    init(_ archive: Archive, left: ListedSnapshot, right: ListedSnapshot?) {
        self.archive = archive
        self.left = left
        self.right = right
    }

    mutating func add(_ difference: Difference, to report: inout any DifferenceReport) throws {
        if isGivenUp { return try report.add(difference) }
        waiting.append(difference)
        guard waiting.count > Renames.limit else { return }
        isGivenUp = true
        for difference in waiting { try report.add(difference) }
        waiting = []
    }

    mutating func finish(_ report: inout any DifferenceReport) throws {
        let pairs = pairs()
        let formers = Set(pairs.values.map(\.path))
        for difference in waiting {
            if difference.kind == .removed, formers.contains(difference.path) { continue }
            if difference.kind == .added, let new = difference.right, let old = pairs[difference.path] {
                try report.add(Difference(renamed: old, to: new))
            } else {
                try report.add(difference)
            }
        }
        waiting = []
    }

    /// The old entry of each renamed path.
    private func pairs() -> [RelativePath: Entry] {
        var removed: [RelativePath: Entry] = [:]
        var added: [RelativePath: Entry] = [:]
        for difference in waiting {
            switch difference.kind {
            case .removed: removed[difference.path] = difference.left
            case .added: added[difference.path] = difference.right
            case .modified: break
            }
        }
        if removed.isEmpty || added.isEmpty { return [:] }
        var pairs = pairsOfEqualFiles(removed, added)
        for (new, old) in indexedRenames() where pairs[new] == nil {
            guard let entry = removed[old], added[new]?.kind == entry.kind else { continue }
            if !pairs.values.contains(where: { $0.path == old }) { pairs[new] = entry }
        }
        for (new, old) in pairs { addParents(of: new, old.path, removed, added, to: &pairs) }
        return pairs
    }

    private func pairsOfEqualFiles(
        _ removed: [RelativePath: Entry], _ added: [RelativePath: Entry]
    ) -> [RelativePath: Entry] {
        var sources: [Content: [Entry]] = [:]
        for entry in removed.values.sorted(by: { $0.path < $1.path }) where entry.kind == .file && entry.size > 0 {
            sources[entry.content, default: []].append(entry)
        }
        var pairs: [RelativePath: Entry] = [:]
        for entry in added.values.sorted(by: { $0.path < $1.path }) where entry.kind == .file && entry.size > 0 {
            guard let candidates = sources[entry.content], !candidates.isEmpty else { continue }
            // Of several equal files, the one with the same name was most likely moved.
            let index = candidates.firstIndex { $0.path.name.elementsEqual(entry.path.name) } ?? 0
            pairs[entry.path] = candidates[index]
            sources[entry.content]?.remove(at: index)
        }
        return pairs
    }

    /// The old path of each new one that the index of changes knows; this only improves the result, so that errors are
    /// ignored.
    private func indexedRenames() -> [RelativePath: RelativePath] {
        guard let right, right.root == left.root else { return [:] }
        let isForward = left.sequence <= right.sequence
        let (old, new) = isForward ? (left, right) : (right, left)
        let changes = try? archive.combinedChanges(in: left.root, after: old, through: new)
        var renames: [RelativePath: RelativePath] = [:]
        for change in changes ?? [] where change.change == .renamed {
            guard let other = change.otherPath else { continue }
            if isForward { renames[change.path] = other } else { renames[other] = change.path }
        }
        return renames
    }

    /// Pairs the directories that a renamed file was in and is in.
    private func addParents(
        of new: RelativePath, _ old: RelativePath, _ removed: [RelativePath: Entry], _ added: [RelativePath: Entry],
        to pairs: inout [RelativePath: Entry]
    ) {
        var (new, old) = (new.parent, old.parent)
        while let target = new, let source = old, pairs[target] == nil, added[target] != nil,
            let entry = removed[source], !pairs.values.contains(where: { $0.path == source })
        {
            pairs[target] = entry
            (new, old) = (target.parent, source.parent)
        }
    }
}
