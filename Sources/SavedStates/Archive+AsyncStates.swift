// Saving and loading states from async code: nothing blocks the caller's thread. A cancelled task stops waiting, for a
// title or for a thread, and gets an error with the code `cancelled`; work that has begun runs to its end.

public import Archives
public import Foundation

extension Archive {
    /// Saves `state` as the newest under `title`.
    ///
    /// When this returns, the state is durable. If it throws, nothing has changed. A state equal to the latest one is
    /// not stored again, unless it gets another label. If the task is cancelled while others save under the title, the
    /// error has the code `cancelled`.
    ///
    /// - Parameters:
    ///   - title: the name under which the program saves its states, such as "Best Game Ever".
    ///   - label: the user's name for this state.
    /// - Throws: `StateError`: `unencodable` if the state cannot be encoded, `archive` if the archive failed…
    @discardableResult
    public func save<State: Codable & Sendable>(
        _ state: State, as title: String, label: String? = nil
    ) async throws(StateError) -> Memento {
        try await StateStore(title: title, archive: self).saveInTurn(state, label: label)
    }

    /// The state last saved under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` if there is none, `undecodable` if it is not a `State`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, as title: String, at selector: SnapshotSelector = .latest
    ) async throws(StateError) -> State {
        try await load(as: title, at: selector)
    }

    /// The state last saved under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` if there is none, `undecodable` if it is not a `State`…
    public func load<State: Codable & Sendable>(
        as title: String, at selector: SnapshotSelector = .latest
    ) async throws(StateError) -> State {
        let store = StateStore<State>(title: title, archive: self)
        return try await Blocking.run(orThrow: .cancelled(title: title)) { () throws(StateError) in
            try store.state(of: store.memento(selector))
        }
    }

    /// The state of `memento`.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if it was forgotten…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ memento: Memento
    ) async throws(StateError) -> State {
        try await load(memento)
    }

    /// The state of `memento`.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if it was forgotten…
    public func load<State: Codable & Sendable>(_ memento: Memento) async throws(StateError) -> State {
        try await load(as: memento.title, at: SnapshotSelector(memento))
    }

    /// The state last saved under `title`; at the first start, saves and returns `state`.
    ///
    /// If several programs start for the first time at once, one saves its state, and the others load that.
    ///
    /// - Throws: `StateError`: `undecodable` if the saved state is not a `State`, any `StateError` of `state`…
    public func load<State: Codable & Sendable>(
        as title: String, startingFrom state: @autoclosure () throws -> State
    ) async throws(StateError) -> State {
        do throws(StateError) { return try await load(State.self, as: title) } catch {
            guard case .noSuchState = error else { throw error }
        }
        let first: State
        do { first = try state() } catch { throw error as? StateError ?? .originator(title: title, cause: error) }
        return try await StateStore(title: title, archive: self).beginInTurn(with: first) ?? first
    }

    /// The state last saved under `title`; at the first start, saves and returns `state`.
    ///
    /// If several programs start for the first time at once, one saves its state, and the others load that.
    ///
    /// - Throws: `StateError`: `undecodable` if the saved state is not a `State`, any `StateError` of `state`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, as title: String, startingFrom state: @autoclosure () throws -> State
    ) async throws(StateError) -> State {
        try await load(as: title, startingFrom: state())
    }

    /// The state last saved under `title`; at the first start, saves and returns the one in the JSON file at `url`.
    ///
    /// - Throws: `StateError`: `file` if the file cannot be read, `undecodable` if either is not a `State`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, as title: String, startingFrom url: URL
    ) async throws(StateError) -> State {
        do throws(StateError) { return try await load(type, as: title) } catch {
            guard case .noSuchState = error else { throw error }
        }
        let first = try await Blocking.run(orThrow: .cancelled(title: title)) { () throws(StateError) in
            try StateFile.load(State.self, from: url)
        }
        return try await StateStore(title: title, archive: self).beginInTurn(with: first) ?? first
    }

    /// Changes the state last saved under `title` and saves it.
    ///
    /// No other program, thread or task can save under the title in between, so no change is lost. The task waits for
    /// the others without a thread; if it is cancelled meanwhile, the error has the code `cancelled`.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: changes the state, on a thread of the library. If it throws, nothing is saved. Others wait for it. It
    ///     must not save under the title itself: that fails with `titleInUse`.
    /// - Returns: the result of `body`.
    /// - Throws: any error of `body`; `StateError`: `noSuchState` if there is no state…
    @discardableResult
    public func update<State: Codable & Sendable, Result: Sendable>(
        _ title: String, label: String? = nil, _ body: @escaping @Sendable (inout State) throws -> Result
    ) async throws -> Result {
        try await StateStore(title: title, archive: self).updateInTurn(from: nil, label: label, body)
    }

    /// Changes the state last saved under `title`, or `state` at the first start, and saves it.
    ///
    /// No other program, thread or task can save under the title in between, so no change is lost. The task waits for
    /// the others without a thread; if it is cancelled meanwhile, the error has the code `cancelled`.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: changes the state, on a thread of the library. If it throws, nothing is saved. Others wait for it. It
    ///     must not save under the title itself: that fails with `titleInUse`.
    /// - Returns: the result of `body`.
    /// - Throws: any error of `body`; `StateError`.
    @discardableResult
    public func update<State: Codable & Sendable, Result: Sendable>(
        _ title: String, startingFrom state: @autoclosure () throws -> State, label: String? = nil,
        _ body: @escaping @Sendable (inout State) throws -> Result
    ) async throws -> Result {
        let first: State
        do { first = try state() } catch { throw StateError.originator(title: title, cause: error) }
        return try await StateStore(title: title, archive: self).updateInTurn(from: first, label: label, body)
    }
}
