// Surveys a directory that is to be watched: its size, and its unreadable paths.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Roots
internal import SnapshotTree
internal import SystemPackage

/// The size and accessibility of a directory.
struct TreeSurvey {
    private(set) var directories = 0
    private(set) var files = 0
    private(set) var bytes: UInt64 = 0
    private(set) var device: UInt64
    private var path: FilePath
    private var fileSystem: FileSystem
    private var unreadable = 0
    private var firstUnreadable: RelativePath?
    /// The error that stopped the walk.
    private var failure: FileError?

    /// Visits every name in `root` without reading files; holds one open directory per level, and its names.
    init(of root: RootDirectory, _ rules: ExclusionRules, archive: FilePath) throws {
        path = root.path
        device = root.status.device
        fileSystem = try FileSystem.of(root.directory.descriptor)
        if fileSystem.reach == .pseudo { return }
        let own = try? FileStatus.read(Descriptor.open(archive, O_RDONLY | O_DIRECTORY))
        var counted = self
        var walk = TreeWalk(
            root, base: nil, isHidden: { status in own.map { status.isSameObject(as: $0) } ?? false }, rules: rules,
            removesExcluded: true, progress: nil, emit: { counted.count($0) })
        do {
            try walk.walk([.subtree(.root)])
        } catch let error as FileError {
            counted.failure = error.below(path)
        }
        self = counted
    }

    private mutating func count(_ item: ScanItem) {
        switch item {
        case .gone: break
        case .problem(let problem): record(unreadable: problem.path)
        case .suspect(let suspect):
            if suspect.status.kind == .directory { directories += 1 } else { files += 1 }
            guard suspect.status.kind == .file else { return }
            bytes = FormatLimits.sum(bytes, suspect.status.size, .max)
            let directory = suspect.directory.descriptor.number
            let isReadable = suspect.name.withPointer { faccessat(directory, $0, R_OK, AT_EACCESS) == 0 }
            if !isReadable { record(unreadable: suspect.path) }
        }
    }

    private mutating func record(unreadable path: RelativePath) {
        unreadable += 1
        firstUnreadable = firstUnreadable ?? path
    }

    var findings: [DoctorFinding] {
        fileSystem.reach == .pseudo ? [kind] : [kind, size, access]
    }

    private var kind: DoctorFinding {
        let name = fileSystem.name
        switch fileSystem.reach {
        case .local: return DoctorFinding("directory", .good, "\(path) is on \(name)")
        case .remote:
            return DoctorFinding(
                "directory", .note,
                "\(path) is on \(name): it is polled for the changes of other machines",
                remedy: "watch it on the server")
        case .pseudo:
            return DoctorFinding(
                "directory", .bad, "\(path) is on a virtual file system (\(name)): it holds no stored files",
                remedy: "watch a directory of files")
        }
    }

    private var size: DoctorFinding {
        DoctorFinding(
            "size", .good,
            "\(directories == 1 ? "1 directory" : "\(directories) directories"), "
                + "\(files == 1 ? "1 file" : "\(files) files"), \(ByteCount.text(bytes))")
    }

    private var access: DoctorFinding {
        if let failure { return DoctorFinding("access", .bad, failure.description, remedy: failure.remedy) }
        guard let firstUnreadable else { return DoctorFinding("access", .good, "everything in it can be read") }
        return DoctorFinding(
            "access", .bad, "\(unreadable) paths cannot be read: \(firstUnreadable) is the first",
            remedy: Advice.readAsOther.text)
    }
}
