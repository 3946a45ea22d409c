// States to bytes and back: deterministic CBOR, and state values for migrations.

internal import ArchiveFormat
internal import Mementos

/// Encodes states as CBOR, decodes them, and migrates old ones on the way.
struct CBORStateCoder: StateCoder {
    /// The bytes of `state`.
    func encode(_ state: some Encodable) throws -> [UInt8] {
        try CBOREncoder().encode(state)
    }

    /// The state that `bytes` of `version` are.
    ///
    /// - Parameter source: where they are from, for errors.
    func decode<State: Decodable>(
        _ type: State.Type, from bytes: [UInt8], version: Int, source: StateSource
    ) throws(StateError) -> State {
        let known = CBORStateCoder.version(of: type)
        if version > known { throw .newerVersion(source, version: version, known: known) }
        if version == known {
            do { return try CBORDecoder().decode(type, from: bytes) } catch {
                throw .undecodable(source, cause: error)
            }
        }
        let value = try migrated(type, bytes, version, known, source)
        do { return try decode(type, from: value) } catch { throw .undecodable(source, cause: error) }
    }

    private func migrated<State>(
        _ type: State.Type, _ bytes: [UInt8], _ version: Int, _ known: Int, _ source: StateSource
    ) throws(StateError) -> StateValue {
        let migrations = (type as? any VersionedState.Type)?.migrations ?? []
        guard let way = Migration.way(from: version, to: known, by: migrations) else {
            throw .noMigration(source, from: version, to: known)
        }
        var value: StateValue
        do { value = StateValue(try CBORValue(decoding: bytes)) } catch {
            throw .undecodable(source, cause: error)
        }
        for step in way {
            do { value = try step.apply(to: value, self) } catch {
                throw .failedMigration(source, from: step.from, cause: error)
            }
        }
        return value
    }

    /// The version that `type` writes.
    static func version<State>(of type: State.Type) -> Int {
        max(1, (type as? any VersionedState.Type)?.version ?? 1)
    }

    // MARK: StateCoder

    func value(of state: some Encodable) throws -> StateValue {
        StateValue(try CBORValue(decoding: CBOREncoder().encode(state)))
    }

    func decode<State: Decodable>(_ type: State.Type, from value: StateValue) throws -> State {
        try CBORDecoder().decode(type, from: CBORValue(value).encoded())
    }
}

extension StateValue {
    init(_ item: CBORValue) {
        switch item {
        case .unsigned(let value): self = Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
        case .negative(let complement): self = .integer(~Int64(clamping: complement))
        case .bytes(let bytes): self = .bytes(bytes)
        case .text(let text): self = .text(text)
        case .array(let items): self = .list(items.map(StateValue.init))
        case .map(let pairs):
            self = .fields(
                Dictionary(
                    pairs.map { (StateKey($0.key), StateValue($0.value)) }, uniquingKeysWith: { first, _ in first }))
        case .boolean(let value): self = .boolean(value)
        case .null: self = .null
        case .float(let value): self = .number(value)
        }
    }
}

extension StateKey {
    /// The key that `item` is; `Codable` values have no others but texts and integers.
    fileprivate init(_ item: CBORValue) {
        switch item {
        case .unsigned(let value): self = .integer(Int64(clamping: value))
        case .negative(let complement): self = .integer(~Int64(clamping: complement))
        case .text(let text): self = .text(text)
        default: self = .text("\(item)")
        }
    }
}

extension CBORValue {
    init(_ value: StateValue) {
        switch value {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = CBORValue(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .float(value)
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .bytes(bytes)
        case .list(let items): self = .array(items.map(CBORValue.init))
        case .fields(let fields):
            self = .map(
                fields.map { key, value in
                    switch key {
                    case .text(let text): (key: .text(text), value: CBORValue(value))
                    case .integer(let number): (key: CBORValue(number), value: CBORValue(value))
                    }
                })
        }
    }
}
