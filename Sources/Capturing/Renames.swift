// Finds renames: a removed and an added name that belong to one object.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// An object whose name was removed or added, with the properties that identify it.
struct RenameCandidate {
    let path: RelativePath
    /// Its index among the changes.
    let index: Int
    let kind: FileKind
    let size: UInt64
    let inode: UInt64?
    let modified: Timestamp
    let content: Content
    let device: UInt64

    init(_ entry: Entry, index: Int) {
        path = entry.path
        self.index = index
        kind = entry.kind
        size = entry.size
        inode = entry.signature?.inode
        modified = entry.modified
        content = entry.content
        device = entry.device
    }
}

/// Pairs removed with added names.
///
/// Equal content comes first, then contents that are alike; directories follow their entries. An inode alone proves
/// nothing, as file systems give the number of a removed object to the next new one: it only chooses among candidates
/// that fit otherwise.
struct Renames {
    /// A removed and an added name of one object.
    struct Pair {
        let old: RenameCandidate
        let new: RenameCandidate
        /// Whether the content changed.
        let isEdited: Bool
    }

    private(set) var pairs: [Pair] = []
    /// Whether there may be more pairs, which only the contents can show.
    private(set) var isIncomplete = false
    private let removed: [RenameCandidate]
    private let added: [RenameCandidate]
    /// Whether no snapshot is missing between the two states; otherwise equal inodes mean nothing.
    private let inodesCount: Bool
    private var isPaired: (old: [Bool], new: [Bool])

    /// Smaller files are the same only if their contents are equal.
    private static let leastSize: UInt64 = 32
    /// The least share of the content that a renamed file keeps.
    private static let leastLikeness = 0.5
    /// How many pairs of files are compared.
    private static let comparisonsLimit = 1 << 16

    /// - Parameter contents: the archive with the files' contents; nil if none may be read.
    init(
        _ removed: [RenameCandidate], _ added: [RenameCandidate], inodesCount: Bool, contents: ArchiveStore?
    ) throws {
        self.removed = removed
        self.added = added
        self.inodesCount = inodesCount
        isPaired = (removed.map { _ in false }, added.map { _ in false })
        pairByContent()
        pairDirectories()
        pairByContent()
        try pairByLikeness(contents)
        pairDirectories()
        pairByInode()
    }

    private mutating func pair(_ old: Int, _ new: Int, isEdited: Bool = false) {
        pairs.append(Pair(old: removed[old], new: added[new], isEdited: isEdited))
        isPaired.old[old] = true
        isPaired.new[new] = true
    }

    private func haveSameInode(_ old: RenameCandidate, _ new: RenameCandidate) -> Bool {
        inodesCount && old.inode != nil && old.inode == new.inode
    }

    // MARK: Equal content

    private struct Identity: Hashable {
        let kind: FileKind
        let content: Content
    }

    /// Pairs files and links of equal content: by inode, by the name in a renamed directory, or if there is one of each.
    private mutating func pairByContent() {
        var old: [Identity: [Int]] = [:]
        var new: [Identity: [Int]] = [:]
        for (index, candidate) in removed.enumerated() where !isPaired.old[index] {
            if let identity = Renames.identity(candidate) { old[identity, default: []].append(index) }
        }
        for (index, candidate) in added.enumerated() where !isPaired.new[index] {
            guard let identity = Renames.identity(candidate), old[identity] != nil else { continue }
            new[identity, default: []].append(index)
        }
        let moved = renamedDirectories
        // In walk order, so that the same changes always give the same pairs.
        for index in removed.indices where !isPaired.old[index] {
            guard let identity = Renames.identity(removed[index]), let target = new[identity] else { continue }
            pairEqual(old.removeValue(forKey: identity) ?? [], target, moved)
        }
    }

    private mutating func pairEqual(_ old: [Int], _ new: [Int], _ moved: [RelativePath: RelativePath]) {
        var byInode: [UInt64: Int] = [:]
        var byPath: [RelativePath: Int] = [:]
        for index in new {
            if inodesCount, let inode = added[index].inode { byInode[inode] = index }
            byPath[added[index].path] = index
        }
        for index in old {
            if let other = removed[index].inode.flatMap({ byInode[$0] }), !isPaired.new[other] { pair(index, other) }
        }
        for index in old where !isPaired.old[index] {
            let path = removed[index].path
            guard let target = path.parent.flatMap({ moved[$0] }),
                let other = byPath[target.appending(Array(path.name))], !isPaired.new[other]
            else { continue }
            pair(index, other)
        }
        let left = (old: old.filter { !isPaired.old[$0] }, new: new.filter { !isPaired.new[$0] })
        if left.old.count == 1, left.new.count == 1 { pair(left.old[0], left.new[0]) }
    }

    /// Nil for empty files and other objects without content, which all look the same.
    private static func identity(_ candidate: RenameCandidate) -> Identity? {
        guard candidate.kind == .file && candidate.size > 0 || candidate.kind == .symbolicLink else { return nil }
        return Identity(kind: candidate.kind, content: candidate.content)
    }

    // MARK: Alike content

    private struct Match {
        let old: Int
        let new: Int
        let likeness: Double
        let hasSameName: Bool
        let hasSameInode: Bool

        /// Whether it is a better match; earlier names win if nothing else decides.
        static func < (left: Match, right: Match) -> Bool {
            if left.likeness != right.likeness { return left.likeness > right.likeness }
            if left.hasSameInode != right.hasSameInode { return left.hasSameInode }
            if left.hasSameName != right.hasSameName { return left.hasSameName }
            return (left.old, left.new) < (right.old, right.new)
        }
    }

    private mutating func pairByLikeness(_ contents: ArchiveStore?) throws {
        let candidates = similarSizes
        guard let contents, !candidates.isEmpty else {
            isIncomplete = !candidates.isEmpty
            return
        }
        var search = LikenessSearch(contents)
        var matches: [Match] = []
        for (old, new) in candidates {
            let likeness = try search.likeness(removed[old].content, added[new].content)
            guard likeness >= Renames.leastLikeness else { continue }
            matches.append(
                Match(
                    old: old, new: new, likeness: likeness,
                    hasSameName: removed[old].path.name == added[new].path.name,
                    hasSameInode: haveSameInode(removed[old], added[new])))
        }
        // A file that equals several others is one of them, and no edited version of another.
        var isAmbiguous = isPaired
        for match in matches.sorted(by: <) where !isAmbiguous.old[match.old] && !isAmbiguous.new[match.new] {
            (isAmbiguous.old[match.old], isAmbiguous.new[match.new]) = (true, true)
            if removed[match.old].content != added[match.new].content { pair(match.old, match.new, isEdited: true) }
        }
    }

    /// Files that may be alike by their sizes, those with equal names first.
    private var similarSizes: [(old: Int, new: Int)] {
        func files(_ candidates: [RenameCandidate], _ isPaired: [Bool]) -> [Int] {
            candidates.indices.filter {
                !isPaired[$0] && candidates[$0].kind == .file && candidates[$0].size >= Renames.leastSize
            }
        }
        let old = files(removed, isPaired.old).sorted { (removed[$0].size, $0) < (removed[$1].size, $1) }
        let new = files(added, isPaired.new)
        if old.isEmpty || new.isEmpty { return [] }
        var found: [(old: Int, new: Int)] = []
        let named = Dictionary(grouping: old) { removed[$0].path.name }
        for index in new {
            for other in named[added[index].path.name] ?? [] where mayBeAlike(other, index) {
                found.append((other, index))
                if found.count == Renames.comparisonsLimit { return found }
            }
        }
        for index in new {
            let least = added[index].size - added[index].size / 2
            var (low, high) = (0, old.count)
            while low < high {
                let middle = (low + high) / 2
                if removed[old[middle]].size < least { low = middle + 1 } else { high = middle }
            }
            for other in old[low...] {
                guard mayBeAlike(other, index) else { break }
                if removed[other].path.name == added[index].path.name { continue }
                found.append((other, index))
                if found.count == Renames.comparisonsLimit { return found }
            }
        }
        return found
    }

    private func mayBeAlike(_ old: Int, _ new: Int) -> Bool {
        let (left, right) = (removed[old].size, added[new].size)
        return min(left, right) >= max(left, right) - max(left, right) / 2
    }

    // MARK: Directories

    /// Pairs directories if at least half of the files below either of them moved to the other and kept their names.
    private mutating func pairDirectories() {
        let old = Renames.directories(removed)
        let new = Renames.directories(added)
        if old.isEmpty || new.isEmpty { return }
        var votes: [RelativePath: [RelativePath: Int]] = [:]
        for pair in pairs where pair.old.kind != .directory {
            var (from, to) = (pair.old.path, pair.new.path)
            while from.name == to.name, let source = from.parent, let target = to.parent, source != target,
                old[source] != nil, new[target] != nil
            {
                votes[source, default: [:]][target, default: 0] += 1
                (from, to) = (source, target)
            }
        }
        if votes.isEmpty { return }
        let counts = (old: Renames.counts(removed, below: old), new: Renames.counts(added, below: new))
        for (index, directory) in removed.enumerated() where !isPaired.old[index] {
            let best = (votes[directory.path] ?? [:]).max { ($0.value, $1.key) < ($1.value, $0.key) }
            guard let (path, count) = best, let other = new[path], !isPaired.new[other],
                2 * count >= max(counts.old[directory.path] ?? 0, counts.new[path] ?? 0)
            else { continue }
            pair(index, other)
        }
    }

    private static func directories(_ candidates: [RenameCandidate]) -> [RelativePath: Int] {
        var found: [RelativePath: Int] = [:]
        for (index, candidate) in candidates.enumerated() where candidate.kind == .directory {
            found[candidate.path] = index
        }
        return found
    }

    /// How many of the candidates that are no directories are below each of `directories`.
    private static func counts(
        _ candidates: [RenameCandidate], below directories: [RelativePath: Int]
    ) -> [RelativePath: Int] {
        var counts: [RelativePath: Int] = [:]
        for candidate in candidates where candidate.kind != .directory {
            var path = candidate.path
            while let parent = path.parent, directories[parent] != nil {
                counts[parent, default: 0] += 1
                path = parent
            }
        }
        return counts
    }

    private var renamedDirectories: [RelativePath: RelativePath] {
        var renamed: [RelativePath: RelativePath] = [:]
        for pair in pairs where pair.old.kind == .directory { renamed[pair.old.path] = pair.new.path }
        return renamed
    }

    // MARK: Inodes

    /// Pairs objects that have no content and no files below them, if they have the same inode and time.
    private mutating func pairByInode() {
        guard inodesCount else { return }
        var isEmpty: (old: [Bool], new: [Bool])?
        var byInode: [UInt64: Int] = [:]
        for (index, old) in removed.enumerated() where !isPaired.old[index] && Renames.identity(old) == nil {
            if let inode = old.inode { byInode[inode] = index }
        }
        if byInode.isEmpty { return }
        for (index, new) in added.enumerated() where !isPaired.new[index] {
            guard let other = new.inode.flatMap({ byInode[$0] }), !isPaired.old[other] else { continue }
            let old = removed[other]
            guard old.kind == new.kind, old.modified == new.modified, old.device == new.device else { continue }
            let facts = isEmpty ?? (Renames.emptiness(removed), Renames.emptiness(added))
            isEmpty = facts
            if facts.old[other], facts.new[index] { pair(other, index) }
        }
    }

    /// Whether each candidate has no files below it.
    private static func emptiness(_ candidates: [RenameCandidate]) -> [Bool] {
        let counts = counts(candidates, below: directories(candidates))
        return candidates.map { counts[$0.path] == nil }
    }
}
