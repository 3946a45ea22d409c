// Converts coding keys to map keys; the coding keys that the CBOR coders create themselves.

extension CBORValue {
    /// The map key for a coding key: its integer if it has one, otherwise its text.
    ///
    /// Dictionaries assign an integer to every text that `Int` can parse, so "1" and "01" would both become 1. Only the
    /// canonical spelling becomes an integer.
    init(key: any CodingKey) {
        if let number = key.intValue, Int(key.stringValue) != number || key.stringValue == String(number) {
            self.init(number)
        } else {
            self = .text(key.stringValue)
        }
    }
}

/// A coding key for any key of a map, or for an index of an array.
struct CBORKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let `super` = CBORKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }
}
