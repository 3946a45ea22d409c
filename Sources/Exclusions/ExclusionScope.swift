// The exclusion rules in force in one directory of the tree.

package import FileIO

/// The exclusion rules in force in one directory.
///
/// The value is two references, so it is cheap to copy: a walk extends it on the way down and drops it on the way up.
package struct ExclusionScope: Sendable {
    /// The rules in force everywhere.
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
        /// The offset in a root-relative path at which the path relative to the file's directory begins.
        let pathStart: Int
        let patterns: PatternList
    }

    private let foundation: Foundation
    /// In rising precedence.
    private var levels: [Level] = []

    /// Whether no path is excluded by name.
    package private(set) var isTrivial: Bool

    package var rules: ExclusionRules { foundation.rules }

    /// The rules without any ignore file.
    package init(_ rules: ExclusionRules) {
        foundation = Foundation(rules)
        isTrivial = !foundation.patterns.canExclude
    }

    /// The rules in `directory`, which is below the directories added before.
    ///
    /// - Parameter files: the directory's ignore files, in rising precedence.
    package func adding(_ files: [IgnoreFile], of directory: RelativePath) -> ExclusionScope {
        var extended = self
        let pathStart = directory.isRoot ? 0 : directory.bytes.count + 1
        // If nothing is excluded so far, a negated pattern has nothing to include again.
        for file in files where !file.isEmpty && (file.patterns.canExclude || !extended.isTrivial) {
            extended.levels.append(Level(pathStart: pathStart, patterns: file.patterns))
            if file.patterns.canExclude { extended.isTrivial = false }
        }
        return extended
    }

    /// Whether `path`, whose parents are all included, is excluded by name.
    ///
    /// An ignore file is never excluded, because a change of its content changes the root's state.
    ///
    /// - Parameter path: a path below the directory added last.
    package func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        if isTrivial { return false }
        let nameStart = path.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        guard verdict(on: path.bytes.span, nameStart: nameStart, isDirectory: isDirectory) == .excluded else {
            return false
        }
        return isDirectory || !rules.ignoreFileNames.contains { $0.elementsEqual(path.bytes[nameStart...]) }
    }

    /// The verdict of the list with the highest precedence that has a pattern for `path`; nil if there is none.
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
