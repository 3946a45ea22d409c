// The options that exclude files from snapshots.

internal import ArgumentParser
internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Exclusion options of the commands that capture, and of `doctor`.
struct ExclusionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Exclude paths that match a .gitignore pattern; may be repeated.", valueName: "pattern"))
    var exclude: [ByteArgument] = []

    @Option(help: ArgumentHelp("Read exclude patterns from a file, one per line.", valueName: "file"))
    var excludeFrom: [PathArgument] = []

    @Option(help: ArgumentHelp("Exclude files larger than this: 500K, 100M, 2G.", valueName: "size"))
    var excludeLargerThan: SizeArgument?

    @Flag(help: "Exclude the contents of directories tagged as caches (CACHEDIR.TAG).")
    var excludeCaches = false

    @Flag(help: "Also respect .gitignore files.")
    var useGitignore = false

    @Flag(help: "Also capture other file systems mounted inside the directory.")
    var crossFileSystems = false

    @Flag(help: "Stay on one file system (the default).")
    var oneFileSystem = false

    @Flag(help: "Discard the remembered exclusions and use only those given here.")
    var resetExclusions = false

    func validate() throws {
        if crossFileSystems && oneFileSystem {
            throw ValidationError("--cross-file-systems and --one-file-system exclude each other")
        }
    }

    /// The rules from the options; nil if none of these options is given.
    func given() throws -> ExclusionRules? {
        let isGiven =
            resetExclusions || !exclude.isEmpty || !excludeFrom.isEmpty || excludeLargerThan != nil || excludeCaches
            || useGitignore || crossFileSystems || oneFileSystem
        return isGiven ? try rules() : nil
    }

    /// The rules from the options; the default rules if none is given.
    ///
    /// - Throws: `FileError` if a file of patterns cannot be read.
    func rules() throws -> ExclusionRules {
        var patterns = exclude.map(\.bytes)
        for file in excludeFrom { patterns += try ExclusionOptions.patterns(in: file.path) }
        return ExclusionRules(
            patterns: patterns,
            ignoreFileNames: useGitignore
                ? [ExclusionRules.gitIgnoreFileName, ExclusionRules.ignoreFileName] : [ExclusionRules.ignoreFileName],
            largerThan: excludeLargerThan?.bytes, excludesCaches: excludeCaches, crossesMounts: crossFileSystems)
    }

    /// The maximum size in bytes of a file of patterns.
    private static let fileLimit = 16 << 20

    private static func patterns(in path: FilePath) throws -> [[UInt8]] {
        let file = try Descriptor.open(path, O_RDONLY)
        return ExclusionRules.patterns(in: try file.readToEnd(limit: fileLimit, path: path))
    }
}
