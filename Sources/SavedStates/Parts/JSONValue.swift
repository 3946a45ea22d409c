// Converts state values from and to JSON without losing digits of numbers.

internal import Foundation
internal import Mementos

/// A state value that is decoded from JSON or encoded as JSON.
struct JSONValue {
    let value: StateValue

    init(_ value: StateValue) { self.value = value }
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Key.self) {
            var fields: [StateKey: StateValue] = [:]
            for key in members.allKeys {
                fields[.text(key.stringValue)] = try members.decode(JSONValue.self, forKey: key).value
            }
            value = .fields(fields)
        } else if var items = try? decoder.unkeyedContainer() {
            var list: [StateValue] = []
            while !items.isAtEnd { list.append(try items.decode(JSONValue.self).value) }
            value = .list(list)
        } else {
            value = try JSONValue.plain(decoder.singleValueContainer())
        }
    }

    private static func plain(_ container: any SingleValueDecodingContainer) throws -> StateValue {
        if container.decodeNil() { return .null }
        if let text = try? container.decode(String.self) { return .text(text) }
        if let truth = try? container.decode(Bool.self) { return .boolean(truth) }
        if let integer = try? container.decode(Int64.self) {
            let isNegativeZero = try integer == 0 && container.decode(Double.self).sign == .minus
            return isNegativeZero ? .number(-0.0) : .integer(integer)
        }
        if let integer = try? container.decode(UInt64.self) { return .unsigned(integer) }
        let number = try container.decode(Double.self)
        guard let decimal = try? container.decode(Decimal.self), let rounded = Decimal(string: "\(number)"),
            decimal != rounded, Double("\(decimal)") == number
        else { return .number(number) }
        return .decimal("\(decimal)")
    }
}

extension JSONValue: Encodable {
    func encode(to encoder: any Encoder) throws {
        switch value {
        case .list(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(JSONValue(item)) }
        case .fields(let fields):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in fields { try container.encode(JSONValue(value), forKey: Key(key)) }
        default:
            var container = encoder.singleValueContainer()
            try encodePlain(to: &container)
        }
    }

    private func encodePlain(to container: inout any SingleValueEncodingContainer) throws {
        switch value {
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .decimal(let digits):
            if let value = Decimal(string: digits) { try container.encode(value) } else { try container.encode(digits) }
        case .text(let value): try container.encode(value)
        case .bytes(let value): try container.encode(Data(value))
        case .null, .list, .fields: try container.encodeNil()
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: StateKey) {
            switch key {
            case .text(let text): stringValue = text
            case .integer(let number): stringValue = String(number)
            }
        }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
