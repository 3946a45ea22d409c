// The two forms of a state: CBOR in an archive, JSON in a file.

internal import ArchiveFormat
internal import Foundation
internal import Mementos

package enum StateForm: Sendable {
    case cbor, json

    func encode(_ value: some Encodable) throws -> [UInt8] {
        switch self {
        case .cbor: return try CBOREncoder().encode(value)
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: NonFinite.infinity, negativeInfinity: NonFinite.negativeInfinity, nan: NonFinite.nan)
            return [UInt8](try encoder.encode(value))
        }
    }

    func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> Value {
        switch self {
        case .cbor: return try CBORDecoder(userInfo: userInfo).decode(type, from: bytes)
        case .json:
            let decoder = JSONDecoder()
            decoder.userInfo = userInfo
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: NonFinite.infinity, negativeInfinity: NonFinite.negativeInfinity, nan: NonFinite.nan)
            return try decoder.decode(type, from: Data(bytes))
        }
    }

    func encode(_ value: StateValue) throws -> [UInt8] {
        switch self {
        case .cbor: CBORValue(value).encoded()
        case .json: try encode(JSONValue(value))
        }
    }

    func value(_ bytes: [UInt8]) throws -> StateValue {
        switch self {
        case .cbor: StateValue(try CBORValue(decoding: bytes))
        case .json: try decode(JSONValue.self, from: bytes).value
        }
    }

    /// Decodes the value at which `decoder`, a decoder of this form, is positioned.
    func value(of decoder: any Decoder) throws -> StateValue {
        switch self {
        case .cbor: StateValue(try CBORValue(of: decoder))
        case .json: try JSONValue(from: decoder).value
        }
    }
}
