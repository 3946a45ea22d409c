// Carries out a restore, step by step in walk order. Nothing outside its root can be reached.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Makes what is at the steps' paths what it shall be.
///
/// Files are written by several threads, verified, given all metadata, and replace at one stroke what is there.
/// Directories get their metadata when everything in them is done.
final class RestoreWriter {
    private let root: RootDirectory
    private let files: FileRestorer
    private let owners: OwnerMapping
    private let wantedDirectory: (RelativePath) throws -> Entry?
    private let isMarked: Bool
    private let progress: OperationProgress?
    private var willChange: (() throws -> Void)?
    private var directories: OpenDirectories
    private var links: LinkGroups
    private var metadata: MetadataWriter
    /// Inodes with several names that were changed through one of them, which shows in the status of the others.
    private var changedInodes: Set<UInt64> = []
    private(set) var result: RestoreResult
    private var batch: [Work] = []
    private var batchBytes: UInt64 = 0
    private lazy var pipeline = makePipeline()

    /// What is done in order, but not at once.
    private enum Work: Sendable {
        case write(FileJob)
        /// Finishes a directory: after everything that was to be written in it.
        case finish(OpenDirectories.Level)
    }

    /// Work for one thread at once; bounds the open directories and the bytes under way.
    private static let batchItems = 128
    private static let batchBytes: UInt64 = 1 << 20
    private static let width = 3

    /// - Parameters:
    ///   - isMarked: whether the root is marked as incomplete until the restore has ended.
    ///   - wantedDirectory: the state that a directory shall have which no step names.
    ///   - willChange: called once, before anything is changed.
    init(
        _ root: RootDirectory, from store: ArchiveStore, owners: OwnerMapping, links: LinkGroups,
        isMarked: Bool, wantedDirectory: @escaping (RelativePath) throws -> Entry?, progress: OperationProgress?,
        willChange: (() throws -> Void)? = nil
    ) {
        self.root = root
        files = FileRestorer(store: store, progress: progress)
        self.owners = owners
        self.isMarked = isMarked
        self.wantedDirectory = wantedDirectory
        self.progress = progress
        self.willChange = willChange
        self.links = links
        directories = OpenDirectories(root.directory)
        metadata = MetadataWriter(owners)
        result = RestoreResult(destination: root.path)
    }

    /// Carries out the next step.
    func apply(_ step: RestoreStep) throws {
        guard let action = step.action else { return }
        try announceChange()
        while let finished = directories.popUnlessHolding(step.path) { try add(.finish(finished)) }
        progress?.add(entries: 1)
        if step.path.isRoot {
            // The root itself is never made or removed, and always is a directory.
            if let wanted = step.wanted { try directories.push(.root, .metadata, wanted: wanted) }
            result.count(action)
            return
        }
        let parent = try directories.directory(at: step.path.parent ?? .root)
        let name = CName(step.path.name)
        guard try isAsExpected(step, name, in: parent) else {
            result.skipped += 1
            result.warn("\(step.path) changed while the restore ran and was left as it is; restore again")
            return
        }
        try change(step, name, in: parent)
        if let inode = step.present?.linkGroup { changedInodes.insert(inode) }
        result.count(action)
    }

    /// Counts a step that is not carried out.
    func leaveAlone(_ step: RestoreStep) {
        result.leftOut += 1
    }

    /// Makes the directories that lead to `path` where they are missing; `finish` gives them their metadata.
    ///
    /// - Returns: the first that was missing; nil where none was.
    /// - Throws: `ArchiverError` of the code `notDirectory` where something else is in the way.
    func makeParents(of path: RelativePath) throws -> RelativePath? {
        var firstMade: RelativePath?
        var directory = RelativePath.root
        for component in path.components.dropLast() {
            let parent = directory
            directory = directory.appending(component)
            let place = try root.directory.descriptor.openParent(of: directory)
            switch try FileStatus.read(place.name, in: place.directory, path: directory)?.kind {
            case .directory: continue
            case nil: break
            case _?:
                throw ArchiverError(
                    .notDirectory, "\(path) cannot be restored: \(directory) is not a directory now",
                    remedy: "restore \(directory) instead, or elsewhere with '--target'", path: FilePath(directory))
            }
            try announceChange()
            let above = try directories.directory(at: parent)
            try above.descriptor.createDirectory(place.name, permissions: 0o700, path: FilePath(directory))
            try directories.push(directory, .metadata, wanted: nil)
            firstMade = firstMade ?? directory
        }
        return firstMade
    }

    private func announceChange() throws {
        try willChange?()
        willChange = nil
    }

    /// Finishes the directories that are still open, and sums up.
    func finish() throws {
        while let finished = directories.pop() { try add(.finish(finished)) }
        try pipeline.finish(with: batch)
        if metadata.foreignOwners > 0 {
            result.warn("the owner of \(metadata.foreignOwners) entries could not be set; restore as root to set it")
        }
        for failure in metadata.failures { result.warn(failure) }
        let unnamed = metadata.failureCount - metadata.failures.count
        if unnamed > 0 { result.warn("and \(unnamed) more of this kind") }
    }

    /// Whether what is at the path still is what the plan was made from.
    private func isAsExpected(_ step: RestoreStep, _ name: CName, in parent: SharedDirectory) throws -> Bool {
        let status = try FileStatus.read(name, in: parent.descriptor, path: step.path)
        guard let present = step.present else { return status == nil }
        guard let status, status.kind == present.kind else { return false }
        if present.kind == .directory { return true }
        if present.linkGroup != nil, changedInodes.contains(status.inode) { return present.linkGroup == status.inode }
        if present.signature != nil { return present.isCurrent(status) }
        return present.modified == status.modified && (present.kind != .file || present.size == status.size)
    }

    private func change(_ step: RestoreStep, _ name: CName, in parent: SharedDirectory) throws {
        let path = step.path
        switch (step.present?.kind, step.wanted) {
        case (.directory, let wanted) where wanted?.kind != .directory:
            try directories.push(path, .removal(replacement: wanted), wanted: nil)
        case (.directory, let wanted?):
            try directories.push(path, .metadata, wanted: wanted)
        case (let present, let wanted?) where wanted.kind == .directory:
            if present != nil { try parent.descriptor.removeFile(name, path: FilePath(path)) }
            try parent.descriptor.createDirectory(name, permissions: 0o700, path: FilePath(path))
            try directories.push(path, .metadata, wanted: wanted)
        case (_?, nil):
            try parent.descriptor.removeFile(name, path: FilePath(path))
        case (_, let wanted?):
            if step.isMetadataOnly {
                metadata.apply(wanted, to: name, in: parent.descriptor, path: path)
                if let group = wanted.linkGroup { links.add(path, to: group) }
            } else {
                try create(wanted, at: path, name, in: parent, replacing: step.present != nil)
            }
        case (nil, nil):
            return
        }
    }

    private func finish(_ level: OpenDirectories.Level) throws {
        switch level.ending {
        case .metadata:
            guard let wanted = try level.wanted ?? wantedDirectory(level.path) else { return }
            metadata.apply(wanted, to: level.directory.descriptor, path: level.path)
        case .removal(let replacement):
            // By now the restore may be working somewhere else.
            let path = level.path
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            let parent = SharedDirectory(try root.directory.descriptor.open(beneath: path.parent ?? .root, flags))
            let name = CName(path.name)
            guard try removeDirectory(at: path, name, in: parent) else {
                result.warn("\(path) holds something that is in no snapshot and was left as it is")
                return
            }
            guard let replacement else { return }
            if replacement.kind == .file, replacement.linkGroup == nil {
                try write(FileJob(entry: replacement, path: path, directory: parent, name: name, isNew: false))
            } else {
                try create(replacement, at: path, name, in: parent, replacing: false)
            }
        }
    }

    /// - Returns: false where the directory is not empty.
    private func removeDirectory(
        at path: RelativePath, _ name: CName, in parent: SharedDirectory
    ) throws(FileError) -> Bool {
        do {
            try parent.descriptor.removeDirectory(name, path: FilePath(path))
            return true
        } catch  where error.code == .directoryNotEmpty {
            return false
        }
    }

    // MARK: Work in order

    private func makePipeline() -> OrderedPipeline<[Work], (done: [Work], metadata: MetadataWriter)> {
        OrderedPipeline(
            width: RestoreWriter.width,
            transform: { [files, owners] work in
                var metadata = MetadataWriter(owners)
                for case .write(let job) in work { try files.write(job, &metadata) }
                return (work, metadata)
            },
            consume: { [unowned self] output in
                metadata.add(output.metadata)
                for case .finish(let level) in output.done { try finish(level) }
            })
    }

    private func add(_ work: Work) throws {
        batch.append(work)
        if case .write(let job) = work { batchBytes += job.entry.size }
        guard batch.count >= RestoreWriter.batchItems || batchBytes >= RestoreWriter.batchBytes else { return }
        try pipeline.submit(batch)
        batch.removeAll(keepingCapacity: true)
        batchBytes = 0
    }

    private func write(_ job: FileJob) throws {
        try files.write(job, &metadata)
    }

    // MARK: Objects

    private func create(
        _ entry: Entry, at path: RelativePath, _ name: CName, in parent: SharedDirectory, replacing: Bool
    ) throws {
        if let group = entry.linkGroup, let member = try links.member(of: group), member != path {
            return try link(path, name, in: parent, to: member, replacing: replacing)
        }
        if entry.kind == .file {
            let job = FileJob(
                entry: entry, path: path, directory: parent, name: name, isNew: isMarked && !replacing)
            // Further names of a file are made at once, so the file itself must be there.
            if entry.linkGroup == nil { return try add(.write(job)) }
            try write(job)
        } else {
            // There is no renaming over for what has no content: it is gone for a moment.
            if replacing { try parent.descriptor.removeFile(name, path: FilePath(path)) }
            guard try createSpecial(entry, at: path, name, in: parent) else { return }
            metadata.apply(entry, to: name, in: parent.descriptor, path: path)
        }
        if let group = entry.linkGroup { links.add(path, to: group) }
    }

    /// - Returns: whether the object was made; what cannot be made is told as a warning.
    private func createSpecial(
        _ entry: Entry, at path: RelativePath, _ name: CName, in parent: SharedDirectory
    ) throws -> Bool {
        switch entry.kind {
        case .symbolicLink:
            guard case .linkTarget(let target) = entry.content else { return false }
            try parent.descriptor.createSymbolicLink(name, target: CName(target), path: FilePath(path))
        case .fifo:
            try parent.descriptor.createSpecialFile(
                name, kind: .fifo, permissions: entry.permissions, path: FilePath(path))
        case .characterDevice, .blockDevice:
            do {
                try parent.descriptor.createSpecialFile(
                    name, kind: entry.kind, permissions: entry.permissions, device: entry.device,
                    path: FilePath(path))
            } catch {
                guard error.code == .notPermitted || error.code == .permissionDenied else { throw error }
                result.warn("the device \(path) was not restored: only root can make devices")
                return false
            }
        case .socket:
            result.warn("the socket \(path) was not restored: the program that listens on it makes it anew")
            return false
        case .file, .directory:
            return false
        }
        return true
    }

    private func link(
        _ path: RelativePath, _ name: CName, in parent: SharedDirectory, to member: RelativePath, replacing: Bool
    ) throws {
        let existing = try root.directory.descriptor.openParent(of: member)
        if let status = try FileStatus.read(existing.name, in: existing.directory, path: member) {
            changedInodes.insert(status.inode)
        }
        // Renaming one name of a file over another does nothing (rename(2)), so the old name has to go first.
        if replacing { try parent.descriptor.removeFile(name, path: FilePath(path)) }
        try parent.descriptor.createLink(
            name, to: existing.name, in: existing.directory, path: FilePath(path))
    }
}
