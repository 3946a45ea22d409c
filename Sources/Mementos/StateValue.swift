// A saved state without its Swift type, for migrations to alter.

/// An encoded `Codable` value: fields, lists and plain values, independent of its Swift type.
public enum StateValue: Sendable, Hashable {
    /// Nothing.
    case null
    /// A truth value.
    case boolean(Bool)
    /// An integer that fits into 64 bits with a sign.
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case number(Double)
    /// A number with more digits than a `Double` holds, as its text in a JSON file.
    case decimal(String)
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
    /// A list.
    case list([StateValue])
    /// The values of a structure or a dictionary, by key.
    case fields([StateKey: StateValue])
}

/// The name of a field, or a dictionary's key.
public enum StateKey: Sendable, Hashable {
    /// A name.
    case text(String)
    /// A number.
    case integer(Int64)
}

// MARK: Reading

extension StateValue {
    /// The integer; nil if the value is not an integer or does not fit.
    public var integer: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, integer or not; nil if the value is not a number.
    public var number: Double? {
        switch self {
        case .number(let value): value
        case .decimal(let digits): Double(digits)
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        default: nil
        }
    }

    /// The text; nil if the value is not a text.
    public var text: String? {
        guard case .text(let value) = self else { return nil }
        return value
    }

    /// The Boolean; nil if the value is not a Boolean.
    public var boolean: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    /// The items of a list; nil if the value is not a list.
    public var list: [StateValue]? {
        guard case .list(let items) = self else { return nil }
        return items
    }
}

// MARK: Making

extension StateValue {
    /// An integer; one that does not fit into 64 bits becomes a `decimal`.
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
    /// The field `key`; nil if there is none.
    ///
    /// Setting nil removes the field. Setting a field of a value that is not `fields` replaces that value by fields.
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

    /// Renames the field `old` to `new`; does nothing if there is no such field.
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

    /// Alters the field `key`; does nothing if there is no such field.
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
