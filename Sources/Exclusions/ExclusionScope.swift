// The rules in force at a place of the tree.

package import FileIO

/// The exclusion rules that hold in one directory.
package struct ExclusionScope: Sendable {
    package let rules: ExclusionRules

    /// The rules above the root's own ignore files.
    package init(_ rules: ExclusionRules) {
        self.rules = rules
    }

    /// Whether no path is left out because of its name.
    package var isTrivial: Bool { true }

    /// The rules in `directory`, which is below those that were added before.
    ///
    /// - Parameter files: its ignore files, in rising precedence.
    package func adding(_ files: [IgnoreFile], of directory: RelativePath) -> ExclusionScope { self }

    /// Whether `path`, whose parents are all included, is left out because of its name.
    ///
    /// An ignore file never is: a change of what it says is a change of the root's state.
    package func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool { false }
}
