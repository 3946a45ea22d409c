// Coding keys as map keys, and the keys that the coders make themselves.

extension CBORValue {
    /// The map key for a coding key: its integer where it has one, else its text.
    ///
    /// Dictionaries give every text that `Int` can parse an integer value, so "1" and "01" claim the same one; only the
    /// plain spelling gets it.
    init(key: any CodingKey) {
        if let number = key.intValue, Int(key.stringValue) != number || key.stringValue == String(number) {
            self.init(number)
        } else {
            self = .text(key.stringValue)
        }
    }
}

/// A coding key from whatever stands in a map, or the index in an array.
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
