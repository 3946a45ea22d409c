// Encoding states, decoding them, and migrating old ones on the way, parts of them as well.

internal import Foundation
package import Mementos

/// How states of one form are encoded and decoded.
package struct StateCoding: Sendable {
    let form: StateForm
    /// Where decoded states are from, for errors.
    var source = StateSource.file("")

    /// - Parameter source: where what is decoded comes from, for errors.
    package init(form: StateForm, source: StateSource = .file("")) {
        self.form = form
        self.source = source
    }

    /// The version that `type` writes.
    package static func version(of type: any Any.Type) -> Int {
        max(1, (type as? any VersionedState.Type)?.version ?? 1)
    }

    // MARK: Whole states

    /// The bytes of `state` without its own version.
    package func encode(_ state: some Encodable) throws -> [UInt8] { try form.encode(PartContent(state)) }

    /// The bytes of `state` with its version.
    func encodeMarked(_ state: some Encodable) throws -> [UInt8] { try form.encode(Part(state)) }

    /// The state that `bytes` of `version` are.
    package func decode<State: Decodable>(
        _ type: State.Type, from bytes: [UInt8], version: Int
    ) throws(StateError) -> State {
        try decoding {
            if version == StateCoding.version(of: type) { return try content(type, from: bytes) }
            return try migrated(type, from: version) { try form.value(bytes) }
        }
    }

    /// The state that `bytes` are, of the version that they say.
    func decodeMarked<State: Decodable>(_ type: State.Type, from bytes: [UInt8]) throws(StateError) -> State {
        try decoding { try form.decode(Part<State>.self, from: bytes, userInfo: userInfo).value }
    }

    private func decoding<State>(_ body: () throws -> State) throws(StateError) -> State {
        do { return try body() } catch { throw error as? StateError ?? .undecodable(source, cause: error) }
    }

    // MARK: Versions

    /// The value of `type` that `old` of `version` becomes.
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

    /// The part before `decoder`, of whatever version it says.
    func part<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        let known = StateCoding.version(of: type)
        guard known > 1 else {
            do { return try content(type, from: decoder) } catch let error as DecodingError {
                // What is of a newer version need not have the shape that this program knows.
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

    /// The value before `decoder`, which has the form of its type.
    func content<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        if StateCoding.isPlain(type) { return try decoder.singleValueContainer().decode(type) }
        return try Value(from: PartDecoder(decoder: decoder, coding: self))
    }

    private func content<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try form.decode(PartContent<Value>.self, from: bytes, userInfo: userInfo).value
    }

    /// - Throws: `StateError.newerVersion` where a version stands with what is to be of a type without versions.
    func checkIsUnmarked(_ members: KeyedDecodingContainer<PartKey>) throws {
        guard let version = try members.decodeIfPresent(Int.self, forKey: .version), version > 1 else { return }
        throw StateError.newerVersion(source.part(at: members.codingPath), version: version, known: 1)
    }

    // MARK: Plain values

    /// Whether values of the type have no parts, or a form that the coders know themselves.
    static func isPlain(_ type: any Any.Type) -> Bool { plain.contains(ObjectIdentifier(type)) }

    private static let plain = Set(
        ([
            Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            Int128.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Data.self,
            Date.self, Decimal.self, URL.self,
        ] as [any Any.Type]).map { ObjectIdentifier($0) })

    // MARK: On the way

    private static let key = CodingUserInfoKey(rawValue: "archiver.states")

    private var userInfo: [CodingUserInfoKey: any Sendable] { StateCoding.key.map { [$0: self] } ?? [:] }

    /// The coding that `decoder` was made for.
    static func of(_ decoder: any Decoder) throws -> StateCoding {
        guard let coding = key.flatMap({ decoder.userInfo[$0] }) as? StateCoding else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "parts are decoded within states only"))
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
