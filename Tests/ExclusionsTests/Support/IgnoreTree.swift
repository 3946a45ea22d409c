// Ignore files in their directories, asked as a walk asks.

import Exclusions
import FileIO
import Testing

/// The ignore files of a tree that need not exist.
struct IgnoreTree {
    var rules = ExclusionRules()
    /// By directory; those of one directory in rising precedence.
    var files: [RelativePath: [[UInt8]]] = [:]

    init(_ rootFile: String = "") {
        add(rootFile)
    }

    mutating func add(_ text: String, in directory: RelativePath = .root) {
        files[directory, default: []].append(Array(text.utf8))
    }

    /// Whether a walk leaves `path` out, by itself or with a directory above it.
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

    /// Takes a path as text; with `/` at its end it is a directory.
    func excludes(_ text: String) throws -> Bool {
        let path = try #require(RelativePath(text.hasSuffix("/") ? String(text.dropLast()) : text))
        return excludes(path, isDirectory: text.hasSuffix("/"))
    }

    private func extended(_ scope: ExclusionScope, _ directory: RelativePath) -> ExclusionScope {
        guard let texts = files[directory] else { return scope }
        return scope.adding(texts.map { IgnoreFile($0) }, of: directory)
    }
}
