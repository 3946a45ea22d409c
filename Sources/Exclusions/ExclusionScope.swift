// The rules in force at a place of the tree.

package import FileIO

/// The exclusion rules that hold in one directory.
///
/// A value of two references: a walk extends it on its way down and drops the extension on its way up.
package struct ExclusionScope: Sendable {
    /// What holds everywhere.
    private final class Foundation: Sendable {
        let rules: ExclusionRules
        let patterns: PatternList

        init(_ rules: ExclusionRules) {
            self.rules = rules
            patterns = PatternList(rules.patterns.map { $0[...] })
        }
    }

    /// The patterns of one ignore file.
    private struct Level: Sendable {
        /// Where paths relative to the file's directory begin in paths relative to the root.
        let pathStart: Int
        let patterns: PatternList
    }

    private let foundation: Foundation
    /// In rising precedence.
    private var levels: [Level] = []

    /// Whether no path is left out because of its name.
    package private(set) var isTrivial: Bool

    package var rules: ExclusionRules { foundation.rules }

    /// The rules above the root's own ignore files.
    package init(_ rules: ExclusionRules) {
        foundation = Foundation(rules)
        isTrivial = !foundation.patterns.canExclude
    }

    /// The rules in `directory`, which is below those that were added before.
    ///
    /// - Parameter files: its ignore files, in rising precedence.
    package func adding(_ files: [IgnoreFile], of directory: RelativePath) -> ExclusionScope {
        var extended = self
        let pathStart = directory.isRoot ? 0 : directory.bytes.count + 1
        // Where nothing is left out so far, there is nothing to include again.
        for file in files where !file.isEmpty && (file.patterns.canExclude || !extended.isTrivial) {
            extended.levels.append(Level(pathStart: pathStart, patterns: file.patterns))
            if file.patterns.canExclude { extended.isTrivial = false }
        }
        return extended
    }

    /// Whether `path`, whose parents are all included, is left out because of its name.
    ///
    /// An ignore file never is: a change of what it says is a change of the root's state.
    ///
    /// - Parameter path: below the directory that was added last.
    package func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        if isTrivial { return false }
        let nameStart = path.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        guard verdict(on: path.bytes.span, nameStart: nameStart, isDirectory: isDirectory) == .excluded else {
            return false
        }
        return isDirectory || !rules.ignoreFileNames.contains { $0.elementsEqual(path.bytes[nameStart...]) }
    }

    /// What the list of highest precedence that says something of `path` says.
    private func verdict(
        on path: borrowing Span<UInt8>, nameStart: Int, isDirectory: Bool
    ) -> IgnoreFile.Verdict? {
        if let verdict = foundation.patterns.verdict(on: path, nameStart: nameStart, isDirectory: isDirectory) {
            return verdict
        }
        for level in levels.reversed() where level.pathStart <= nameStart {
            let relative = path.extracting(level.pathStart...)
            if let verdict = level.patterns.verdict(
                on: relative, nameStart: nameStart - level.pathStart, isDirectory: isDirectory)
            {
                return verdict
            }
        }
        return nil
    }
}
