// Converts state values, which migrations change, from and to CBOR items.

internal import ArchiveFormat
internal import Mementos

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
    /// The key for `item`; `Codable` values have only text and integer keys.
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
        case .decimal(let digits): self = Double(digits).map { .float($0) } ?? .text(digits)
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
