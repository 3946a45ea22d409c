// The common interface of the stores of programs' states and of directories.

internal import Archives

/// Stores the states of one originator.
///
/// All methods block, except those that are async: these wait for others without a thread.
protocol MementoStore<State>: Sendable {
    associatedtype State: Sendable

    /// The title of the states.
    var title: String { get }

    /// Saves `state`, unless the latest is equal and gets no other label.
    func saveInTurn(_ state: State, label: String?) async throws(StateError) -> Memento

    /// Saves `state` if it is the first.
    ///
    /// - Returns: the latest state if there is one already; then `state` is not saved.
    func beginInTurn(with state: State) async throws(StateError) -> State?

    /// Captures and saves in one step, if the store can read the state itself; nil if only the originator can.
    func capture(label: String?) throws(StateError) -> Memento?

    /// All saved states, oldest first.
    func history() throws(StateError) -> [Memento]

    /// The saved state that `selector` names.
    func memento(_ selector: SnapshotSelector) throws(StateError) -> Memento

    /// The state of `memento`.
    func state(of memento: Memento) throws(StateError) -> State

    /// Forgets `mementos`.
    func forget(_ mementos: [Memento]) throws(StateError)
}

extension MementoStore {
    func capture(label: String?) throws(StateError) -> Memento? { nil }
}
