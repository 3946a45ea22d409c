// Ignore files in their directories, queried in the order of a walk.

import Exclusions
import FileIO
import Testing

/// The ignore files of a tree that need not exist.
struct IgnoreTree {
    var rules = ExclusionRules()
    /// The ignore files by directory, in rising precedence.
    var files: [RelativePath: [[UInt8]]] = [:]

    init(_ rootFile: String = "") {
        add(rootFile)
    }

    mutating func add(_ text: String, in directory: RelativePath = .root) {
        files[directory, default: []].append(Array(text.utf8))
    }

    /// Whether a walk excludes `path`, or a directory above it.
    func excludes(_ path: RelativePath, isDirectory: Bool = false) -> Bool {
        var scope = extended(ExclusionScope(rules), .root)
        var directory = RelativePath.root
        for name in path.components.dropLast() {
            directory = directory.appending(name)
            if scope.excludes(directory, isDirectory: true) { return true }
            scope = extended(scope, directory)
        }
        return scope.excludes(path, isDirectory: isDirectory)
    }

    /// Like the above for a path as text; a path that ends with `/` is a directory.
    func excludes(_ text: String) throws -> Bool {
        let path = try #require(RelativePath(text.hasSuffix("/") ? String(text.dropLast()) : text))
        return excludes(path, isDirectory: text.hasSuffix("/"))
    }

    private func extended(_ scope: ExclusionScope, _ directory: RelativePath) -> ExclusionScope {
        guard let texts = files[directory] else { return scope }
        return scope.adding(texts.map { IgnoreFile($0) }, of: directory)
    }
}
