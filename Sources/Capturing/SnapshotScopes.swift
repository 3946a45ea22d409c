// Decides what was excluded from a snapshot, by the ignore files in its own tree: a path that it lacks may have existed
// and been excluded.

package import ArchiveFormat
internal import ArchiveStorage
package import Exclusions
package import FileIO
package import SnapshotTree

/// Answers whether a path was excluded from one snapshot.
package final class SnapshotScopes {
    private let tree: Tree<StoredNodes>
    private let store: ArchiveStore
    private let rules: ExclusionRules
    /// nil: the directory itself was excluded.
    private var known: [RelativePath: DirectoryScope?] = [:]

    /// - Parameter rules: the exclusions recorded in the snapshot.
    package init(_ tree: ChunkID, _ rules: ExclusionRules, in nodes: StoredNodes) {
        self.tree = Tree(tree, in: nodes)
        store = nodes.store
        self.rules = rules
    }

    /// Whether an object like `entry` was excluded, or would have been if it had existed.
    package func excludes(_ entry: Entry) throws -> Bool {
        if entry.kind == .file && rules.excludes(fileOfSize: entry.size) { return true }
        return try excludes(entry.path, isDirectory: entry.kind == .directory)
    }

    /// Whether an object at `path` was excluded by name, or would have been if it had existed.
    package func excludes(_ path: RelativePath, isDirectory: Bool) throws -> Bool {
        guard let parent = path.parent else { return false }
        guard let scope = try scope(of: parent) else { return true }
        return scope.excludes(path, isDirectory: isDirectory)
    }

    private func scope(of directory: RelativePath) throws -> DirectoryScope? {
        if let known = known[directory] { return known }
        var outer: DirectoryScope? = DirectoryScope(rules)
        if let parent = directory.parent {
            outer = try scope(of: parent)
            if let scope = outer, scope.excludes(directory, isDirectory: true) { outer = nil }
        }
        let scope = try outer.map { $0.entering(directory, try ownRules(of: directory)) }
        known[directory] = .some(scope)
        return scope
    }

    /// Returns the directory's own rules.
    package func ownRules(of directory: RelativePath) throws -> DirectoryRules {
        try DirectoryRules.read(rules) { name in
            guard let entry = try tree.entry(at: directory.appending(name)), entry.kind == .file else { return nil }
            var reader = ContentReader(entry.content, in: store)
            var text: [UInt8] = []
            // One byte beyond the limit shows that the ignore file is too long.
            let limit = DirectoryRules.ignoreFileByteLimit + 1
            while text.count < limit, let piece = try reader.next() {
                switch piece {
                case .data(let bytes): text += bytes
                case .hole(let length): text += repeatElement(0, count: Int(min(length, UInt64(limit))))
                }
            }
            return text
        }
    }
}
