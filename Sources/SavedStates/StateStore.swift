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

    func save(_ state: State, label: String? = nil) throws(StateError) -> Memento {
        let bytes = try encoded(state, label)
        return try stating {
            try writer.exclusively { latest in try save(state, bytes, label: label, after: latest) }
        }
    }

    func begin(with state: State) throws(StateError) -> State? {
        let bytes = try encoded(state, nil)
        return try stating {
            try writer.exclusively { latest in
                if let latest { return try self.state(of: Memento(latest)) }
                _ = try save(state, bytes, label: nil, after: nil)
                return nil
            }
        }
    }

    /// Changes the latest state, or `first` if there is none, and saves it.
    ///
    /// - Throws: any error of `body` unchanged; otherwise `StateError`.
    func update<Result>(
        from first: State?, label: String?, _ body: (inout State) throws -> Result
    ) throws -> Result {
        try checkTitle()
        var cause: (any Error)?
        do throws(StateError) {
            return try stating {
                try writer.exclusively { latest in
                    guard var state = try latest.map({ try self.state(of: Memento($0)) }) ?? first else {
                        throw StateError.noSuchState(title: title)
                    }
                    let result: Result
                    do { result = try body(&state) } catch {
                        cause = error
                        throw error
                    }
                    _ = try save(state, encoded(state, label), label: label, after: latest)
                    return result
                }
            }
        } catch { throw cause ?? error }
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
        let (bytes, version) = try stating {
            let record = try archive.store.stateRecord(id)
            return (try archive.store.bytes(of: record), Int(record.version))
        }
        return try StateCoding(form: .cbor, source: .saved(id, title: memento.title))
            .decode(State.self, from: bytes, version: version)
    }

    func forget(_ mementos: [Memento]) throws(StateError) {
        try archive.forget(mementos)
    }

    private func checkTitle() throws(StateError) {
        let isPlain = title.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !title.isEmpty, isPlain else { throw .malformedTitle(title) }
    }
}
