// Applies a restore step by step in walk order. It cannot touch anything outside its root.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import Roots
internal import SystemPackage
internal import Threading

/// Applies steps: brings their paths into the wanted state.
///
/// Several threads write files. Each file is verified, gets all its metadata, and replaces an existing object
/// atomically. Directories get their metadata when everything in them is done.
///
/// A path that cannot be restored is listed in the result, and the restore continues with the next one.
package final class RestoreWriter {
    private let root: RootDirectory
    private let files: FileRestorer
    private let owners: OwnerMapping
    private let wantedDirectory: (RelativePath) throws -> Entry?
    private let isMarked: Bool
    private let progress: OperationProgress?
    private let interruption: RestoreInterruption?
    private var willChange: (() throws -> Void)?
    private let sync: BackgroundSync?
    private var directories: OpenDirectories
    private var links: LinkGroups
    private var metadata: MetadataWriter
    /// Inodes that were changed through one of their names, which changes the status of the other names.
    private var changedInodes: Set<UInt64> = []
    /// The last directory that could not be opened or created: nothing below it can be restored.
    private var closed: RelativePath?
    private(set) var result: RestoreResult
    private var batch: [Work] = []
    private var batchBytes: UInt64 = 0
    /// Files for which the disk had no room; they are tried again when everything else is done.
    private var unfit: [FileJob] = []
    private lazy var pipeline = makePipeline()

    /// Work that is done later, in order.
    private enum Work: Sendable {
        case write(FileJob)
        /// Finishes a directory after everything in it was written.
        case finish(OpenDirectories.Level)
    }

    /// The outcome of one batch of work.
    private struct Written: Sendable {
        var work: [Work]
        var metadata: MetadataWriter
        var files: [(kind: RestoreAction.Kind, bytes: UInt64)] = []
        var problems: [RestoreProblem] = []
        /// New files whose names were taken in the meantime.
        var taken: [RelativePath] = []
        var unfit: [FileJob] = []
        var isInterrupted = false
    }

    /// The size of one thread's batch; limits the number of open directories and the bytes being written.
    private static let batchItems = 128
    private static let batchBytes: UInt64 = 1 << 20
    /// Whether batches wait for a network.
    private let waits: Bool
    /// How many batches are in progress: more than two cores need, as they wait for directories; and more for a network.
    private var width: Int { waits ? 24 : 5 }

    /// - Parameters:
    ///   - isMarked: whether the root is marked as incomplete until the restore has ended.
    ///   - crossesMounts: whether file systems mounted below the root belong to it.
    ///   - wantedDirectory: returns the wanted state of a directory that has no step.
    ///   - sync: gets to know what is written, and is finished by the caller; nil if nothing has to stay on the disk.
    ///   - willChange: called once, before the first change.
    init(
        _ root: RootDirectory, from store: ArchiveStore, owners: OwnerMapping, links: LinkGroups,
        isMarked: Bool, crossesMounts: Bool, interruption: RestoreInterruption?,
        wantedDirectory: @escaping (RelativePath) throws -> Entry?, progress: OperationProgress?,
        sync: BackgroundSync?, willChange: (() throws -> Void)? = nil
    ) {
        self.root = root
        waits = store.isRemote
        files = FileRestorer(store: store, progress: progress, interruption: interruption)
        self.owners = owners
        self.isMarked = isMarked
        self.interruption = interruption
        self.wantedDirectory = wantedDirectory
        self.progress = progress
        self.willChange = willChange
        self.sync = sync
        self.links = links
        directories = OpenDirectories(root, crossesMounts: crossesMounts)
        metadata = MetadataWriter(owners, from: store)
        result = RestoreResult(destination: root.path)
    }

    /// Runs `body`, which applies the steps, then finishes the directories and the result; ends early if asked to.
    package func run(_ body: () throws -> Void) throws {
        interruption?.set(isAltering: true)
        do {
            do { try body() } catch is RestoreInterruption.Stop { result.isInterrupted = true }
            try finish()
        } catch {
            // Try to set the permissions of opened directories again.
            batch.removeAll { if case .write = $0 { true } else { false } }
            for _ in 0...width where (try? finish()) != nil { break }
            throw error
        }
    }

    /// Applies the next step.
    package func apply(_ step: RestoreStep) throws {
        if step.omitsSocket {
            result.warn("the socket \(step.path) was not restored: the program that listens on it creates it again")
        }
        guard let action = step.action else { return }
        if interruption?.isAsked == true { throw RestoreInterruption.Stop() }
        try announceChange()
        while let finished = directories.popUnlessHolding(step.path) { try add(.finish(finished)) }
        progress?.add(entries: 1)
        if let closed, closed.contains(step.path) {
            result.failed += 1
            return
        }
        try attempt(step.path, isOfDirectory: (step.wanted ?? step.present)?.kind == .directory) {
            do {
                if try change(step, action.kind) { result.count(action.kind) }
            } catch let error as FileError where error.code == .fileExists && isNew(action.kind) {
                throw changed(step.path)
            }
        }
    }

    /// Whether an object is created under its own name at once, which fails if the name is taken.
    private func isNew(_ kind: RestoreAction.Kind) -> Bool { isMarked && kind == .create }

    /// Runs `body`; if it fails for `path` only, records the problem and continues.
    private func attempt(_ path: RelativePath, isOfDirectory: Bool = false, _ body: () throws -> Void) throws {
        do { try body() } catch is RestoreInterruption.Stop {
            result.isInterrupted = true
        } catch {
            let problem = RestoreProblem(
                path, error, isOfDirectory: isOfDirectory, isFullDiskOfPath: !isMarked)
            guard let problem else { throw error }
            fail(problem)
        }
    }

    private func fail(_ problem: RestoreProblem) {
        if problem.isOfDirectory { closed = problem.path }
        result.failed += 1
        result.add(problem)
    }

    /// The problem of a path at which another object appeared or changed.
    private func changed(_ path: RelativePath) -> RestoreProblem {
        result.skipped += 1
        return RestoreProblem(
            path, "\(path) changed while the restore ran and was not restored", remedy: "restore again")
    }

    /// Creates the missing directories above `path`; `finish` sets their metadata.
    ///
    /// - Returns: the first missing directory; nil if none was missing.
    /// - Throws: `ArchiverError` with the code `notDirectory` if another object is in the place of a directory.
    func makeParents(of path: RelativePath) throws -> RelativePath? {
        var firstMade: RelativePath?
        var directory = RelativePath.root
        for component in path.components.dropLast() {
            let parent = directory
            directory = directory.appending(component)
            if try RestoreWriter.isPresent(directory, above: path, in: root) { continue }
            try announceChange()
            let place = try root.directory.descriptor.openParent(of: directory)
            let above = try directories.directory(at: parent)
            try above.descriptor.createDirectory(place.name, permissions: 0o700, path: FilePath(directory))
            try directories.push(directory, .metadata, wanted: nil)
            firstMade = firstMade ?? directory
        }
        return firstMade
    }

    /// Checks that `makeParents(of:)` would not be refused.
    ///
    /// - Throws: `ArchiverError` with the code `notDirectory` if another object is in the place of a directory.
    static func checkParents(of path: RelativePath, in root: RootDirectory) throws {
        var directory = RelativePath.root
        for component in path.components.dropLast() {
            directory = directory.appending(component)
            if try !isPresent(directory, above: path, in: root) { return }
        }
    }

    /// Whether a directory above `path` is present; throws if another object is in its place.
    private static func isPresent(
        _ directory: RelativePath, above path: RelativePath, in root: RootDirectory
    ) throws -> Bool {
        let place = try root.directory.descriptor.openParent(of: directory)
        switch try FileStatus.read(place.name, in: place.directory, path: directory)?.kind {
        case .directory: return true
        case nil: return false
        case _?:
            throw ArchiverError(
                .notDirectory, "\(path) cannot be restored: \(directory) is not a directory now",
                remedy: Advice.restoreDirectory.text, path: FilePath(directory))
        }
    }

    private func announceChange() throws {
        try willChange?()
        willChange = nil
    }

    /// Finishes the directories that are still open, and completes the result.
    private func finish() throws {
        while let finished = directories.pop() { try add(.finish(finished)) }
        try pipeline.finish(with: batch)
        batch = []
        for job in unfit where !result.isInterrupted { try attempt(job.path) { try retry(job) } }
        unfit = []
        for problem in metadata.problems { fail(problem) }
        if metadata.foreignOwners > 0 {
            result.warn("the owner of \(metadata.foreignOwners) entries could not be set; restore as root to set it")
        }
        for remark in metadata.remarks { result.warn(remark) }
        let unnamed = metadata.remarkCount - metadata.remarks.count
        if unnamed > 0 { result.warn("and \(unnamed) more of this kind") }
    }

    /// Writes a file that had no room before: again beside the present one, then over it.
    private func retry(_ job: FileJob) throws {
        defer {
            // The directory was finished before.
            let parent = job.path.parent ?? .root
            if let wanted = try? wantedDirectory(parent) {
                metadata.apply(wanted, to: job.directory.descriptor, path: parent)
            }
        }
        do {
            result.count(job.kind, bytes: try files.write(job, &metadata))
        } catch let error as FileError where error.code.meansFullDisk {
            guard let count = try files.overwrite(job, &metadata) else { throw error }
            result.count(job.kind, bytes: count)
            result.warn(
                "\(job.path) was overwritten, because the disk has no room for two copies; its former content is in "
                    + "the snapshot before the restore")
        }
    }

    /// Whether the object at the path is still the one that the plan was made from.
    private func isAsExpected(_ step: RestoreStep, _ name: CName, in parent: SharedDirectory) throws -> Bool {
        let status = try FileStatus.read(name, in: parent.descriptor, path: step.path)
        guard let present = step.present else { return status == nil }
        guard let status, status.kind == present.kind else { return false }
        if present.kind == .directory { return true }
        if present.linkGroup != nil, changedInodes.contains(status.inode) { return present.linkGroup == status.inode }
        if present.signature != nil { return present.isCurrent(status) }
        return present.modified == status.modified && (present.kind != .file || present.size == status.size)
    }

    /// Applies the step now, or submits it to the pipeline.
    ///
    /// - Returns: whether the caller must count it; otherwise it is counted elsewhere.
    private func change(_ step: RestoreStep, _ kind: RestoreAction.Kind) throws -> Bool {
        let path = step.path
        if path.isRoot {
            // The root itself is never created or removed, and is always a directory.
            if let wanted = step.wanted { try directories.push(.root, .metadata, wanted: wanted) }
            return true
        }
        let parent = try directories.directory(at: path.parent ?? .root)
        let name = CName(path.name)
        guard try isNew(kind) || isAsExpected(step, name, in: parent) else { throw changed(path) }
        defer { if let inode = step.present?.linkGroup { changedInodes.insert(inode) } }
        switch (step.present?.kind, step.wanted) {
        case (.directory, let wanted) where wanted?.kind != .directory:
            try directories.push(path, .removal(from: parent, replacement: wanted), wanted: nil)
            return false
        case (.directory, let wanted?):
            try directories.push(path, .metadata, wanted: wanted)
        case (let present, let wanted?) where wanted.kind == .directory:
            if present != nil { try parent.descriptor.removeFile(name, path: FilePath(path)) }
            try parent.descriptor.createDirectory(name, permissions: 0o700, path: FilePath(path))
            try directories.push(path, .metadata, wanted: wanted)
        case (_?, nil):
            try parent.descriptor.removeFile(name, path: FilePath(path))
        case (_, let wanted?):
            // Metadata would change under all names of a hard-linked file, so the file is rewritten.
            guard step.isMetadataOnly, step.present?.linkGroup == nil else {
                return try create(wanted, at: path, name, in: parent, as: kind, over: step.present)
            }
            metadata.apply(wanted, to: name, in: parent.descriptor, path: path)
        case (nil, nil):
            break
        }
        return true
    }

    private func finish(_ level: OpenDirectories.Level) throws {
        switch level.ending {
        case .metadata:
            guard let wanted = try level.wanted ?? wantedDirectory(level.path) else { return }
            metadata.apply(wanted, to: level.directory.descriptor, path: level.path)
        case .removal(let parent, let replacement):
            if result.isInterrupted { return }
            let path = level.path
            let name = CName(path.name)
            guard try removeDirectory(at: path, name, in: parent) else {
                let text = "\(path) was not removed: it has content that is in no snapshot or was left alone"
                guard replacement == nil else {
                    throw RestoreProblem(path, text, remedy: "move its content away, and restore again")
                }
                return result.warn(text)
            }
            guard let replacement else { return result.count(.delete) }
            if replacement.kind == .file, replacement.linkGroup == nil {
                let job = FileJob(
                    entry: replacement, path: path, directory: parent, name: name, isNew: false, kind: .replace)
                result.count(.replace, bytes: try files.write(job, &metadata))
            } else if try create(replacement, at: path, name, in: parent, as: .replace) {
                result.count(.replace)
            }
        }
    }

    /// Removes a directory.
    ///
    /// - Returns: false if it is not empty.
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

    private func makePipeline() -> OrderedPipeline<[Work], Written> {
        OrderedPipeline(
            width: width, ownThreads: waits,
            transform: { [files, owners, isMarked] work in
                var written = Written(work: work, metadata: MetadataWriter(owners, from: files.store))
                for case .write(let job) in work {
                    do {
                        written.files.append((job.kind, try files.write(job, &written.metadata)))
                    } catch is RestoreInterruption.Stop {
                        written.isInterrupted = true
                    } catch let error as FileError where error.code.meansFullDisk && !isMarked {
                        written.unfit.append(job)
                    } catch let error as FileError where error.code == .fileExists && job.isNew {
                        written.taken.append(job.path)
                    } catch {
                        guard let problem = RestoreProblem(job.path, error) else { throw error }
                        written.problems.append(problem)
                    }
                }
                return written
            },
            consume: { [unowned self] written in
                metadata.add(written.metadata)
                for file in written.files { result.count(file.kind, bytes: file.bytes) }
                let bytes = written.files.reduce(UInt64(0)) { $0.addingSaturating($1.bytes) }
                sync?.add(files: written.files.count, bytes: bytes)
                for problem in written.problems { fail(problem) }
                for path in written.taken { fail(changed(path)) }
                unfit += written.unfit
                if written.isInterrupted { result.isInterrupted = true }
                for case .finish(let level) in written.work { try attempt(level.path) { try finish(level) } }
            })
    }

    private func add(_ work: Work) throws {
        batch.append(work)
        if case .write(let job) = work { batchBytes = batchBytes.addingReportingOverflow(job.entry.size).partialValue }
        guard batch.count >= RestoreWriter.batchItems || batchBytes >= RestoreWriter.batchBytes else { return }
        let full = batch
        batch.removeAll(keepingCapacity: true)
        batchBytes = 0
        try pipeline.submit(full)
    }

    // MARK: Objects

    /// Creates an object that is not a directory.
    ///
    /// - Parameter present: the object that it replaces.
    /// - Returns: whether the caller must count it; otherwise it is counted here or later.
    private func create(
        _ entry: Entry, at path: RelativePath, _ name: CName, in parent: SharedDirectory, as kind: RestoreAction.Kind,
        over present: Entry? = nil
    ) throws -> Bool {
        let isNew = isNew(kind)
        if let member = try links.member(of: entry), member != path {
            if try link(path, name, in: parent, to: member, isNew: isNew) { return true }
            // The next name may be linked to this one.
            result.warn("\(path) is a copy: \(member) cannot be linked there")
        }
        if entry.kind == .file {
            var job = FileJob(entry: entry, path: path, directory: parent, name: name, isNew: isNew, kind: kind)
            if let present, present.kind == .file, present.linkGroup == nil, !present.isUnstable {
                job.present = present
            }
            // Further names of a file are linked immediately, so the file itself must exist.
            if entry.linkGroup == nil {
                try add(.write(job))
                return false
            }
            result.count(kind, bytes: try files.write(job, &metadata))
            links.replace(by: path, of: entry)
            return false
        }
        try createSpecial(entry, at: path, name, in: parent, isNew: isNew)
        metadata.apply(entry, to: name, in: parent.descriptor, path: path)
        links.replace(by: path, of: entry)
        return true
    }

    /// Creates an object without content under a temporary name, so that the old object stays until that has succeeded.
    ///
    /// - Parameter isNew: whether there is no old object; it gets its name at once.
    private func createSpecial(
        _ entry: Entry, at path: RelativePath, _ name: CName, in parent: SharedDirectory, isNew: Bool
    ) throws {
        let made = isNew ? name : TemporaryFile.newName()
        switch entry.kind {
        case .symbolicLink:
            guard case .linkTarget(let target) = entry.content, !target.isEmpty else {
                throw RestoreProblem(
                    path, "\(path) cannot be restored: the archive does not have the link's target",
                    remedy: Advice.checkData.text, isDamage: true)
            }
            try parent.descriptor.createSymbolicLink(made, target: CName(target), path: FilePath(path))
        case .fifo:
            try parent.descriptor.createSpecialFile(
                made, kind: .fifo, permissions: entry.permissions, path: FilePath(path))
        case .characterDevice, .blockDevice:
            do {
                try parent.descriptor.createSpecialFile(
                    made, kind: entry.kind, permissions: entry.permissions, device: entry.device,
                    path: FilePath(path))
            } catch {
                guard error.code == .notPermitted || error.code == .permissionDenied else { throw error }
                throw RestoreProblem(
                    path, "the device \(path) was not restored: only root can create devices",
                    remedy: "restore again as root")
            }
        case .socket, .file, .directory:
            return
        }
        if !isNew { try parent.descriptor.replace(name, with: made, path: FilePath(path)) }
    }

    /// Makes the name a hard link to `member`.
    ///
    /// - Returns: false if the file `member` cannot be linked there.
    private func link(
        _ path: RelativePath, _ name: CName, in parent: SharedDirectory, to member: RelativePath, isNew: Bool
    ) throws -> Bool {
        let existing = try root.directory.descriptor.openParent(of: member)
        if let status = try FileStatus.read(existing.name, in: existing.directory, path: member) {
            changedInodes.insert(status.inode)
        }
        let made = isNew ? name : TemporaryFile.newName()
        let failure = RestoreWriter.failure { () throws(FileError) in
            try parent.descriptor.createLink(
                made, to: existing.name, in: existing.directory, path: FilePath(path))
        }
        if let failure {
            guard RestoreWriter.meansNoLinks(failure.code) else { throw failure }
            return false
        }
        if !isNew { try parent.descriptor.replace(name, with: made, path: FilePath(path)) }
        return true
    }

    private static func failure(of body: () throws(FileError) -> Void) -> FileError? {
        do throws(FileError) { try body() } catch { return error }
        return nil
    }

    /// Whether the error means that a file cannot be linked into a directory.
    ///
    /// The directory is on another file system, the file system has no hard links, or the file has too many.
    private static func meansNoLinks(_ code: Errno) -> Bool {
        [.improperLink, .tooManyLinks, .notPermitted, .notSupported, .notSupportedOnSocket].contains(code)
    }
}
