// The options that exclude files from snapshots.

internal import ArchiverKit
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

    @Flag(
        help: "Also capture helper files of editors, such as .*.swp and .~lock.*#, which are excluded by default.")
    var noDefaultExclusions = false

    @Flag(help: "Discard the remembered exclusions and use only those given here.")
    var resetExclusions = false

    func validate() throws {
        if crossFileSystems && oneFileSystem {
            throw ValidationError("--cross-file-systems and --one-file-system exclude each other")
        }
    }

    /// The rules from the options for `directories`; nil if none of these options is given.
    func given(for directories: [FilePath]) throws -> ExclusionRules? {
        let isGiven =
            resetExclusions || !exclude.isEmpty || !excludeFrom.isEmpty || excludeLargerThan != nil || excludeCaches
            || useGitignore || crossFileSystems || oneFileSystem || noDefaultExclusions
        return isGiven ? try rules(for: directories) : nil
    }

    /// The rules of a root that is captured for the first time, without options.
    static let ofNewRoots = ExclusionRules(patterns: ExclusionRules.editorHelpers)

    /// The rules from the options for `directories`; the default rules if none is given.
    ///
    /// - Throws: `FileError` if a file of patterns cannot be read; `Failure` for a pattern that can match nothing, and
    ///   for a path of one directory if the rules are for several.
    func rules(for directories: [FilePath]) throws -> ExclusionRules {
        var patterns = exclude.map(\.bytes)
        for file in excludeFrom { patterns += try ExclusionOptions.patterns(in: file.path) }
        return ExclusionRules(
            patterns: (noDefaultExclusions ? [] : ExclusionRules.editorHelpers)
                + (try patterns.map { try understood($0, directories.map(\.resolved)) }),
            ignoreFileNames: useGitignore
                ? [ExclusionRules.gitIgnoreFileName, ExclusionRules.ignoreFileName] : [ExclusionRules.ignoreFileName],
            largerThan: excludeLargerThan?.bytes, excludesCaches: excludeCaches, crossesMounts: crossFileSystems)
    }

    /// The pattern that the rules of `directories` store for `given`.
    private func understood(_ given: [UInt8], _ directories: [FilePath]) throws -> [UInt8] {
        let home = getenv("HOME").map { FilePath(platformString: $0).resolved.bytes }
        var fault: GivenPattern.Fault?
        var found: [GivenPattern] = []
        for directory in directories {
            do throws(GivenPattern.Fault) {
                let pattern = try GivenPattern(given, root: directory.bytes, home: home) { name in
                    directory.pushing(FilePath(bytes: name)).withPlatformString { access($0, F_OK) == 0 }
                }
                found.append(pattern)
            } catch { fault = fault ?? error }
        }
        let name = Escaping.text(given)
        guard let first = found.first else {
            guard let fault else { return given }
            throw Failure.usage("the exclusion '\(name)' \(fault.text)", remedy: fault.remedy)
        }
        if directories.count > 1, found.contains(where: \.isOfOneRoot) {
            throw Failure.usage(
                "the exclusion '\(name)' is a path in one of \(directories.count) directories",
                remedy: "give it with that directory alone, or write a pattern relative to the directories")
        }
        return first.bytes
    }

    /// The maximum size in bytes of a file of patterns.
    private static let fileLimit = 16 << 20

    private static func patterns(in path: FilePath) throws -> [[UInt8]] {
        let file = try Descriptor.open(path, O_RDONLY)
        return ExclusionRules.patterns(in: try file.readToEnd(limit: fileLimit, path: path))
    }
}

extension GivenPattern.Fault {
    /// Why nothing can match, to follow the pattern.
    fileprivate var text: String {
        switch reason {
        case .openBracket: "matches nothing: a '[' without its ']'"
        case .lastBackslash: "matches nothing: it ends with a single backslash"
        case .outside: "matches nothing: it is outside of the directory"
        case .wholeRoot: "names the whole directory"
        }
    }

    fileprivate var remedy: String? {
        switch (reason, suggestion.map { Escaping.text($0) }) {
        case (.openBracket, let pattern?), (.lastBackslash, let pattern?): "write '\(pattern)' for this name"
        case (.outside, let pattern?): "for a directory with this very name write '\(pattern)'"
        case (.wholeRoot, let pattern?): "write '\(pattern)' to exclude everything in it"
        case (_, nil): "write the path relative to the directory, as in '/notes/draft.txt'"
        }
    }
}
