// Programs' states in an archive: saving and loading any Codable value by name, and looking at states of whatever type.

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
    /// - Throws: see `open(_:creating:)` of a `FilePath`; `noArchive` where the URL is not that of a file.
    public static func open(_ url: URL, creating: Bool = false) throws(ArchiverError) -> Archive {
        guard url.isFileURL else {
            throw ArchiverError(
                .noArchive, "\(url.absoluteString) is not on this machine: an archive is a directory",
                remedy: "give the URL of a directory, such as URL(filePath: \"/var/states\")")
        }
        return try open(url.path(percentEncoded: false), creating: creating)
    }

    // MARK: Saving and loading

    /// Saves `state` as the newest under `title`: when this returns it is durable, where it throws nothing has changed.
    ///
    /// A state equal to the latest one is not stored again, unless it is to get another label.
    ///
    /// - Parameters:
    ///   - title: the name under which the program keeps its states, such as "Best Game Ever".
    ///   - label: the user's name for this one state.
    @discardableResult
    public func save<State: Codable & Sendable>(
        _ state: State, as title: String, label: String? = nil
    ) throws(StateError) -> Memento {
        try StateStore(title: title, archive: self).save(state, label: label)
    }

    /// The state saved last under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` where there is none, `undecodable` where it is no `State`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ title: String, at selector: SnapshotSelector = .latest
    ) throws(StateError) -> State {
        try load(title, at: selector)
    }

    /// The state saved last under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` where there is none, `undecodable` where it is no `State`…
    public func load<State: Codable & Sendable>(
        _ title: String, at selector: SnapshotSelector = .latest
    ) throws(StateError) -> State {
        let store = StateStore<State>(title: title, archive: self)
        return try store.state(of: store.memento(selector))
    }

    /// The state that `memento` stands for.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` where it was forgotten…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ memento: Memento
    ) throws(StateError) -> State {
        try load(memento)
    }

    /// The state that `memento` stands for.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` where it was forgotten…
    public func load<State: Codable & Sendable>(_ memento: Memento) throws(StateError) -> State {
        try load(memento.title, at: SnapshotSelector(memento))
    }

    /// The state saved last under `title`; at the first start, `state`, which is saved then.
    ///
    /// Of several programs that start first at the same time, one begins with its state, and the others go on from there.
    public func load<State: Codable & Sendable>(
        _ title: String, startingFrom state: @autoclosure () throws -> State
    ) throws(StateError) -> State {
        do throws(StateError) { return try load(State.self, title) } catch {
            guard case .noSuchState = error else { throw error }
        }
        let first: State
        do { first = try state() } catch { throw error as? StateError ?? .originator(title: title, cause: error) }
        return try StateStore(title: title, archive: self).begin(with: first) ?? first
    }

    /// The state saved last under `title`; at the first start, the one in the JSON file at `url`, which is saved then.
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ title: String, startingFrom url: URL
    ) throws(StateError) -> State {
        try load(title, startingFrom: StateFile.load(type, from: url))
    }

    // MARK: Changing

    /// Changes the state saved last under `title`, and saves it: nobody else saves under the title meanwhile, no other
    /// program and no other thread, so that no change is lost.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: alters the state; where it throws, nothing is saved. Others wait for it. It must save nothing under the
    ///     title itself: that fails with `titleInUse`.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `StateError`: `noSuchState` where there is none…
    @discardableResult
    public func update<State: Codable & Sendable, Result>(
        _ title: String, label: String? = nil, _ body: (inout State) throws -> Result
    ) throws -> Result {
        try StateStore(title: title, archive: self).update(from: nil, label: label, body)
    }

    /// Changes the state saved last under `title`, at the first start `state`, and saves it: nobody else saves under the
    /// title meanwhile, no other program and no other thread, so that no change is lost.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: alters the state; where it throws, nothing is saved. Others wait for it. It must save nothing under the
    ///     title itself: that fails with `titleInUse`.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `StateError`.
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

    /// The states saved under `title`, the oldest first.
    public func history(of title: String) throws(StateError) -> [Memento] {
        try stating { try store.catalogue.states(.init(of: title)).map(Memento.init) }
    }

    /// The titles that states are saved under, in alphabetical order.
    public func titles() throws(StateError) -> [StateTitle] {
        try stating { try store.catalogue.stateTitles() }
    }

    /// Forgets states: they are neither listed nor loaded any more; their bytes stay in the archive.
    ///
    /// - Throws: `StateError`: `archive` with the code `pinned` where one is pinned; then none is forgotten.
    public func forget(_ mementos: [Memento]) throws(StateError) {
        let names = Dictionary(mementos.map { ($0.id, "state \($0.short) of '\($0.title)'") }) { first, _ in first }
        try stating {
            if names.isEmpty { return }
            try whileKeeping {
                try requireUnpinned(names.keys) { names[$0] ?? $0.hex }
                try store.forget(Set(names.keys))
            }
        }
    }
}

// MARK: - Looking at states whatever type they have

extension Archive {
    /// What `state` holds, with its version where that is not 1.
    ///
    /// - Throws: `ArchiverError` of the code `damaged` where its bytes are lost, wrong, or no CBOR item.
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
                    remedy: "see 'archiver check --data', and 'archiver list --states' for other states")
            }
        }
    }

    /// The state's stored record, rendered as JSON with sorted keys.
    package func rawJSON(of state: ListedState) throws(ArchiverError) -> String {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(store.stateRecord(state.id)), as: UTF8.self)
        }
    }
}
