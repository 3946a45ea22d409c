// Examines in advance whether a directory can be watched and captured on this machine.

internal import ArchiveStorage
public import Exclusions
internal import FileIO
internal import Glibc
public import Roots
public import SystemPackage

/// Examines the machine, an archive's location and a directory.
public struct Doctor: Sendable {
    private let archive: FilePath
    private let directory: FilePath?
    private let rules: ExclusionRules

    /// - Parameters:
    ///   - archive: the path of the archive, which need not exist.
    ///   - directory: the directory to watch; nil to examine only the machine.
    ///   - rules: the directory's exclusion rules.
    public init(archive: FilePath, directory: FilePath? = nil, rules: ExclusionRules = ExclusionRules()) {
        self.archive = archive
        self.directory = directory
        self.rules = rules
    }

    /// Runs all examinations.
    ///
    /// - Throws: `ArchiverError` if the directory cannot be a root at all.
    public func examine() throws(ArchiverError) -> [DoctorFinding] {
        try facing {
            let machine = [KernelExamination.kernel(), KernelExamination.clock(), KernelExamination.openFiles()]
            let place = try ArchiveExamination(archive)
            guard let directory else { return machine + WatchExamination().findings + place.findings(for: nil) }
            let root = try RootDirectory.open(directory)
            let survey = try TreeSurvey(of: root, rules, archive: archive)
            // If the directory is already watched, its watches are among those in use.
            let isWatched = (try? RootLock.isWatched(root.path, in: ArchiveLayout(archive))) ?? false
            let watching = WatchExamination(directories: isWatched ? 0 : survey.directories)
            return machine + survey.findings + watching.findings + place.findings(for: survey)
        }
    }
}
