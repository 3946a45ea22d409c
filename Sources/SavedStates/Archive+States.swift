// Saves and loads programs' states by title, and reads saved states of any type.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import FileIO
public import Foundation
internal import Keeping
public import Roots

extension Archive {
    /// Opens the archive in the directory at `url`.
    ///
    /// - Throws: as `open(_:creating:)` with a `FilePath`; `noArchive` if the URL is not a file URL.
    public static func open(_ url: URL, creating: Bool = false) throws(ArchiverError) -> Archive {
        guard url.isFileURL else {
            throw ArchiverError(
                .noArchive, "\(url.absoluteString) is not on this machine: an archive is a directory",
                remedy: "give the URL of a directory, such as URL(filePath: \"/var/states\")")
        }
        return try open(url.path(percentEncoded: false), creating: creating)
    }

    // MARK: Saving and loading

    /// Saves `state` as the newest under `title`.
    ///
    /// When this returns, the state is durable. If it throws, nothing has changed. A state equal to the latest one is
    /// not stored again, unless it gets another label.
    ///
    /// - Parameters:
    ///   - title: the name under which the program saves its states, such as "Best Game Ever".
    ///   - label: the user's name for this state.
    /// - Throws: `StateError`: `unencodable` if the state cannot be encoded, `archive` if the archive failed…
    @available(*, noasync, message: "use `await`; at the top level of main.swift, in an async function")
    @discardableResult
    public func save<State: Codable & Sendable>(
        _ state: State, as title: String, label: String? = nil
    ) throws(StateError) -> Memento {
        try StateStore(title: title, archive: self).save(state, label: label)
    }

    /// The state last saved under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` if there is none, `undecodable` if it is not a `State`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, as title: String, at selector: SnapshotSelector = .latest
    ) throws(StateError) -> State {
        try load(as: title, at: selector)
    }

    /// The state last saved under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` if there is none, `undecodable` if it is not a `State`…
    public func load<State: Codable & Sendable>(
        as title: String, at selector: SnapshotSelector = .latest
    ) throws(StateError) -> State {
        let store = StateStore<State>(title: title, archive: self)
        return try store.state(of: store.memento(selector))
    }

    /// The state of `memento`.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if it was forgotten…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ memento: Memento
    ) throws(StateError) -> State {
        try load(memento)
    }

    /// The state of `memento`.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` if it was forgotten…
    public func load<State: Codable & Sendable>(_ memento: Memento) throws(StateError) -> State {
        try load(as: memento.title, at: SnapshotSelector(memento))
    }

    /// The state last saved under `title`; at the first start, saves and returns `state`.
    ///
    /// If several programs start for the first time at once, one saves its state, and the others load that.
    ///
    /// - Throws: `StateError`: `undecodable` if the saved state is not a `State`, any `StateError` of `state`…
    public func load<State: Codable & Sendable>(
        as title: String, startingFrom state: @autoclosure () throws -> State
    ) throws(StateError) -> State {
        do throws(StateError) { return try load(State.self, as: title) } catch {
            guard case .noSuchState = error else { throw error }
        }
        let first: State
        do { first = try state() } catch { throw error as? StateError ?? .originator(title: title, cause: error) }
        return try StateStore(title: title, archive: self).begin(with: first) ?? first
    }

    /// The state last saved under `title`; at the first start, saves and returns `state`.
    ///
    /// If several programs start for the first time at once, one saves its state, and the others load that.
    ///
    /// - Throws: `StateError`: `undecodable` if the saved state is not a `State`, any `StateError` of `state`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, as title: String, startingFrom state: @autoclosure () throws -> State
    ) throws(StateError) -> State {
        try load(as: title, startingFrom: state())
    }

    /// The state last saved under `title`; at the first start, saves and returns the one in the JSON file at `url`.
    ///
    /// - Throws: `StateError`: `file` if the file cannot be read, `undecodable` if either is not a `State`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, as title: String, startingFrom url: URL
    ) throws(StateError) -> State {
        try load(as: title, startingFrom: StateFile.load(type, from: url))
    }

    // MARK: Changing

    /// Changes the state last saved under `title` and saves it.
    ///
    /// No other program or thread can save under the title in between, so no change is lost.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: changes the state. If it throws, nothing is saved. Others wait for it. It must not save under the
    ///     title itself: that fails with `titleInUse`.
    /// - Returns: the result of `body`.
    /// - Throws: any error of `body`; `StateError`: `noSuchState` if there is no state…
    @available(*, noasync, message: "use `await`; at the top level of main.swift, in an async function")
    @discardableResult
    public func update<State: Codable & Sendable, Result>(
        _ title: String, label: String? = nil, _ body: (inout State) throws -> Result
    ) throws -> Result {
        try StateStore(title: title, archive: self).update(from: nil, label: label, body)
    }

    /// Changes the state last saved under `title`, or `state` at the first start, and saves it.
    ///
    /// No other program or thread can save under the title in between, so no change is lost.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: changes the state. If it throws, nothing is saved. Others wait for it. It must not save under the
    ///     title itself: that fails with `titleInUse`.
    /// - Returns: the result of `body`.
    /// - Throws: any error of `body`; `StateError`.
    @available(*, noasync, message: "use `await`; at the top level of main.swift, in an async function")
    @discardableResult
    public func update<State: Codable & Sendable, Result>(
        _ title: String, startingFrom state: @autoclosure () throws -> State, label: String? = nil,
        _ body: (inout State) throws -> Result
    ) throws -> Result {
        let first: State
        do { first = try state() } catch { throw StateError.originator(title: title, cause: error) }
        return try StateStore(title: title, archive: self).update(from: first, label: label, body)
    }

    // MARK: History

    /// The states saved under `title`, oldest first.
    ///
    /// - Throws: `StateError` if the archive cannot be read.
    public func history(of title: String) throws(StateError) -> [Memento] {
        try stating { try store.catalogue.states(.init(of: title)).map(Memento.init) }
    }

    /// The titles of saved states, in alphabetical order.
    ///
    /// - Throws: `StateError` if the archive cannot be read.
    public func titles() throws(StateError) -> [StateTitle] {
        try stating { try store.catalogue.stateTitles() }
    }

    /// Forgets states: they are no longer listed or loaded, but their bytes stay in the archive until it is pruned.
    ///
    /// - Throws: `StateError`: `archive` with the code `pinned` if one is pinned; then none is forgotten.
    public func forget(_ mementos: [Memento]) throws(StateError) {
        let names = Dictionary(mementos.map { ($0.id, "state \($0.shortID) of '\($0.title)'") }) { first, _ in first }
        try stating {
            if names.isEmpty { return }
            try whileKeeping {
                try requireUnpinned(names.keys) { names[$0] ?? $0.hex }
                try store.forget(Set(names.keys))
            }
        }
    }
}

// MARK: - Reading states of any type

extension Archive {
    /// The content of `state`, with its version if that is not 1.
    ///
    /// - Throws: `ArchiverError` with the code `damaged` if its bytes are lost, wrong, or not a CBOR item; `system` if
    ///   it is too large to show.
    package func content(of state: ListedState) throws(ArchiverError) -> StateContent {
        try facing {
            let record = try store.stateRecord(state.id)
            guard record.content.size <= UInt64(StateContent.bytesLimit) else {
                throw ArchiverError(
                    .system,
                    "the state \(state.id.short) of '\(state.title)' has \(record.content.size) bytes, more than the "
                        + "\(StateContent.bytesLimit) that archiver can show",
                    remedy: "load it with the program that saved it")
            }
            let bytes = try store.bytes(of: record)
            do { return try StateContent(bytes, version: state.version) } catch {
                throw ArchiverError(
                    .damaged, "the state \(state.id.short) of '\(state.title)' cannot be read: \(error)",
                    remedy: "check the archive and its data; other states stay usable")
            }
        }
    }

    /// The state's record as JSON with sorted keys.
    package func rawJSON(of state: ListedState) throws(ArchiverError) -> String {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(store.stateRecord(state.id)), as: UTF8.self)
        }
    }
}
