// The oracle of the live tests: the actual tree, by lstat of everything, and the differences that a batch covers.

import FileIO
import FileWatching
import Glibc

/// Every path below a root with the facts that a capture would compare.
struct Listing {
    struct Facts: Hashable {
        let mode: UInt32
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
        let links: UInt64

        var isDirectory: Bool { mode & S_IFMT == S_IFDIR }

        /// Whether a capture would see no difference; an additional hard link is not a change.
        func isSame(as other: Facts?) -> Bool {
            guard let other else { return false }
            return (mode, inode, size, seconds, nanoseconds)
                == (other.mode, other.inode, other.size, other.seconds, other.nanoseconds)
        }
    }

    private(set) var facts: [RelativePath: Facts] = [:]

    /// Lists the tree at `root`; the listing of a missing root is empty.
    init(of root: String) {
        add(root, .root)
    }

    var directories: Int { facts.values.count { $0.isDirectory } }

    /// Lists only the given ranges of the tree at `root` again, like the simplest possible capture.
    mutating func update(_ ranges: [PathRange], of root: String) {
        for range in ranges { look(range, of: root) }
    }

    private mutating func look(_ range: PathRange, of root: String) {
        var fresh = Listing()
        // lstat(2) follows links before the last component, but paths through a link are not in the tree.
        if Listing.isReached(range.path, in: root) { fresh.add(root + "/" + range.path.description, range.path) }
        let isDirectory = fresh.facts[range.path]?.isDirectory ?? false
        for path in facts.keys where range.path.contains(path) && path != range.path {
            switch range {
            case .entry: if !isDirectory { facts[path] = nil }
            case .children(let directory):
                let below = directory.suffix(of: path)?.components.first.map { directory.appending($0) }
                if below.map({ fresh.facts[$0]?.isDirectory ?? false }) != true { facts[path] = nil }
            case .subtree: facts[path] = nil
            }
        }
        let known = facts
        for (path, seen) in fresh.facts {
            guard let below = range.path.suffix(of: path) else { continue }
            switch range {
            case .entry: if !below.isRoot { continue }
            case .children(let directory):
                let child = below.components.first.map { directory.appending($0) } ?? directory
                if below.depth > 1 && known[child]?.isDirectory == true { continue }
            case .subtree: break
            }
            facts[path] = seen
        }
        if fresh.facts.isEmpty { facts[range.path] = nil }
    }

    /// Whether all parents of `path` below the root are directories.
    private static func isReached(_ path: RelativePath, in root: String) -> Bool {
        var above = path.parent
        while let directory = above, !directory.isRoot {
            var status = stat()
            guard lstat(root + "/" + directory.description, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                return false
            }
            above = directory.parent
        }
        return true
    }

    private init() {}

    private mutating func add(_ path: String, _ relative: RelativePath) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let facts = Facts(
            mode: status.st_mode, inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec, links: UInt64(status.st_nlink))
        self.facts[relative] = facts
        guard facts.isDirectory, let stream = opendir(path) else { return }
        defer { closedir(stream) }
        while let record = readdir(stream) {
            let name = withUnsafePointer(to: &record.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { add(path + "/" + name, relative.appending(name.utf8)) }
        }
    }

    /// The paths at which the listings differ.
    func differences(from other: Listing) -> [RelativePath] {
        Set(facts.keys).union(other.facts.keys).filter { path in
            guard let facts = facts[path] else { return true }
            return !facts.isSame(as: other.facts[path])
        }.sorted()
    }

    /// The paths that differ between two listings and that no range covers.
    ///
    /// - Parameter changed: the names through which files were changed, by their inodes.
    static func uncovered(
        from before: Listing, to after: Listing, by ranges: [PathRange], _ changed: [UInt64: Set<RelativePath>]
    ) -> [RelativePath] {
        func isCovered(_ path: RelativePath) -> Bool {
            ranges.contains { leads($0, to: path, from: before, to: after) }
        }
        let missed = after.differences(from: before).filter { !isCovered($0) }
        // A write through one name of a file is not reported for its other names, and that name may be gone by now.
        func names(of inode: UInt64, in listing: Listing) -> [RelativePath] {
            listing.facts.filter { $0.value.inode == inode }.map(\.key)
        }
        return missed.filter { path in
            guard let now = after.facts[path], !now.isDirectory else { return true }
            let names =
                names(of: now.inode, in: before) + names(of: now.inode, in: after) + changed[now.inode, default: []]
            return !names.contains { $0 != path && isCovered($0) }
        }
    }

    /// Whether scanning `range`, with the knowledge of `before`, reaches `path`.
    private static func leads(
        _ range: PathRange, to path: RelativePath, from before: Listing, to after: Listing
    ) -> Bool {
        if range.path == path { return true }
        guard range.path.contains(path) else { return false }
        func isDirectory(_ path: RelativePath, in listing: Listing) -> Bool {
            listing.facts[path]?.isDirectory ?? false
        }
        switch range {
        case .subtree:
            return true
        case .entry(let entry):
            return !isDirectory(entry, in: after)
        case .children(let directory):
            if !isDirectory(directory, in: after) { return true }
            guard let below = directory.suffix(of: path)?.components.first else { return true }
            let child = directory.appending(below)
            return child == path || !isDirectory(child, in: after) || !isDirectory(child, in: before)
        }
    }
}
