// The rule that everything in a tree has its directory in it, checked in one pass.

package import FileIO

/// The directories that hold the current place of a walk, the outermost first.
///
/// What comes in walk order has its directory before it, so it must be the innermost one that is open.
package struct DirectoryStack {
    private var directories: [RelativePath] = []

    package init() {}

    /// Moves to `path`, which comes after all paths before.
    ///
    /// - Returns: whether the directory that holds it is open; that of the root need not be.
    package mutating func moves(to path: RelativePath) -> Bool {
        while let last = directories.last, !last.contains(path) { directories.removeLast() }
        guard let parent = path.parent else { return true }
        return directories.last == parent
    }

    /// Opens the directory at `path`, to which the walk has moved or which holds that place.
    package mutating func open(_ path: RelativePath) {
        directories.append(path)
    }
}
