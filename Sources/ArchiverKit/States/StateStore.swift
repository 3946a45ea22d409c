// A program's states under one title.

internal import ArchiveFormat
internal import ArchiveStorage

/// Keeps the states of one title in an archive.
struct StateStore<State: Codable & Sendable>: MementoStore {
    let title: String
    let archive: Archive

    func save(_ state: State, label: String? = nil) throws(StateError) -> Memento {
        try checkTitle()
        let coder = CBORStateCoder()
        let bytes: [UInt8]
        do { bytes = try coder.encode(state) } catch { throw .unencodable(title: title, cause: error) }
        return try stating {
            if let label { try SnapshotSelector.checkLabel(label) }
            let version = CBORStateCoder.version(of: State.self)
            let writer = StateWriter(store: archive.store, title: title, type: "\(State.self)", version: version)
            let saved = try writer.save(bytes, label: label) { old in
                (try? coder.decode(State.self, from: old, version: version, source: .file("")))
                    .map { StateStore.areEqual($0, state) } ?? false
            }
            return Memento(saved)
        }
    }

    /// Whether the two are equal; states that cannot be compared are not.
    private static func areEqual(_ left: State, _ right: State) -> Bool {
        func equal<Value: Equatable>(_ left: Value) -> Bool { left == right as? Value }
        return (left as? any Equatable).map { equal($0) } ?? false
    }

    func history() throws(StateError) -> [Memento] {
        try stating { try archive.store.catalogue.states(.init(of: title)).map(Memento.init) }
    }

    func memento(_ selector: SnapshotSelector) throws(StateError) -> Memento {
        let found: SavedState?
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
        return try CBORStateCoder().decode(
            State.self, from: bytes, version: version, source: .saved(id, title: memento.title))
    }

    func forget(_ mementos: [Memento]) throws(StateError) {
        try stating { try archive.store.forget(Set(mementos.map(\.id))) }
    }

    private func checkTitle() throws(StateError) {
        let isPlain = title.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !title.isEmpty, isPlain else { throw .malformedTitle(title) }
    }
}
