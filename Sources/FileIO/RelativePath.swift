// A path below a root, as bytes.
//
// A Linux name may contain any byte except NUL and `/`; nothing here assumes UTF-8. Paths are ordered component by
// component, which is the order of a depth-first walk with sorted names: a directory, then everything below it, then
// its next sibling. Captures, diffs and restores merge streams in this order.

internal import Glibc

/// A path relative to a root: components joined by `/`, never absolute, never containing `.` or `..`.
///
/// The empty path names the root itself.
public struct RelativePath: Hashable, Sendable {
    /// The path's bytes, components joined by `/`.
    public let bytes: [UInt8]

    /// The root itself.
    public static let root = RelativePath(unchecked: [])

    /// Makes a path from bytes that are known to be valid.
    package init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Validates `bytes` and makes a path from them.
    ///
    /// - Returns: nil if the bytes start or end with `/`, or contain an empty component, `.`, `..` or a NUL.
    public init?(_ bytes: [UInt8]) {
        guard RelativePath.isValid(bytes) else { return nil }
        self.bytes = bytes
    }

    /// Validates the UTF-8 bytes of `string` and makes a path from them.
    public init?(_ string: String) {
        self.init(Array(string.utf8))
    }

    /// Makes a path from a text that may begin with `./`, end with `/`, and have components that are empty or `.`.
    ///
    /// - Returns: nil if the text begins with `/`, has a component `..` or contains a NUL.
    package init?(normalizing bytes: [UInt8]) {
        let slash = UInt8(ascii: "/")
        if bytes.first == slash { return nil }
        let names = bytes.split(separator: slash).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }
        self.init(Array(names.joined(separator: [slash])))
    }

    /// Whether the path names the root itself.
    public var isRoot: Bool { bytes.isEmpty }

    /// The last component; empty for the root.
    public var name: ArraySlice<UInt8> {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return bytes[...] }
        return bytes[(slash + 1)...]
    }

    /// The parent directory; nil for the root.
    public var parent: RelativePath? {
        if bytes.isEmpty { return nil }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return .root }
        return RelativePath(unchecked: Array(bytes[..<slash]))
    }

    /// The components from the root downwards.
    public var components: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"))
    }

    /// The number of components; 0 for the root.
    public var depth: Int {
        bytes.isEmpty ? 0 : bytes.reduce(1) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
    }

    /// The path of `name` in this directory.
    ///
    /// - Parameter name: one component, from the kernel or already validated.
    package func appending(_ name: some Collection<UInt8>) -> RelativePath {
        if bytes.isEmpty { return RelativePath(unchecked: Array(name)) }
        var joined = [UInt8]()
        joined.reserveCapacity(bytes.count + 1 + name.count)
        joined += bytes
        joined.append(UInt8(ascii: "/"))
        joined += name
        return RelativePath(unchecked: joined)
    }

    /// The path of `name` in this directory; the fast path for names found by a walk.
    package func appending(_ name: [UInt8]) -> RelativePath {
        if bytes.isEmpty { return RelativePath(unchecked: name) }
        let count = bytes.count + 1 + name.count
        return RelativePath(
            unchecked: [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                bytes.withUnsafeBytes { buffer.copyMemory(from: $0) }
                buffer[bytes.count] = UInt8(ascii: "/")
                name.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: buffer[(bytes.count + 1)...]).copyMemory(from: $0)
                }
                initialized = count
            })
    }

    /// The path of `other` (which may have several components) below this directory.
    public func appending(path other: RelativePath) -> RelativePath {
        other.isRoot ? self : appending(other.bytes)
    }

    /// Whether `other` is this path or below it.
    public func contains(_ other: RelativePath) -> Bool {
        if bytes.isEmpty { return true }
        guard other.bytes.count >= bytes.count else { return false }
        let begins = other.bytes.withUnsafeBytes { whole in
            bytes.withUnsafeBytes { part in
                guard let whole = whole.baseAddress, let start = part.baseAddress else { return false }
                return memcmp(whole, start, part.count) == 0
            }
        }
        guard begins else { return false }
        return other.bytes.count == bytes.count || other.bytes[bytes.count] == UInt8(ascii: "/")
    }

    /// The part of `other` below this directory; nil if `other` is not in it.
    public func suffix(of other: RelativePath) -> RelativePath? {
        guard contains(other) else { return nil }
        if bytes.isEmpty { return other }
        return RelativePath(unchecked: Array(other.bytes.dropFirst(bytes.count + 1)))
    }

    private static func isValid(_ bytes: [UInt8]) -> Bool {
        if bytes.isEmpty { return true }
        return bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy(isValidName)
    }

    /// Whether `name` can be one component of a path.
    package static func isValidName(_ name: some Collection<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        if name.isEmpty || name.elementsEqual([dot]) || name.elementsEqual([dot, dot]) { return false }
        return !name.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }
}

extension RelativePath: ExpressibleByStringLiteral {
    /// The path that a literal in a program's text names, such as `"chapter2.md"` or `"./figures/"`.
    ///
    /// - Precondition: it does not begin with `/` and has no component `..`.
    public init(stringLiteral text: String) {
        let path = RelativePath(normalizing: Array(text.utf8))
        precondition(path != nil, "'\(text)' is not a path below a directory")
        self = path ?? .root
    }
}

extension RelativePath: Comparable {
    /// Walk order: bytes are compared with `/` as 0x00, so a directory's contents follow it directly.
    public static func < (left: RelativePath, right: RelativePath) -> Bool {
        walkOrder(left.bytes, right.bytes) < 0
    }

    /// Compares two paths' bytes in walk order: negative, zero or positive.
    package static func walkOrder(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left.withUnsafeBufferPointer { a in
            right.withUnsafeBufferPointer { b in
                let common = min(a.count, b.count)
                var index = 0
                while index < common && a[index] == b[index] { index += 1 }
                if index == common { return a.count - b.count }
                let slash = UInt8(ascii: "/")
                let x = a[index] == slash ? 0 : Int(a[index])
                let y = b[index] == slash ? 0 : Int(b[index])
                return x - y
            }
        }
    }
}

extension RelativePath: CustomStringConvertible {
    /// The path as text for display only; bytes that are not UTF-8 show as U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
