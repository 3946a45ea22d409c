// The coding keys in states: the two reserved ones for versions, and the program's own.

package import ArchiveFormat
internal import Mementos

/// A coding key as it is written in a state.
///
/// A program's own key that looks like one of the two reserved keys is written with one more `@`.
struct PartKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    /// The key of a part's version, beside its members.
    static let version = PartKey(stringValue: "@stateVersion")
    /// The key of the content of a part without members, beside its version.
    static let content = PartKey(stringValue: "@state")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    init(_ key: some CodingKey) {
        stringValue = PartKey.isReserved(key.stringValue) ? "@" + key.stringValue : key.stringValue
        intValue = key.intValue
    }

    /// The program's own key; nil if this is a reserved key.
    func key<Key: CodingKey>(_ type: Key.Type) -> Key? {
        if let intValue { return Key(intValue: intValue) }
        if !PartKey.isReserved(stringValue) { return Key(stringValue: stringValue) }
        return stringValue.hasPrefix("@@") ? Key(stringValue: String(stringValue.dropFirst())) : nil
    }

    /// Whether `text` is a reserved key with any number of `@`.
    private static func isReserved(_ text: String) -> Bool {
        guard text.utf8.first == UInt8(ascii: "@") else { return false }
        return ["stateVersion", "state"].contains(text.drop { $0 == "@" })
    }

    var description: String { stringValue }
    var debugDescription: String { stringValue }
}

extension StateKey {
    fileprivate static let version = StateKey.text(PartKey.version.stringValue)
    fileprivate static let content = StateKey.text(PartKey.content.stringValue)
}

extension StateValue {
    /// The part without its version.
    var unmarked: StateValue {
        if let content = self[.content] { return content }
        var value = self
        value.remove(.version)
        return value
    }
}

extension StateContent {
    /// The content of a state, with its version stored like that of a part.
    package init(_ bytes: [UInt8], version: Int) throws(FormatError) {
        try self.init(version > 1 ? StateContent.marked(bytes, version) : bytes)
    }

    private static func marked(_ bytes: [UInt8], _ version: Int) throws(FormatError) -> [UInt8] {
        let (key, value) = (CBORValue.text(PartKey.version.stringValue), CBORValue(version))
        if let marked = try CBORReader.adding(key, value, toMap: bytes) { return marked }
        let content = CBORValue.text(PartKey.content.stringValue).encoded()
        return [0xa2] + content + bytes + key.encoded() + value.encoded()
    }
}
