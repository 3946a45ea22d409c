// Stores a program's states under one title.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Roots

/// The states of one title in an archive.
struct StateStore<State: Codable & Sendable>: MementoStore {
    let title: String
    let archive: Archive
    var retention = StateRetention.everything
    /// Whether a cache saves: only it uses titles that begin like this one.
    var isOfCache = false

    func save(_ state: State, label: String? = nil) throws(StateError) -> Memento {
        let bytes = try encoded(state, label)
        return try stating {
            try writer.exclusively { latest in try save(state, bytes, label: label, after: latest) }
        }
    }

    func saveInTurn(_ state: State, label: String?) async throws(StateError) -> Memento {
        let bytes = try await Blocking.run(orThrow: .cancelled(title: title)) { [self] () throws(StateError) in
            try encoded(state, label)
        }
        return try await stating {
            try await writer.exclusively { [self] latest in try save(state, bytes, label: label, after: latest) }
        }
    }

    func begin(with state: State) throws(StateError) -> State? {
        let bytes = try encoded(state, nil)
        return try stating { try writer.exclusively { latest in try begin(with: state, bytes, latest) } }
    }

    func beginInTurn(with state: State) async throws(StateError) -> State? {
        let bytes = try await Blocking.run(orThrow: .cancelled(title: title)) { [self] () throws(StateError) in
            try encoded(state, nil)
        }
        return try await stating {
            try await writer.exclusively { [self] latest in try begin(with: state, bytes, latest) }
        }
    }

    private func begin(with state: State, _ bytes: [UInt8], _ latest: ListedState?) throws -> State? {
        if let latest { return try self.state(of: Memento(latest)) }
        _ = try save(state, bytes, label: nil, after: nil)
        return nil
    }

    /// Changes the latest state, or `first` if there is none, and saves it.
    ///
    /// - Throws: any error of `body` unchanged; otherwise `StateError`.
    func update<Result>(
        from first: State?, label: String?, _ body: (inout State) throws -> Result
    ) throws -> Result {
        try checkTitle()
        do {
            return try writer.exclusively { latest in try update(latest, from: first, label: label, body) }
        } catch { throw unwrapped(error) }
    }

    /// Changes the latest state, or `first` if there is none, and saves it; waits for the title without a thread.
    ///
    /// - Throws: any error of `body` unchanged; otherwise `StateError`.
    func updateInTurn<Result: Sendable>(
        from first: State?, label: String?, _ body: @escaping @Sendable (inout State) throws -> Result
    ) async throws -> Result {
        try checkTitle()
        do {
            return try await writer.exclusively { [self] latest in
                try update(latest, from: first, label: label, body)
            }
        } catch { throw unwrapped(error) }
    }

    /// An error of the body of an update, which reaches the caller as it is.
    private struct OwnError: Error {
        let cause: any Error
    }

    private func update<Result>(
        _ latest: ListedState?, from first: State?, label: String?, _ body: (inout State) throws -> Result
    ) throws -> Result {
        guard var state = try latest.map({ try self.state(of: Memento($0)) }) ?? first else {
            throw StateError.noSuchState(title: title)
        }
        let result: Result
        do { result = try body(&state) } catch { throw OwnError(cause: error) }
        _ = try save(state, encoded(state, label), label: label, after: latest)
        return result
    }

    private func unwrapped(_ error: any Error) -> any Error {
        (error as? OwnError)?.cause ?? error as? StateError ?? StateError.archive(ArchiverError(any: error))
    }

    private var version: Int { StateCoding.version(of: State.self) }

    private var writer: StateWriter {
        StateWriter(store: archive.store, title: title, type: "\(State.self)", version: version)
    }

    /// The bytes of `state`, after checking the title and the label.
    private func encoded(_ state: State, _ label: String?) throws(StateError) -> [UInt8] {
        try checkTitle()
        if let label { try stating { try SnapshotSelector.checkLabel(label) } }
        do { return try StateCoding(form: .cbor).encode(state) } catch {
            throw .unencodable(title: title, cause: error)
        }
    }

    private func save(
        _ state: State, _ bytes: [UInt8], label: String?, after latest: ListedState?
    ) throws -> Memento {
        let saved = try writer.save(bytes, label: label, after: latest) { old in
            (try? StateCoding(form: .cbor).decode(State.self, from: old, version: version))
                .map { StateStore.areEqual($0, state) } ?? false
        }
        // The save has succeeded, even if older states cannot be forgotten.
        if saved.id != latest?.id {
            try? archive.forgetStates(of: title, keeping: retention, after: latest?.time, saved: saved.time)
        }
        return Memento(saved)
    }

    /// Whether the two are equal; false for states that are not `Equatable`.
    private static func areEqual(_ left: State, _ right: State) -> Bool {
        func equal<Value: Equatable>(_ left: Value) -> Bool { left == right as? Value }
        return (left as? any Equatable).map { equal($0) } ?? false
    }

    func history() throws(StateError) -> [Memento] {
        try stating { try archive.store.catalogue.states(.init(of: title)).map(Memento.init) }
    }

    func memento(_ selector: SnapshotSelector) throws(StateError) -> Memento {
        let found: ListedState?
        do throws(ArchiverError) { found = try archive.state(selector, titled: title) } catch {
            switch error.code {
            case .noSuchSnapshot, .ambiguousSelector: throw .noSuchSelection(title: title, error)
            default: throw .archive(error)
            }
        }
        guard let found else { throw .noSuchState(title: title) }
        return Memento(found)
    }

    func state(of memento: Memento) throws(StateError) -> State {
        let id = StateID(memento.id)
        let (bytes, record) = try stating {
            let record = try archive.store.stateRecord(id)
            return (try archive.store.bytes(of: record), record)
        }
        do {
            return try StateCoding(form: .cbor, source: .saved(id, title: memento.title))
                .decode(State.self, from: bytes, version: Int(record.version))
        } catch .undecodable(let source, _, let cause) {
            throw .undecodable(source, type: record.type, cause: cause)
        }
    }

    func forget(_ mementos: [Memento]) throws(StateError) {
        try archive.forget(mementos)
    }

    private func checkTitle() throws(StateError) { try StateTitle.check(title, isOfCache: isOfCache) }
}

extension StateTitle {
    /// Checks that states can be saved under `title`.
    ///
    /// - Parameter isOfCache: whether a cache saves: only it uses titles that begin like its own.
    static func check(_ title: String, isOfCache: Bool = false) throws(StateError) {
        let isPlain = title.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        let isFree = isOfCache || !canonical(title).hasPrefix(StateCacheTitle.prefix)
        guard !title.isEmpty, isPlain, isFree else { throw .malformedTitle(title) }
    }
}
