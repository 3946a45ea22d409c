// A saved state without its type: what migrations alter.

/// What a `Codable` value was encoded to: fields, lists and plain values, whatever type it had.
public enum StateValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    case number(Double)
    /// A number of a JSON file that has more digits than a `Double`: its text.
    case decimal(String)
    case text(String)
    case bytes([UInt8])
    case list([StateValue])
    case fields([StateKey: StateValue])
}

/// The name of a field, or a dictionary's key.
public enum StateKey: Sendable, Hashable {
    case text(String)
    case integer(Int64)
}

// MARK: Reading

extension StateValue {
    /// The integer; nil where the value is none or does not fit.
    public var integer: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, whether it was an integer or not; nil where the value is none.
    public var number: Double? {
        switch self {
        case .number(let value): value
        case .decimal(let digits): Double(digits)
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        default: nil
        }
    }

    /// The text; nil where the value is none.
    public var text: String? {
        guard case .text(let value) = self else { return nil }
        return value
    }

    /// True or false; nil where the value is neither.
    public var boolean: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    /// The items of a list; nil where the value is none.
    public var list: [StateValue]? {
        guard case .list(let items) = self else { return nil }
        return items
    }
}

// MARK: Making

extension StateValue {
    /// An integer; one that 64 bits do not hold becomes a number of that many digits.
    public init(_ value: some FixedWidthInteger) {
        if let value = Int64(exactly: value) {
            self = .integer(value)
        } else if let value = UInt64(exactly: value) {
            self = .unsigned(value)
        } else {
            self = .decimal("\(value)")
        }
    }

    /// A number.
    public init(_ value: some BinaryFloatingPoint) { self = .number(Double(value)) }

    /// A text.
    public init(_ value: some StringProtocol) { self = .text(String(value)) }

    /// True or false.
    public init(_ value: Bool) { self = .boolean(value) }

    /// A list.
    public init(_ items: some Sequence<StateValue>) { self = .list(Array(items)) }
}

// MARK: Altering

extension StateValue {
    /// The field `key`; nil where there is none.
    ///
    /// Setting nil removes it. Setting a field of what has none makes fields of it.
    public subscript(key: StateKey) -> StateValue? {
        get {
            guard case .fields(let fields) = self else { return nil }
            return fields[key]
        }
        set {
            var fields: [StateKey: StateValue] = [:]
            if case .fields(let present) = self { fields = present }
            self = .null
            fields[key] = newValue
            self = .fields(fields)
        }
    }

    /// Gives the field `old` the name `new`; nothing happens where there is no such field.
    public mutating func rename(_ old: StateKey, to new: StateKey) {
        guard let value = self[old] else { return }
        self[old] = nil
        self[new] = value
    }

    /// Removes the field `key`.
    public mutating func remove(_ key: StateKey) {
        guard self[key] != nil else { return }
        self[key] = nil
    }

    /// Alters the field `key`; nothing happens where there is no such field.
    public mutating func change(
        _ key: StateKey, _ body: (inout StateValue) throws -> Void
    ) rethrows {
        guard var value = self[key] else { return }
        try body(&value)
        self[key] = value
    }

    /// Alters every item of a list, or the value of every field.
    public mutating func changeEach(_ body: (inout StateValue) throws -> Void) rethrows {
        switch self {
        case .list(var items):
            for index in items.indices { try body(&items[index]) }
            self = .list(items)
        case .fields(var fields):
            for key in fields.keys {
                guard var value = fields[key] else { continue }
                try body(&value)
                fields[key] = value
            }
            self = .fields(fields)
        default: break
        }
    }
}

// MARK: Literals

extension StateKey: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension StateValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(arrayLiteral items: StateValue...) { self = .list(items) }
    public init(dictionaryLiteral fields: (StateKey, StateValue)...) {
        self = .fields(Dictionary(fields, uniquingKeysWith: { _, last in last }))
    }
}
