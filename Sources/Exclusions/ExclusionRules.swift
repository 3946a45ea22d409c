// The exclusions of a root, as given on the command line and recorded in snapshots.

/// The rules that exclude files from a root's snapshots.
public struct ExclusionRules: Hashable, Sendable {
    /// Patterns as in gitignore(5), one each, relative to the root.
    ///
    /// The last matching pattern decides. These patterns take precedence over all ignore files.
    public var patterns: [[UInt8]]
    /// Names of files that hold such patterns for their directory and everything below it.
    ///
    /// In one directory a later name takes precedence over an earlier one; a deeper directory takes precedence over
    /// those above it.
    public var ignoreFileNames: [[UInt8]]
    /// The largest file size in bytes, above which files are excluded; nil for no limit.
    public var largerThan: UInt64?
    /// Whether directories tagged as a cache (CACHEDIR.TAG) are excluded, except for the tag itself.
    public var excludesCaches: Bool
    /// Whether directories on other mounts are entered.
    public var crossesMounts: Bool

    /// The ignore file that is respected by default.
    public static let ignoreFileName = Array(".archiverignore".utf8)
    /// git's ignore file.
    public static let gitIgnoreFileName = Array(".gitignore".utf8)

    /// The helper files that editors and office programs keep beside a file while it is open or saved: vim's swap files,
    /// locks and automatic saves of Emacs, locks of LibreOffice, Kate's swap files, GLib's copies.
    ///
    /// Names that a user may choose are not among them: not vim's `4913`, which numbered files have, too, and which is
    /// gone before a capture; not `*~`, as numbered and simple backups are called so.
    public static let editorHelpers: [[UInt8]] = [
        ".*.sw[a-p]", ".#*", "\\#*#", ".~lock.*#", ".*.kate-swp", ".goutputstream-*",
    ].map { Array($0.utf8) }

    /// Whether the patterns begin with those of `editorHelpers`.
    public var excludesEditorHelpers: Bool { patterns.starts(with: ExclusionRules.editorHelpers) }

    /// Rules that leave paths out of snapshots.
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

    /// Whether a file of `size` bytes is excluded because of its size.
    package func excludes(fileOfSize size: UInt64) -> Bool {
        guard let largerThan else { return false }
        return size > largerThan
    }

    /// The patterns in a file of patterns, to be appended to `patterns`.
    ///
    /// Parsed like an ignore file, without comments, empty lines and trailing blanks.
    package static func patterns(in text: [UInt8]) -> [[UInt8]] {
        PatternLines.split(text).map { Array($0) }
    }
}
