// One extended attribute of a file.

/// One extended attribute (xattr(7)).
public struct ExtendedAttribute: Hashable, Sendable {
    /// The full name with its namespace, such as "user.comment", as bytes.
    public var name: [UInt8]
    /// The bytes of its value.
    public var value: [UInt8]

    /// An extended attribute.
    public init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }
}
