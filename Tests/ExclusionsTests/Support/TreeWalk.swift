// A walk of a tree like that of a capture: parents are checked before their contents.

import Exclusions
import FileIO
import Glibc

/// Collects the paths that are not excluded.
struct TreeWalk {
    private(set) var included: Set<RelativePath> = []

    /// Walks the directory `root`, except for a `.git` in it.
    static func included(below root: borrowing Descriptor, _ rules: ExclusionRules) throws(FileError) -> Set<
        RelativePath
    > {
        var walk = TreeWalk()
        try walk.enter(root, name: CName(".".utf8), .root, ExclusionScope(rules))
        return walk.included
    }

    private mutating func enter(
        _ parent: borrowing Descriptor, name: CName, _ path: RelativePath, _ scope: ExclusionScope
    ) throws(FileError) {
        let directory = try parent.open(name, O_RDONLY | O_DIRECTORY, path: path)
        let records = try DirectoryReader.list(directory, path: path)
        let own = DirectoryRules.read(in: directory, scope.rules, among: records)
        let scope = scope.adding(own.ignoreFiles, of: path)
        for record in records {
            let child = path.appending(record.name)
            let isDirectory = record.kind == .directory
            if child.bytes == Array(".git".utf8) || scope.excludes(child, isDirectory: isDirectory) { continue }
            included.insert(child)
            if isDirectory { try enter(directory, name: CName(record.name), child, scope) }
        }
    }
}
