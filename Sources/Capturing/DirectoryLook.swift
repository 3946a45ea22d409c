// What a walk sees in a directory: its names, what is left out of them, and how they are. Looked at when the walk is
// there, or before, on another thread.

internal import Dispatch
internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// An open directory with its names.
struct DirectoryLook: Sendable {
    let directory: SharedDirectory
    let records: DirectoryRecords
    /// What is left out of the directory.
    let scope: DirectoryScope
    /// How the records' objects were, by the records' indices; empty where nobody has looked yet.
    ///
    /// nil where a closer look is needed: at what was not there, could not be looked at, or seemed to be left out.
    private var statuses: [FileStatus?] = []

    /// Opens the directory `name` in `parent` and reads its names.
    ///
    /// - Parameters:
    ///   - outer: the scope of the parent.
    ///   - isOtherMount: whether it lies on another mount than the root.
    /// - Returns: nil where the directory is one that the kernel makes up, such as `/proc`.
    init?(
        opening name: CName, at path: RelativePath, in parent: SharedDirectory, _ outer: DirectoryScope,
        isOtherMount: Bool = false, _ reader: DirectoryReaderBox
    ) throws(FileError) {
        directory = SharedDirectory(try parent.descriptor.openForReading(name, O_DIRECTORY, path: path))
        if isOtherMount, try FileSystem.of(directory.descriptor, path: path).reach == .pseudo { return nil }
        records = try reader.read(directory.descriptor, path)
        scope = outer.entering(path, DirectoryRules.read(in: directory.descriptor, outer.rules, among: records))
    }

    /// How the object of the record at `index` was when it was looked at, or else is now; nil where there is none.
    func status(at index: Int, path: @autoclosure () -> RelativePath) throws(FileError) -> FileStatus? {
        if !statuses.isEmpty, let seen = statuses[index] { return seen }
        return try records.status(at: index, in: directory.descriptor, path: path())
    }

    /// Of directories with more names nothing is looked at ahead: what was seen must be remembered until the walk comes.
    private static let aheadLimit = 10_000

    /// Looks at all that is not left out, unless that is too much to remember.
    mutating func lookAtAll(below path: RelativePath) {
        if records.count > DirectoryLook.aheadLimit { return }
        statuses = records.indices.map { index in
            if !scope.isTrivial {
                let record = records[index]
                if scope.excludes(path.appending(record.name), isDirectory: record.kind == .directory) { return nil }
            }
            return try? records.status(at: index, in: directory.descriptor)
        }
    }
}

/// A directory that the walk has not come to yet, looked at by another thread, or by the walk itself if it is sooner.
///
/// The walk compares with what was seen here as if it had seen it itself: both is seen after the capture began, and what
/// changes after that is told by events, or is found by the next capture. Files are still read between two looks of
/// their own.
final class DirectoryAhead: Sendable {
    private enum State {
        case waiting
        case underway
        case done(DirectoryLook?)
    }

    private static let queue = DispatchQueue(label: "archiver.ahead", qos: .userInitiated, attributes: .concurrent)
    private static let readers = Pool { DirectoryReaderBox() }

    private let state = Locked(State.waiting)
    private let isDone = DispatchSemaphore(value: 0)
    private let name: CName
    private let path: RelativePath
    private let parent: SharedDirectory
    private let scope: DirectoryScope
    private let root: FileStatus

    /// Begins to look at the directory `name` in `parent`.
    ///
    /// - Parameters:
    ///   - scope: the scope of the parent.
    ///   - root: the status of the walk's root; what lies on another mount is not touched.
    init(
        _ name: CName, at path: RelativePath, in parent: SharedDirectory, _ scope: DirectoryScope, root: FileStatus
    ) {
        self.name = name
        self.path = path
        self.parent = parent
        self.scope = scope
        self.root = root
        DirectoryAhead.queue.async { [self] in
            guard claim() else { return }
            let look = look()
            state.withLock { $0 = .done(look) }
            isDone.signal()
        }
    }

    /// What was seen.
    ///
    /// - Parameter status: the directory's own status as the walk has just found it.
    /// - Returns: nil where nothing could be seen, or another directory, or nobody was quick enough to look.
    func take(_ status: FileStatus) -> DirectoryLook? {
        if claim() { return nil }
        isDone.wait()
        guard case .done(let look?) = state.withLock({ $0 }) else { return nil }
        let own = try? FileStatus.read(look.directory.descriptor)
        return own?.isSameObject(as: status) == true ? look : nil
    }

    /// Whether the caller is the one who looks.
    private func claim() -> Bool {
        state.withLock { state in
            guard case .waiting = state else { return false }
            state = .underway
            return true
        }
    }

    private func look() -> DirectoryLook? {
        guard let status = try? FileStatus.read(name, in: parent.descriptor), status.kind == .directory,
            status.device == root.device, status.mount == root.mount
        else { return nil }
        let found = try? DirectoryAhead.readers.with { reader in
            try DirectoryLook(opening: name, at: path, in: parent, scope, reader)
        }
        guard var look = found else { return nil }
        look.lookAtAll(below: path)
        return look
    }
}

/// A directory reader that a copyable value can hold.
final class DirectoryReaderBox: @unchecked Sendable {
    // Unchecked: whoever has it uses it on one thread at a time.
    private var reader = DirectoryReader()

    func read(_ directory: borrowing Descriptor, _ path: RelativePath) throws(FileError) -> DirectoryRecords {
        try reader.read(directory, path: path)
    }
}
