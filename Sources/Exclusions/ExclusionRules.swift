// What a user wants left out of a root, as it is said on the command line and recorded in snapshots.

/// What is left out of the snapshots of a root.
public struct ExclusionRules: Hashable, Sendable {
    /// Patterns as gitignore(5) has them, one each, relative to the root; the last one that matches decides, and each
    /// of them outranks all ignore files.
    public var patterns: [[UInt8]]
    /// Names of files that hold such patterns for the directory they are in and all below it; a later name outranks an
    /// earlier one in the same directory, a deeper directory outranks those above.
    public var ignoreFileNames: [[UInt8]]
    /// Files of more bytes than this are left out; nil for no limit.
    public var largerThan: UInt64?
    /// Whether of a directory that is tagged as a cache (CACHEDIR.TAG) only the tag is taken.
    public var excludesCaches: Bool
    /// Whether directories that carry another mount are entered.
    public var crossesMounts: Bool

    /// The file that is heeded without being asked for.
    public static let ignoreFileName = Array(".archiverignore".utf8)
    /// git's own.
    public static let gitIgnoreFileName = Array(".gitignore".utf8)

    public init(
        patterns: [[UInt8]] = [], ignoreFileNames: [[UInt8]] = [ExclusionRules.ignoreFileName],
        largerThan: UInt64? = nil, excludesCaches: Bool = false, crossesMounts: Bool = false
    ) {
        self.patterns = patterns
        self.ignoreFileNames = ignoreFileNames
        self.largerThan = largerThan
        self.excludesCaches = excludesCaches
        self.crossesMounts = crossesMounts
    }

    /// Whether a file of `size` bytes is left out because of its size.
    package func excludes(fileOfSize size: UInt64) -> Bool {
        guard let largerThan else { return false }
        return size > largerThan
    }

    /// The patterns that a file such as one given with `--exclude-from` holds, to be appended to `patterns`.
    ///
    /// Read like an ignore file: no comments, no empty lines, no blanks at the end of a line.
    package static func patterns(in text: [UInt8]) -> [[UInt8]] {
        PatternLines.split(text).map { Array($0) }
    }
}
