// An archive: how to open it, repair its catalogue and capture into it.

package import ArchiveFormat
public import ArchiveStorage
public import Capturing
internal import FileIO
internal import Glibc
public import Roots
package import SnapshotTree
public import SystemPackage
package import Threading

/// An archive of snapshots of one or more roots.
///
/// All methods that are not `async` block while they read or write files. Capturing, restoring, and saving, loading and
/// updating states have asynchronous forms, and the compiler demands them in async code. Call the other methods through
/// `Blocking.run` there. Several threads and several processes may use one archive at the same time.
public final class Archive: Sendable {
    /// The archive's absolute path.
    public let directory: FilePath
    package let store: ArchiveStore
    package let nodes: StoredNodes
    /// Held by the thread that compares the next snapshots for the index of paths.
    package let indexing = Locked<Void>(())
    /// The directory of an archive in memory, which goes with it.
    private let memory: MemoryDirectory?

    private init(_ directory: FilePath, _ store: ArchiveStore, in memory: MemoryDirectory? = nil) {
        self.directory = directory
        self.store = store
        self.memory = memory
        nodes = StoredNodes(store)
    }

    /// The default archive: the directory `archiver` in the user's data directory, usually `~/.local/share/archiver`.
    ///
    /// The XDG Base Directory Specification defines the data directory. If `$HOME` is not set, as in some services, the
    /// home directory comes from the user's account.
    ///
    /// - Throws: `ArchiverError` with the code `noArchive` if the account has no home directory either.
    public static var defaultDirectory: FilePath {
        get throws(ArchiverError) {
            if let data = environment("XDG_DATA_HOME"), data.isAbsolute { return data.appending("archiver") }
            if let home = environment("HOME") ?? AccountNames.home(of: getuid()), home.isAbsolute {
                return home.appending(".local/share/archiver")
            }
            throw ArchiverError(
                .noArchive, "no archive is named, and there is no home directory to look in: $HOME is not set",
                remedy: Advice.nameArchiveWithoutHome.text)
        }
    }

    private static func environment(_ name: String) -> FilePath? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return FilePath(platformString: value)
    }

    /// Opens the archive in `directory`.
    ///
    /// Also opens an archive that is partly damaged or unreadable: see `findings`.
    ///
    /// - Parameters:
    ///   - directory: nil for `defaultDirectory`.
    ///   - creating: whether to create the archive if the directory is missing or empty.
    /// - Throws: `ArchiverError` with the codes `noArchive`, `notAnArchive`, `newerFormat`, `damaged`, `permission`…
    public static func open(
        _ directory: FilePath? = nil, creating: Bool = false
    ) throws(ArchiverError) -> Archive {
        try facing {
            CurrentProcess.raiseOpenFileLimit()
            // Absolute, because the process may change its current directory while the archive is open.
            let place = try (directory ?? defaultDirectory).absolute
            do throws(StorageError) {
                return Archive(place, try ArchiveStore.open(place, creating: creating))
            } catch {
                // The remedy suggests a new archive only for the default place. At any other, the archive may be on a
                // disk that is not mounted, and a new one would hide it.
                guard error.code == .noArchive, directory == nil else {
                    throw error
                }
                throw ArchiverError(
                    .noArchive, error.message,
                    remedy: Advice.createArchive.text, path: error.path)
            }
        }
    }

    /// An archive that is read from elsewhere and cannot be changed.
    ///
    /// - Parameter name: how it is called in messages.
    package static func reading(_ store: ArchiveStore, named name: FilePath) -> Archive { Archive(name, store) }

    /// Opens the archive in the directory at `path`.
    ///
    /// - Throws: as `open(_:creating:)` with a `FilePath`.
    public static func open(_ path: String, creating: Bool = false) throws(ArchiverError) -> Archive {
        try open(FilePath(path), creating: creating)
    }

    /// Creates an archive in memory, for the tests of a program.
    ///
    /// It does all that an archive on a disk does. Its files are in a private directory of `/dev/shm`, the memory file
    /// system, or where that is missing, in the directory for temporary files. They are removed when the archive is
    /// released, or by the next archive in memory if the process is killed.
    ///
    /// - Parameter clock: dates saved states, and `@10m` in a selector is counted back from it; nil for the system's
    ///   clock. A ``ManualClock`` stands still until it is set. Snapshots of directories always have the time of the
    ///   system's clock, as their files do.
    /// - Throws: `ArchiverError` with the codes `noSpace`, `permission` or `system` if no directory can be created.
    public static func inMemory(clock: ManualClock? = nil) throws(ArchiverError) -> Archive {
        try facing {
            let memory = try MemoryDirectory()
            let place = memory.path.appending("archive")
            var time: (@Sendable () -> Timestamp)?
            if let clock { time = { clock.now } }
            let store = try ArchiveStore.open(place, creating: true, clock: time)
            return Archive(place, store, in: memory)
        }
    }

    /// Limits the caches to what commits need: a watcher reads little else, and keeps them for as long as it lives.
    package func limitCaches() {
        nodes.limitCache(toBytes: Archive.leastCacheBytes)
        store.limitCache(toBytes: Archive.leastCacheBytes)
    }

    private static let leastCacheBytes = 4 << 20

    /// Releases what is cached and was not used since the last call, and returns free memory to the system.
    ///
    /// For processes that run long: their caches would grow to their limits, even if nothing in them is read again.
    package func releaseUnusedMemory() {
        nodes.removeUnused()
        store.releaseUnusedMemory()
        CurrentProcess.releaseFreeMemory()
    }

    package var id: ArchiveID { store.manifest.id }

    /// The findings from the opening of the archive, and the damage already known.
    public var findings: [ArchiveFinding] { store.findings }

    /// Whether opening created the archive.
    public var isNew: Bool { store.isNew }

    /// Why nothing can be added to the archive now; nil if it can.
    public var writeRefusal: ArchiverError? {
        do throws(ArchiverError) {
            try facing { try store.requireWritable() }
        } catch {
            return error
        }
        // The file system may have been mounted read-only since.
        guard access(directory.string, W_OK) != 0 else { return nil }
        return ArchiverError(
            .readOnly, "the archive \(directory) cannot be written to", remedy: "make its directory writable",
            path: directory)
    }

    /// Rebuilds the catalogue of the archive in `directory` from its segments, and `archive.json` if that is lost.
    ///
    /// - Parameter reason: why segments that are missing will not come back, at most 4,096 bytes. They are recorded as
    ///   lost, and are no longer findings; if one turns up again, it is read. Nil to go on reporting them.
    /// - Throws: `ArchiverError` with the code `inUse` while another process has the archive open.
    public static func repairCatalogue(
        of directory: FilePath? = nil, writingOff reason: String? = nil
    ) throws(ArchiverError) -> CatalogueRepair {
        try facing {
            let directory = try (directory ?? defaultDirectory).absolute
            let summary = try ArchiveStore.rebuildCatalogue(of: directory, writingOff: reason)
            return CatalogueRepair(
                segments: summary.segments, chunks: summary.chunks, snapshots: summary.snapshots,
                gaps: summary.gaps, states: summary.states, operations: summary.operations, cutBytes: summary.cutBytes,
                moved: summary.moved, lost: summary.lost, findings: summary.unread + summary.missing + summary.damage)
        }
    }

    // MARK: Capturing

    /// Captures the directory `root` if it differs from its latest snapshot, or if `options` give it another label.
    ///
    /// - Parameter progress: counters that are updated while the capture runs.
    /// - Throws: `ArchiverError`: `noSuchDirectory`, `unsuitableRoot`, `locked` if a watcher captures it, `noSpace`…
    @available(*, noasync, message: "use `await`; at the top level of main.swift, in an async function")
    public func capture(
        _ root: FilePath, _ options: CaptureOptions = CaptureOptions(), progress: OperationProgress? = nil
    ) throws(ArchiverError) -> CaptureResult {
        try facing {
            if let label = options.label { try SnapshotSelector.checkLabel(label) }
            let root = try RootDirectory.open(root, capturedInto: directory)
            let related = try continueHistory(of: root)
            var result = try Capture(into: nodes, options, progress: progress).run(root)
            result.related = related
            return result
        }
    }
}

/// What rebuilding a catalogue found.
public struct CatalogueRepair: Sendable, Hashable {
    /// Segments in the archive.
    public let segments: Int
    /// Chunks in them.
    public let chunks: Int
    /// Snapshots in them.
    public let snapshots: Int
    /// Gaps in them.
    public let gaps: Int
    /// Saved states in them.
    public let states: Int
    /// Records of operations in them.
    public let operations: Int
    /// Bytes of interrupted writes that were truncated.
    public let cutBytes: Int
    /// Records that broke a rule of the format and were moved into the directory `salvage`, one sentence each.
    public let moved: [String]
    /// Missing segments that are recorded as lost, one sentence each.
    public let lost: [String]
    /// The damage found, one sentence for each place.
    public let findings: [String]
}
