// Encodes states, decodes them, and migrates old states and their parts.

internal import Foundation
package import Mementos

/// Encodes and decodes states of one form.
package struct StateCoding: Sendable {
    let form: StateForm
    /// The source of decoded states, for errors.
    var source = StateSource.file("")

    /// - Parameter source: the source of decoded states, for errors.
    package init(form: StateForm, source: StateSource = .file("")) {
        self.form = form
        self.source = source
    }

    /// The version with which `type` is saved.
    package static func version(of type: any Any.Type) -> Int {
        max(1, (type as? any VersionedState.Type)?.version ?? 1)
    }

    // MARK: Whole states

    /// The bytes of `state` without its own version.
    package func encode(_ state: some Encodable) throws -> [UInt8] { try form.encode(PartContent(state)) }

    /// The bytes of `state` with its version.
    func encodeMarked(_ state: some Encodable) throws -> [UInt8] { try form.encode(Part(state)) }

    /// Decodes the state of `version` in `bytes`, migrating it if needed.
    package func decode<State: Decodable>(
        _ type: State.Type, from bytes: [UInt8], version: Int
    ) throws(StateError) -> State {
        try decoding {
            if version == StateCoding.version(of: type) { return try content(type, from: bytes) }
            return try migrated(type, from: version) { try form.value(bytes) }
        }
    }

    /// Decodes the state in `bytes`, which include its version.
    func decodeMarked<State: Decodable>(_ type: State.Type, from bytes: [UInt8]) throws(StateError) -> State {
        try decoding { try form.decode(Part<State>.self, from: bytes, userInfo: userInfo).value }
    }

    private func decoding<State>(_ body: () throws -> State) throws(StateError) -> State {
        do { return try body() } catch { throw error as? StateError ?? .undecodable(source, type: nil, cause: error) }
    }

    // MARK: Versions

    /// Migrates the value `old` of `version` to `type`.
    private func migrated<Value: Decodable>(
        _ type: Value.Type, from version: Int, _ old: () throws -> StateValue
    ) throws -> Value {
        let known = StateCoding.version(of: type)
        if version > known { throw StateError.newerVersion(source, version: version, known: known) }
        let migrations = (type as? any VersionedState.Type)?.migrations ?? []
        guard let way = Migration.way(from: version, to: known, by: migrations) else {
            throw StateError.noMigration(source, from: version, to: known)
        }
        var value = try old()
        for step in way {
            do { value = try step.apply(to: value, self) } catch {
                throw error as? StateError ?? .failedMigration(source, from: step.from, cause: error)
            }
        }
        return try decoding { try self.content(type, from: form.encode(value)) }
    }

    // MARK: Parts

    /// Decodes a part, migrating it from its version if needed.
    func part<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        let known = StateCoding.version(of: type)
        guard known > 1 else {
            do { return try content(type, from: decoder) } catch let error as DecodingError {
                // A newer version may have a shape that this program does not know: report the version instead.
                if let members = try? decoder.container(keyedBy: PartKey.self) { try checkIsUnmarked(members) }
                throw error
            }
        }
        let members = try? decoder.container(keyedBy: PartKey.self)
        let version = try members?.decodeIfPresent(Int.self, forKey: .version) ?? 1
        if let members, version == known {
            guard members.contains(.content) else {
                return try Value(from: PartDecoder(decoder: decoder, coding: self, isMarked: true))
            }
            return try content(type, from: members.superDecoder(forKey: .content))
        }
        return try StateCoding(form: form, source: source.part(at: decoder.codingPath))
            .migrated(type, from: version) { try form.value(of: decoder).unmarked }
    }

    /// Decodes a value of the present version of its type.
    func content<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        if StateCoding.isPlain(type) { return try decoder.singleValueContainer().decode(type) }
        return try Value(from: PartDecoder(decoder: decoder, coding: self))
    }

    private func content<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try form.decode(PartContent<Value>.self, from: bytes, userInfo: userInfo).value
    }

    /// Checks that a value of a type without versions has no version.
    ///
    /// - Throws: `StateError.newerVersion` if it has one.
    func checkIsUnmarked(_ members: KeyedDecodingContainer<PartKey>) throws {
        guard let version = try members.decodeIfPresent(Int.self, forKey: .version), version > 1 else { return }
        throw StateError.newerVersion(source.part(at: members.codingPath), version: version, known: 1)
    }

    // MARK: Plain values

    /// Whether values of the type have no parts, or the coders encode them specially.
    static func isPlain(_ type: any Any.Type) -> Bool { plain.contains(ObjectIdentifier(type)) }

    private static let plain = Set(
        ([
            Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            Int128.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Data.self,
            Date.self, Decimal.self, URL.self,
        ] as [any Any.Type]).map { ObjectIdentifier($0) })

    // MARK: Passing the coding to decoders

    private static let key = CodingUserInfoKey(rawValue: "archiver.states")

    private var userInfo: [CodingUserInfoKey: any Sendable] { StateCoding.key.map { [$0: self] } ?? [:] }

    /// The coding that created `decoder`.
    static func of(_ decoder: any Decoder) throws -> StateCoding {
        guard let coding = key.flatMap({ decoder.userInfo[$0] }) as? StateCoding else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "parts can be decoded only within states"))
        }
        return coding
    }
}

extension StateCoding: StateCoder {
    package func value(of state: some Encodable) throws -> StateValue { try form.value(encode(state)) }

    package func decode<State: Decodable>(_ type: State.Type, from value: StateValue) throws -> State {
        try content(type, from: form.encode(value))
    }
}
