// Checks in one pass that every entry of a tree has its directory in the tree.

package import FileIO

/// The directories above the current place of a walk, the outermost first.
///
/// In walk order, a directory comes before its entries, so an entry's directory must be the innermost open one.
package struct DirectoryStack {
    private var directories: [RelativePath] = []

    package init() {}

    /// Moves to `path`, which must come after all earlier paths.
    ///
    /// - Returns: whether its directory is open; always true for the root.
    package mutating func moves(to path: RelativePath) -> Bool {
        while let last = directories.last, !last.contains(path) { directories.removeLast() }
        guard let parent = path.parent else { return true }
        return directories.last == parent
    }

    /// Opens the directory at `path`, which is the walk's current place or its directory.
    package mutating func open(_ path: RelativePath) {
        directories.append(path)
    }
}
