// The Memento pattern's caretaker: stores the states of one originator without looking inside.

public import Archives
public import Mementos

/// Stores the states of one originator in an archive, and restores any of them.
///
/// A saved state is durable: it survives a crash of the program or the system, and no failure loses an older state. A
/// state equal to the latest is not stored again.
///
/// A caretaker of a class or an actor can be a constant. A caretaker of a structure holds the structure itself, as the
/// variable ``originator``.
public struct Caretaker<Kept: Originator> {
    /// The originator whose states are saved.
    public var originator: Kept
    private var store: any MementoStore<Kept.State>
    private let makeStore: (@Sendable (String) -> any MementoStore<Kept.State>)?

    /// A caretaker that saves the states of `originator` under `title`.
    ///
    /// - Parameter retention: which states to keep; each save forgets the others.
    public init(
        of originator: Kept, titled title: String, in archive: Archive, keeping retention: StateRetention = .everything
    ) where Kept.State: Codable {
        self.originator = originator
        let makeStore = { @Sendable title in
            StateStore<Kept.State>(title: title, archive: archive, retention: retention)
                as any MementoStore<Kept.State>
        }
        self.makeStore = makeStore
        store = makeStore(title)
    }

    /// A caretaker of the snapshots of a directory.
    public init(of directory: Kept) where Kept == DirectoryOriginator {
        originator = directory
        makeStore = nil
        store = DirectoryStore(path: directory.path, archive: directory.archive)
    }

    /// The title of the states; for a directory, its path.
    public var title: String { store.title }

    // MARK: Saving

    /// Saves the originator's present state.
    ///
    /// - Parameter label: the user's name for it.
    /// - Returns: the saved state, or the latest if that is equal and gets no other label.
    /// - Throws: `originator` if the state could not be captured, and the errors of `Archive.save`.
    @discardableResult
    nonisolated(nonsending) public func save(label: String? = nil) async throws(StateError) -> Memento {
        let captured = try await blocking { (store) throws(StateError) in try store.capture(label: label) }
        if let captured { return captured }
        let state: Kept.State
        do { state = try await originator.captureState() } catch { throw failure(error) }
        return try await store.saveInTurn(state, label: label)
    }

    // MARK: History

    /// All saved states, oldest first.
    ///
    /// - Throws: `StateError` if the archive cannot be read.
    nonisolated(nonsending) public func history() async throws(StateError) -> [Memento] {
        try await blocking { (store) throws(StateError) in try store.history() }
    }

    /// The state that `selector` names.
    ///
    /// - Parameter selector: such as `.latest` or `"latest~1"`; see ``SnapshotSelector``.
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if there is no such state…
    nonisolated(nonsending) public func state(
        at selector: SnapshotSelector
    ) async throws(StateError) -> Kept.State {
        try await blocking { (store) throws(StateError) in try store.state(of: store.memento(selector)) }
    }

    /// The state of `memento`, one of ``history()``.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if there is no such state…
    nonisolated(nonsending) public func state(of memento: Memento) async throws(StateError) -> Kept.State {
        try await state(at: SnapshotSelector(memento))
    }

    // MARK: Restoring

    /// Restores the originator to the state of `memento`, one of ``history()``.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if there is no such state, `originator` if it cannot
    ///   be restored…
    nonisolated(nonsending) public mutating func restore(_ memento: Memento) async throws(StateError) {
        try await restore(SnapshotSelector(memento), of: store)
    }

    /// Restores the originator to the state of `memento`, one of ``history()``.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if there is no such state, `originator` if it cannot
    ///   be restored…
    nonisolated(nonsending) public func restore(
        _ memento: Memento
    ) async throws(StateError) where Kept: AnyObject {
        var caretaker = self
        try await caretaker.restore(SnapshotSelector(memento), of: store)
    }

    /// Restores the originator to the state that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if there is no such state, `originator` if it cannot
    ///   be restored…
    nonisolated(nonsending) public mutating func restore(_ selector: SnapshotSelector) async throws(StateError) {
        try await restore(selector, of: store)
    }

    nonisolated(nonsending) private mutating func restore(
        _ selector: SnapshotSelector, of store: any MementoStore<Kept.State>
    ) async throws(StateError) {
        let state = try await Blocking.run(orThrow: .cancelled(title: title)) { () throws(StateError) in
            try store.state(of: store.memento(selector))
        }
        do { try await originator.restore(state) } catch { throw failure(error) }
    }

    /// Restores the originator to the state that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if there is no such state, `originator` if it cannot
    ///   be restored…
    nonisolated(nonsending) public func restore(
        _ selector: SnapshotSelector
    ) async throws(StateError) where Kept: AnyObject {
        var caretaker = self
        try await caretaker.restore(selector, of: store)
    }

    /// Restores the originator to the state last saved; at the first start, saves its present state.
    ///
    /// If several programs start for the first time at once, one saves its state, and the others load that.
    ///
    /// - Throws: `StateError`: `undecodable` if the saved state is of another type, `originator` if it cannot be
    ///   restored…
    nonisolated(nonsending) public mutating func start() async throws(StateError) {
        do throws(StateError) { return try await restore(.latest) } catch {
            guard case .noSuchState = error else { throw error }
        }
        if try await blocking({ (store) throws(StateError) in try store.capture(label: nil) }) != nil { return }
        let state: Kept.State
        do { state = try await originator.captureState() } catch { throw failure(error) }
        guard let latest = try await store.beginInTurn(with: state) else { return }
        do { try await originator.restore(latest) } catch { throw failure(error) }
    }

    /// Switches to another title, and restores the originator to the state last saved under it.
    ///
    /// - Throws: `noSuchState` if there is none; then nothing has changed.
    nonisolated(nonsending) public mutating func load(
        title: String
    ) async throws(StateError) where Kept.State: Codable {
        guard let other = makeStore?(title) else { throw .malformedTitle(title) }
        try await restore(.latest, of: other)
        store = other
    }

    // MARK: Forgetting

    /// Forgets the state that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchSelection` if there is no such state, `archive` with the code `pinned` if it is
    ///   pinned…
    nonisolated(nonsending) public func forget(_ selector: SnapshotSelector) async throws(StateError) {
        try await blocking { (store) throws(StateError) in try store.forget([store.memento(selector)]) }
    }

    /// Forgets the state of `memento`.
    ///
    /// - Throws: `StateError`: `noSuchSelection` if there is no such state, `archive` with the code `pinned` if it is
    ///   pinned…
    nonisolated(nonsending) public func forget(_ memento: Memento) async throws(StateError) {
        try await forget(SnapshotSelector(memento))
    }

    /// Forgets all saved states.
    ///
    /// - Throws: `StateError`: `archive` with the code `pinned` if a state is pinned; then none is forgotten.
    nonisolated(nonsending) public func forgetAll() async throws(StateError) {
        try await blocking { (store) throws(StateError) in try store.forget(store.history()) }
    }

    // MARK: Helpers

    nonisolated(nonsending) private func blocking<Result: Sendable>(
        _ body: @escaping @Sendable (any MementoStore<Kept.State>) throws(StateError) -> Result
    ) async throws(StateError) -> Result {
        let store = store
        return try await Blocking.run(orThrow: .cancelled(title: title)) { () throws(StateError) in try body(store) }
    }

    private func failure(_ error: any Error) -> StateError {
        error as? StateError ?? .originator(title: title, cause: error)
    }
}

extension Caretaker: Sendable where Kept: Sendable {}
