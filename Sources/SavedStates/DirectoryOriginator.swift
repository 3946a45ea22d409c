// A directory as an originator: its states are snapshots.

public import ArchiveStorage
public import Archives
internal import Capturing
public import Mementos
internal import Restoring
public import Roots
public import SystemPackage

/// A directory whose states a ``Caretaker`` saves, like those of a program.
///
/// Capturing makes a snapshot in the archive. Restoring makes the directory equal to a snapshot, and captures the
/// present state first, so that it can be restored too.
public struct DirectoryOriginator: Originator, Sendable {
    /// The directory.
    public let path: FilePath
    /// The archive of its snapshots.
    public let archive: Archive

    /// The directory at `path`, with snapshots in `archive`.
    public init(_ path: FilePath, in archive: Archive) {
        self.path = path
        self.archive = archive
    }

    /// Captures the directory, and returns its latest snapshot.
    ///
    /// - Throws: `ArchiverError`, as for a capture.
    nonisolated(nonsending) public func captureState() async throws(ArchiverError) -> ListedSnapshot {
        try await archive.capture(path).latest
    }

    /// Makes the directory equal to a snapshot, after capturing its present state.
    ///
    /// - Throws: `ArchiverError`, as for a restore.
    nonisolated(nonsending) public func restore(_ state: ListedSnapshot) async throws(ArchiverError) {
        _ = try await archive.restore(state, RestoreOptions(root: path))
    }
}

/// The snapshots of one directory.
struct DirectoryStore: MementoStore {
    let path: FilePath
    let archive: Archive

    var title: String { path.string }

    func capture(label: String?) throws(StateError) -> Memento? {
        try stating { Memento(try archive.capture(path, CaptureOptions(label: label)).latest) }
    }

    /// Saves nothing: capturing has already stored the snapshot.
    func saveInTurn(_ state: ListedSnapshot, label: String?) -> Memento { Memento(state) }

    func beginInTurn(with state: ListedSnapshot) -> ListedSnapshot? { nil }

    func history() throws(StateError) -> [Memento] {
        try stating { try snapshots().map(Memento.init) }
    }

    func memento(_ selector: SnapshotSelector) throws(StateError) -> Memento {
        Memento(try snapshot(selector))
    }

    func state(of memento: Memento) throws(StateError) -> ListedSnapshot {
        try snapshot(SnapshotSelector(id: memento.id))
    }

    func forget(_ mementos: [Memento]) throws(StateError) {
        try archive.forget(mementos)
    }

    private func snapshot(_ selector: SnapshotSelector) throws(StateError) -> ListedSnapshot {
        guard let root = try stating({ try archive.root(at: path) }) else { throw .noSuchState(title: title) }
        do throws(ArchiverError) { return try archive.snapshot(selector, of: root) } catch {
            throw .noSuchSelection(title: title, error)
        }
    }

    private func snapshots() throws -> [ListedSnapshot] {
        guard let root = try archive.root(at: path) else { return [] }
        return try archive.snapshots(SnapshotQuery(root: root))
    }
}
