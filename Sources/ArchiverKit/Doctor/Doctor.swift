// Examines whether a directory can be watched and captured here, before it matters.

internal import ArchiveStorage
public import Exclusions
internal import FileIO
internal import Glibc
public import Roots
public import SystemPackage

/// Examines the machine, an archive's place and a directory.
public struct Doctor: Sendable {
    private let archive: FilePath
    private let directory: FilePath?
    private let rules: ExclusionRules

    /// - Parameters:
    ///   - archive: where the archive is or would be.
    ///   - directory: what is to be watched; nil to examine the machine alone.
    ///   - rules: what is left out of it.
    public init(archive: FilePath, directory: FilePath? = nil, rules: ExclusionRules = ExclusionRules()) {
        self.archive = archive
        self.directory = directory
        self.rules = rules
    }

    /// Looks at everything.
    ///
    /// - Throws: `ArchiverError` where the directory cannot be a root at all.
    public func examine() throws(ArchiverError) -> [Finding] {
        try facing {
            let machine = [KernelExamination.kernel(), KernelExamination.clock(), KernelExamination.openFiles()]
            let place = try ArchiveExamination(archive)
            guard let directory else { return machine + WatchExamination().findings + place.findings(for: nil) }
            let root = try RootDirectory.open(directory)
            let survey = try TreeSurvey(of: root, rules, archive: archive)
            // What is watched already is among the watches in use.
            let isWatched = (try? RootLock.isWatched(root.path, in: ArchiveLayout(archive))) ?? false
            let watching = WatchExamination(directories: isWatched ? 0 : survey.directories)
            return machine + survey.findings + watching.findings + place.findings(for: survey)
        }
    }
}
