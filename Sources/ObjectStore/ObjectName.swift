// The name of an object: components that every store and every file system accepts as they are.

/// The name of an object below the store's address: components joined by `/`.
///
/// Only ASCII letters, digits, `.`, `_` and `-` are allowed, and no component begins with a dot: so a name needs no
/// escaping in a URL, differs from temporary names, and cannot lead out of a directory.
package struct ObjectName: Sendable, Hashable, Comparable {
    package let text: String

    /// The longest name in bytes; S3 allows 1,024 together with the prefix.
    package static let lengthLimit = 512
    /// The longest component in bytes, as file systems have it.
    package static let componentLimit = 200

    /// Makes a name; nil if a character, a component or the length is not allowed.
    package init?(_ text: String) {
        guard text.utf8.count <= ObjectName.lengthLimit else { return nil }
        let components = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for component in components {
            guard !component.isEmpty, component.count <= ObjectName.componentLimit,
                component.first != UInt8(ascii: "."), component.allSatisfy(ObjectName.isAllowed)
            else { return nil }
        }
        self.text = text
    }

    /// Names are ordered by their bytes, as S3 lists them.
    package static func < (left: ObjectName, right: ObjectName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Whether `prefix` can be the beginning of a name: empty, or allowed characters and single slashes.
    static func canBegin(_ prefix: String) -> Bool {
        prefix.isEmpty || ObjectName(prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix) != nil
    }
}

extension ObjectName: CustomStringConvertible {
    package var description: String { text }
}
