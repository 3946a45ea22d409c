// The keys of versions in states, and all other keys beside them.

package import ArchiveFormat
internal import Mementos

/// A coding key as it stands in a state.
///
/// Keys of a program's own that look like the two keys of versions have one more `@` before them.
struct PartKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    /// Of a part's version, beside its members.
    static let version = PartKey(stringValue: "@stateVersion")
    /// Of a part that has no members, beside its version.
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

    /// The program's own key; nil where it is none.
    func key<Key: CodingKey>(_ type: Key.Type) -> Key? {
        if let intValue { return Key(intValue: intValue) }
        if !PartKey.isReserved(stringValue) { return Key(stringValue: stringValue) }
        return stringValue.hasPrefix("@@") ? Key(stringValue: String(stringValue.dropFirst())) : nil
    }

    /// Whether `text` is one of the two keys, with any number of `@` before it.
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
    /// The part without the version that stands with it.
    var unmarked: StateValue {
        if let content = self[.content] { return content }
        var value = self
        value.remove(.version)
        return value
    }
}

extension StateContent {
    /// A whole state, with its version as a part has it.
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
