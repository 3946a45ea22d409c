// Finds renames: a removed and an added name that belong to one object.

internal import ArchiveFormat
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

    init(_ entry: Entry, index: Int) {
        path = entry.path
        self.index = index
        kind = entry.kind
        size = entry.size
        inode = entry.signature?.inode
        modified = entry.modified
        content = entry.content
    }
}

/// Pairs removed with added names: by inode, then by unique content, then directories by their entries.
struct Renames {
    private(set) var pairs: [(old: RenameCandidate, new: RenameCandidate)] = []
    private let removed: [RenameCandidate]
    private let added: [RenameCandidate]
    private var isPaired: (old: [Bool], new: [Bool])

    init(_ removed: [RenameCandidate], _ added: [RenameCandidate]) {
        self.removed = removed
        self.added = added
        isPaired = (removed.map { _ in false }, added.map { _ in false })
        pairByInode()
        pairByContent()
        pairDirectories()
    }

    private mutating func pair(_ old: Int, _ new: Int) {
        pairs.append((removed[old], added[new]))
        isPaired.old[old] = true
        isPaired.new[new] = true
    }

    private mutating func pairByInode() {
        var byInode: [UInt64: [Int]] = [:]
        for (index, old) in removed.enumerated() {
            if let inode = old.inode { byInode[inode, default: []].append(index) }
        }
        for (index, new) in added.enumerated() {
            guard let inode = new.inode, let names = byInode[inode] else { continue }
            let old = names.first { !isPaired.old[$0] && Renames.mayBeSame(removed[$0], new) }
            if let old { pair(old, index) }
        }
    }

    /// Whether two objects with the same inode may be one: file systems soon reuse the inode of a removed object.
    private static func mayBeSame(_ old: RenameCandidate, _ new: RenameCandidate) -> Bool {
        guard old.kind == new.kind else { return false }
        if old.modified == new.modified, old.size == new.size { return true }
        if old.kind == .directory { return old.path.name == new.path.name }
        if old.size > 0, old.content == new.content { return true }
        let isAlike = old.size <= 2 * new.size && new.size <= 2 * old.size
        return isAlike && (old.path.name == new.path.name || suffix(old.path.name) == suffix(new.path.name))
    }

    /// The part of a name from its last dot on.
    private static func suffix(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.lastIndex(of: UInt8(ascii: ".")).map { name[$0...] } ?? []
    }

    private mutating func pairByContent() {
        var old: [Content: Int?] = [:]
        var new: [Content: Int?] = [:]
        for (index, candidate) in removed.enumerated() where !isPaired.old[index] && candidate.size > 0 {
            // If two have the same content, neither can be paired.
            old[candidate.content] = .some(old[candidate.content] == nil ? index : nil)
        }
        for (index, candidate) in added.enumerated() where !isPaired.new[index] && candidate.size > 0 {
            new[candidate.content] = .some(new[candidate.content] == nil ? index : nil)
        }
        // In walk order, so that the same changes always give the same pairs.
        for (index, candidate) in removed.enumerated() {
            guard old[candidate.content] == .some(.some(index)), case .some(.some(let other)) = new[candidate.content]
            else { continue }
            pair(index, other)
        }
    }

    /// Pairs directories between which an entry moved and kept its name.
    private mutating func pairDirectories() {
        let old = Renames.directories(removed)
        let new = Renames.directories(added)
        if old.isEmpty || new.isEmpty { return }
        for (from, to) in pairs {
            var (from, to) = (from.path, to.path)
            while from.name == to.name, let source = from.parent, let target = to.parent, source != target,
                let left = old[source], let right = new[target], !isPaired.old[left], !isPaired.new[right]
            {
                pair(left, right)
                (from, to) = (source, target)
            }
        }
    }

    private static func directories(_ candidates: [RenameCandidate]) -> [RelativePath: Int] {
        var found: [RelativePath: Int] = [:]
        for (index, candidate) in candidates.enumerated() where candidate.kind == .directory {
            found[candidate.path] = index
        }
        return found
    }
}
