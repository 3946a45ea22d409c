// What a walk sees in a directory: names, exclusions and statuses. It is read when the walk arrives, or ahead of the
// walk on another thread.

internal import Dispatch
internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// An open directory with its names.
struct ScannedDirectory: Sendable {
    let directory: SharedDirectory
    let listing: DirectoryListing
    /// The exclusions in the directory.
    let scope: DirectoryScope
    /// The statuses of the listed objects, by their indices; empty if they were not read yet.
    ///
    /// nil if the status must be read again: the object was missing, could not be read, or seemed to be excluded.
    private var statuses: [FileStatus?] = []

    /// Opens the directory `name` in `parent` and reads its names.
    ///
    /// - Parameters:
    ///   - outer: the scope of the parent.
    ///   - isOtherMount: whether it is on another mount than the root.
    /// - Returns: nil if the directory is on another mount with a pseudo file system, such as `/proc`.
    init?(
        opening name: CName, at path: RelativePath, in parent: SharedDirectory, _ outer: DirectoryScope,
        isOtherMount: Bool = false, _ reader: DirectoryReaderBox
    ) throws(FileError) {
        directory = SharedDirectory(try parent.descriptor.openForReading(name, O_DIRECTORY, path: path))
        if isOtherMount, try FileSystem.of(directory.descriptor, path: path).reach == .pseudo { return nil }
        listing = try reader.read(directory.descriptor, path)
        scope = outer.entering(path, DirectoryRules.read(in: directory.descriptor, outer.rules, among: listing))
    }

    /// The status of the object at `index`, read ahead or now; nil if there is no object.
    func status(at index: Int, path: @autoclosure () -> RelativePath) throws(FileError) -> FileStatus? {
        if !statuses.isEmpty, let seen = statuses[index] { return seen }
        return try listing.status(at: index, in: directory.descriptor, path: path())
    }

    /// In directories with more names, no statuses are read ahead: they stay in memory until the walk arrives.
    private static let prefetchLimit = 10_000

    /// Reads the statuses of all objects that are not excluded, unless they are too many.
    mutating func readStatuses(below path: RelativePath) {
        if listing.count > ScannedDirectory.prefetchLimit { return }
        statuses = listing.indices.map { index in
            if !scope.isTrivial {
                let item = listing[index]
                if scope.excludes(path.appending(item.name), isDirectory: item.kind == .directory) { return nil }
            }
            return try? listing.status(at: index, in: directory.descriptor)
        }
    }
}

/// A directory ahead of the walk, read by another thread, or by the walk itself if it arrives first.
///
/// The walk uses these statuses like its own: both are read after the capture began, and a later change causes an
/// event or is found by the next capture. A file's content is still read between two status reads of its own.
final class PrefetchedDirectory: Sendable {
    private enum State {
        case waiting
        case underway
        case done(ScannedDirectory?)
    }

    private static let queue = DispatchQueue(label: "archiver.ahead", qos: .default, attributes: .concurrent)
    private static let readers = Pool { DirectoryReaderBox() }

    private let state = Locked(State.waiting)
    private let isDone = DispatchSemaphore(value: 0)
    private let name: CName
    private let path: RelativePath
    private let parent: SharedDirectory
    private let scope: DirectoryScope
    private let root: FileStatus

    /// Starts to read the directory `name` in `parent`.
    ///
    /// - Parameters:
    ///   - scope: the scope of the parent.
    ///   - root: the status of the walk's root; a directory on another mount is not touched.
    init(
        _ name: CName, at path: RelativePath, in parent: SharedDirectory, _ scope: DirectoryScope, root: FileStatus
    ) {
        self.name = name
        self.path = path
        self.parent = parent
        self.scope = scope
        self.root = root
        PrefetchedDirectory.queue.async { [self] in
            guard claim() else { return }
            let directory = read()
            state.withLock { $0 = .done(directory) }
            isDone.signal()
        }
    }

    /// Returns the directory as it was read ahead.
    ///
    /// - Parameter status: the directory's own status as the walk has just found it.
    /// - Returns: nil if it could not be read, is another directory now, or no thread has started to read it.
    func take(_ status: FileStatus) -> ScannedDirectory? {
        if claim() { return nil }
        isDone.wait()
        guard case .done(let scanned?) = state.withLock({ $0 }) else { return nil }
        let own = try? FileStatus.read(scanned.directory.descriptor)
        return own?.isSameObject(as: status) == true ? scanned : nil
    }

    /// Whether the caller is the first, and so reads the directory.
    private func claim() -> Bool {
        state.withLock { state in
            guard case .waiting = state else { return false }
            state = .underway
            return true
        }
    }

    private func read() -> ScannedDirectory? {
        guard let status = try? FileStatus.read(name, in: parent.descriptor), status.kind == .directory,
            status.device == root.device, status.mount == root.mount
        else { return nil }
        let found = try? PrefetchedDirectory.readers.with { reader in
            try ScannedDirectory(opening: name, at: path, in: parent, scope, reader)
        }
        guard var directory = found else { return nil }
        directory.readStatuses(below: path)
        return directory
    }
}

/// A directory reader that a copyable value can hold.
final class DirectoryReaderBox: @unchecked Sendable {
    // Unchecked: each holder uses it on one thread at a time.
    private var reader = DirectoryReader()

    func read(_ directory: borrowing Descriptor, _ path: RelativePath) throws(FileError) -> DirectoryListing {
        try reader.read(directory, path: path)
    }
}
