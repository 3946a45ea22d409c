// A walk over a directory that is to be watched: how large it is, and what of it cannot be read.

internal import ArchiveFormat
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Roots
internal import SnapshotTree
internal import SystemPackage

/// What a directory holds, as far as watching and capturing are concerned.
struct TreeSurvey {
    private(set) var directories = 0
    private(set) var files = 0
    private(set) var bytes: UInt64 = 0
    private(set) var device: UInt64
    private var path: FilePath
    private var fileSystem: FileSystem
    private var unreadable = 0
    private var firstUnreadable: RelativePath?
    /// What kept the walk from going on.
    private var failure: FileError?

    /// Looks at every name in `root`, and reads nothing; holds one open directory a level, and its names.
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

    var findings: [Finding] {
        fileSystem.reach == .pseudo ? [kind] : [kind, size, access]
    }

    private var kind: Finding {
        let name = fileSystem.name
        switch fileSystem.reach {
        case .local: return Finding("directory", .good, "\(path) is on \(name)")
        case .remote:
            return Finding(
                "directory", .note,
                "\(path) is on \(name): what other machines change is found by looking at intervals",
                remedy: "watch it on the machine that holds it")
        case .pseudo:
            return Finding(
                "directory", .bad, "\(path) holds no files: the kernel makes up what is seen there (\(name))",
                remedy: "watch a directory of files")
        }
    }

    private var size: Finding {
        Finding("size", .good, "\(directories) directories, \(files) files, \(bytes >> 20) MiB")
    }

    private var access: Finding {
        if let failure { return Finding("access", .bad, failure.description, remedy: failure.remedy) }
        guard let firstUnreadable else { return Finding("access", .good, "everything in it can be read") }
        return Finding(
            "access", .bad, "\(unreadable) paths cannot be read: \(firstUnreadable) is the first",
            remedy: "run the watcher as a user who may read them, or leave them out with --exclude")
    }
}
