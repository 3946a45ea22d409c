// The Memento pattern's caretaker: keeps the states of one originator and never looks inside.

public import Archives
public import Mementos

/// Keeps the states of one originator in an archive, and brings any of them back.
///
/// What has been saved is durable: it survives a crash of the program and of the system, and no failure ever loses an
/// older state. A state equal to the latest is not stored again.
///
/// A caretaker of a class or an actor is a constant. One of a structure holds the structure itself, as the variable
/// ``originator``.
public struct Caretaker<Kept: Originator> {
    /// Whose states are kept.
    public var originator: Kept
    private var store: any MementoStore<Kept.State>
    private let makeStore: (@Sendable (String) -> any MementoStore<Kept.State>)?

    /// Keeps the states of `originator` under `title`.
    ///
    /// - Parameter retention: which of them; those that are kept no longer are forgotten when another one is saved.
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

    /// Keeps the snapshots of a directory.
    public init(of directory: Kept) where Kept == DirectoryOriginator {
        originator = directory
        makeStore = nil
        store = DirectoryStore(path: directory.path, archive: directory.archive)
    }

    /// The name under which the states are kept; of a directory, its path.
    public var title: String { store.title }

    // MARK: Saving

    /// Saves the originator's present state.
    ///
    /// - Parameter label: the user's name for it.
    /// - Returns: what was saved, or the latest where that is equal and was not to get another label.
    /// - Throws: `originator` where it could not be captured, and what ``Archive/save(_:as:label:)`` throws.
    @discardableResult
    nonisolated(nonsending) public func save(label: String? = nil) async throws(StateError) -> Memento {
        let captured = try await blocking { (store) throws(StateError) in try store.capture(label: label) }
        if let captured { return captured }
        let state: Kept.State
        do { state = try await originator.captureState() } catch { throw failure(error) }
        return try await blocking { (store) throws(StateError) in try store.save(state, label: label) }
    }

    // MARK: Looking back

    /// All that is kept, the oldest first.
    nonisolated(nonsending) public func history() async throws(StateError) -> [Memento] {
        try await blocking { (store) throws(StateError) in try store.history() }
    }

    /// The state that `selector` names.
    ///
    /// - Parameter selector: such as `.latest` or `"latest~1"`; see ``SnapshotSelector``.
    nonisolated(nonsending) public func state(
        at selector: SnapshotSelector
    ) async throws(StateError) -> Kept.State {
        try await blocking { (store) throws(StateError) in try store.state(of: store.memento(selector)) }
    }

    /// The state that `memento`, one of ``history()``, stands for.
    nonisolated(nonsending) public func state(of memento: Memento) async throws(StateError) -> Kept.State {
        try await state(at: SnapshotSelector(memento))
    }

    // MARK: Bringing back

    /// Makes the originator's state the one that `memento`, one of ``history()``, stands for.
    nonisolated(nonsending) public mutating func restore(_ memento: Memento) async throws(StateError) {
        try await restore(SnapshotSelector(memento), of: store)
    }

    /// Makes the originator's state the one that `memento`, one of ``history()``, stands for.
    nonisolated(nonsending) public func restore(
        _ memento: Memento
    ) async throws(StateError) where Kept: AnyObject {
        var caretaker = self
        try await caretaker.restore(SnapshotSelector(memento), of: store)
    }

    /// Makes the originator's state the one that `selector` names.
    nonisolated(nonsending) public mutating func restore(_ selector: SnapshotSelector) async throws(StateError) {
        try await restore(selector, of: store)
    }

    nonisolated(nonsending) private mutating func restore(
        _ selector: SnapshotSelector, of store: any MementoStore<Kept.State>
    ) async throws(StateError) {
        let state = try await Blocking.run { () throws(StateError) in try store.state(of: store.memento(selector)) }
        do { try await originator.restore(state) } catch { throw failure(error) }
    }

    /// Makes the originator's state the one that `selector` names.
    nonisolated(nonsending) public func restore(
        _ selector: SnapshotSelector
    ) async throws(StateError) where Kept: AnyObject {
        var caretaker = self
        try await caretaker.restore(selector, of: store)
    }

    /// Makes the originator's state the one saved last; at the first start, saves the present one.
    ///
    /// Of several programs that start first at the same time, one begins with its state, and the others go on from there.
    nonisolated(nonsending) public mutating func start() async throws(StateError) {
        do throws(StateError) { return try await restore(.latest) } catch {
            guard case .noSuchState = error else { throw error }
        }
        if try await blocking({ (store) throws(StateError) in try store.capture(label: nil) }) != nil { return }
        let state: Kept.State
        do { state = try await originator.captureState() } catch { throw failure(error) }
        let latest = try await blocking { (store) throws(StateError) in try store.begin(with: state) }
        guard let latest else { return }
        do { try await originator.restore(latest) } catch { throw failure(error) }
    }

    /// Goes on under another title, and makes the originator's state the one saved last under it.
    ///
    /// - Throws: `noSuchState` where there is none; all is then as it was.
    nonisolated(nonsending) public mutating func load(
        title: String
    ) async throws(StateError) where Kept.State: Codable {
        guard let other = makeStore?(title) else { throw .malformedTitle(title) }
        try await restore(.latest, of: other)
        store = other
    }

    // MARK: Forgetting

    /// Forgets the state that `selector` names.
    nonisolated(nonsending) public func forget(_ selector: SnapshotSelector) async throws(StateError) {
        try await blocking { (store) throws(StateError) in try store.forget([store.memento(selector)]) }
    }

    /// Forgets the state that `memento` stands for.
    nonisolated(nonsending) public func forget(_ memento: Memento) async throws(StateError) {
        try await forget(SnapshotSelector(memento))
    }

    /// Forgets all that is kept.
    nonisolated(nonsending) public func forgetAll() async throws(StateError) {
        try await blocking { (store) throws(StateError) in try store.forget(store.history()) }
    }

    // MARK: Helpers

    nonisolated(nonsending) private func blocking<Result: Sendable>(
        _ body: @escaping @Sendable (any MementoStore<Kept.State>) throws(StateError) -> Result
    ) async throws(StateError) -> Result {
        let store = store
        return try await Blocking.run { () throws(StateError) in try body(store) }
    }

    private func failure(_ error: any Error) -> StateError {
        error as? StateError ?? .originator(title: title, cause: error)
    }
}

extension Caretaker: Sendable where Kept: Sendable {}
