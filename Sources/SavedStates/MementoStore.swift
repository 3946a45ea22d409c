// Where a caretaker keeps states: what programs' states and directories have in common.

internal import Archives

/// Keeps the states of one originator.
///
/// All methods block.
protocol MementoStore<State>: Sendable {
    associatedtype State: Sendable

    /// The name under which the states are kept.
    var title: String { get }

    /// Saves `state`, unless the latest is equal and is not to get another label.
    func save(_ state: State, label: String?) throws(StateError) -> Memento

    /// Saves `state` where it is the first.
    ///
    /// - Returns: the latest state, where there is one already; `state` is then not saved.
    func begin(with state: State) throws(StateError) -> State?

    /// Captures and saves in one, where the store can see the state itself; nil where only the originator can.
    func capture(label: String?) throws(StateError) -> Memento?

    /// All that is kept, the oldest first.
    func history() throws(StateError) -> [Memento]

    /// The one that `selector` names.
    func memento(_ selector: SnapshotSelector) throws(StateError) -> Memento

    /// The state that `memento` stands for.
    func state(of memento: Memento) throws(StateError) -> State

    /// Forgets `mementos`.
    func forget(_ mementos: [Memento]) throws(StateError)
}

extension MementoStore {
    func capture(label: String?) throws(StateError) -> Memento? { nil }
}
