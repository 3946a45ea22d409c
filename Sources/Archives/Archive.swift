// The face of the library: an archive and what can be done with it.

public import ArchiveStorage
public import Capturing
internal import FileIO
internal import Glibc
public import Roots
package import SnapshotTree
public import SystemPackage

/// An archive of snapshots of one or more roots.
///
/// All methods block while they read or write files; call them from a thread of your own, or through `Blocking.run`.
/// An archive may be used from several threads and by several processes at once.
public final class Archive: Sendable {
    /// Where the archive is.
    public let directory: FilePath
    package let store: ArchiveStore
    package let nodes: StoredNodes

    private init(_ directory: FilePath, _ store: ArchiveStore) {
        self.directory = directory
        self.store = store
        nodes = StoredNodes(store)
    }

    /// Where the archive is when nothing else is said: `$ARCHIVER_ARCHIVE`, else `$XDG_DATA_HOME/archiver`, else
    /// `~/.local/share/archiver`.
    ///
    /// Without `$HOME`, as services may run, the home directory is that of the user's account.
    /// - Throws: `ArchiverError` of the code `noArchive` where that has none either.
    public static var defaultDirectory: FilePath {
        get throws(ArchiverError) {
            if let path = environment("ARCHIVER_ARCHIVE") { return path }
            if let data = environment("XDG_DATA_HOME"), data.isAbsolute { return data.appending("archiver") }
            if let home = environment("HOME") ?? AccountNames.home(of: getuid()), home.isAbsolute {
                return home.appending(".local/share/archiver")
            }
            throw ArchiverError(
                .noArchive, "no archive is named, and there is no home directory to look in: $HOME is not set",
                remedy: "name the archive with --archive or $ARCHIVER_ARCHIVE")
        }
    }

    private static func environment(_ name: String) -> FilePath? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return FilePath(platformString: value)
    }

    /// Opens the archive in `directory`.
    ///
    /// Where some of it is damaged or cannot be read, it is opened all the same: see `findings`.
    ///
    /// - Parameters:
    ///   - directory: nil for `defaultDirectory`.
    ///   - creating: whether to make a new archive where the directory is missing or empty.
    /// - Throws: `ArchiverError` with the codes `noArchive`, `notAnArchive`, `newerFormat`, `damaged`, `permission`…
    public static func open(
        _ directory: FilePath? = nil, creating: Bool = false
    ) throws(ArchiverError) -> Archive {
        try facing {
            CurrentProcess.raiseOpenFileLimit()
            // The process may change its current directory while the archive is open.
            let place = try (directory ?? defaultDirectory).absolute
            do throws(StorageError) {
                return Archive(place, try ArchiveStore.open(place, creating: creating))
            } catch {
                // Elsewhere the archive may be on a disk that is not there now, and a new one would hide it.
                guard error.code == .noArchive, directory == nil, environment("ARCHIVER_ARCHIVE") == nil else {
                    throw error
                }
                throw ArchiverError(
                    .noArchive, error.message,
                    remedy:
                        "make one with 'archiver watch DIR' or 'archiver capture DIR', or name another with --archive",
                    path: error.path)
            }
        }
    }

    /// Opens the archive in the directory at `path`.
    ///
    /// - Throws: see `open(_:creating:)` of a `FilePath`.
    public static func open(_ path: String, creating: Bool = false) throws(ArchiverError) -> Archive {
        try open(FilePath(path), creating: creating)
    }

    /// What opening the archive found that is not as it should be, and what is known of damage found before.
    public var findings: [ArchiveFinding] { store.findings }

    /// Whether opening the archive has made it.
    public var isNew: Bool { store.isNew }

    /// Makes the catalogue of the archive in `directory` anew from its segments, and `archive.json` where that is lost.
    ///
    /// - Throws: `ArchiverError`, with the code `inUse` while another process has the archive open.
    public static func repairCatalogue(of directory: FilePath? = nil) throws(ArchiverError) -> CatalogueRepair {
        try facing {
            let directory = try (directory ?? defaultDirectory).absolute
            let summary = try ArchiveStore.rebuildCatalogue(of: directory)
            return CatalogueRepair(
                segments: summary.segments, chunks: summary.chunks, snapshots: summary.snapshots,
                gaps: summary.gaps, states: summary.states, operations: summary.operations, cutBytes: summary.cutBytes,
                findings: summary.unread + summary.damage)
        }
    }

    // MARK: Capturing

    /// Captures the state of the directory `root` if it differs from its latest snapshot, or is to get another label.
    ///
    /// - Parameter progress: counters that are moved forward meanwhile.
    public func capture(
        _ root: FilePath, _ options: CaptureOptions = CaptureOptions(), progress: OperationProgress? = nil
    ) throws(ArchiverError) -> CaptureResult {
        try facing {
            if let label = options.label { try SnapshotSelector.checkLabel(label) }
            let capture = Capture(into: nodes, options, progress: progress)
            return try capture.run(RootDirectory.open(root, capturedInto: directory))
        }
    }
}

/// What making a catalogue anew found.
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
    /// Bytes of interrupted writes that were cut off.
    public let cutBytes: Int
    /// Damage that was found, each place as a sentence.
    public let findings: [String]
}
