// An extended attribute of an entry: a small value is in the entry, a large one in chunks.

/// One extended attribute (xattr(7)) of an entry.
public struct EntryAttribute: Hashable, Sendable {
    /// The full name with its namespace, such as "user.comment", as bytes.
    public var name: [UInt8]
    /// The value: `none` if it is empty, `inline` up to `inlineLimit` bytes, otherwise `slices` without holes.
    public var value: Content

    /// The most bytes of a value stored in the entry itself.
    ///
    /// Linux lists at most 65,536 bytes of names for an object. With this limit, the attributes of an object always fit
    /// into an entry.
    package static let inlineLimit = 512

    /// An extended attribute of an entry.
    package init(name: [UInt8], value: Content) {
        self.name = name
        self.value = value
    }

    /// An attribute with a value of at most `inlineLimit` bytes.
    package init(name: [UInt8], value: [UInt8]) {
        self.init(name: name, value: value.isEmpty ? .none : .inline(value))
    }

    /// The bytes of the name and of the value's fields, without their overhead in CBOR.
    var weight: Int {
        switch value {
        case .inline(let bytes): name.count + bytes.count
        case .slices(let slices): name.count + (ChunkID.byteCount + 8) * slices.count
        case .none, .sliceLists, .linkTarget: name.count
        }
    }

    /// Checks the name and the form of the value.
    func validate() throws(FormatError) {
        guard !name.isEmpty, !name.contains(0) else { throw .malformed("the name of an extended attribute") }
        switch value {
        case .none: return
        case .inline(let bytes):
            guard (1...EntryAttribute.inlineLimit).contains(bytes.count) else {
                throw .malformed("the length of an attribute's value")
            }
        case .slices(let slices):
            guard slices.count <= Content.slicesLimit else { throw .malformed("too many slices in an attribute") }
            try Content.validate(slices)
            guard slices.allSatisfy({ $0.chunk != nil }), value.size > EntryAttribute.inlineLimit else {
                throw .malformed("the slices of an attribute's value")
            }
        case .sliceLists, .linkTarget: throw .malformed("the value of an extended attribute")
        }
    }
}

// MARK: - CBOR

extension EntryAttribute {
    /// The fields of an attribute.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case name = 0
        case value = 1
        case slices = 2
    }

    func write(to writer: inout CBORWriter) {
        writer.map(count: value == .none ? 1 : 2)
        writer.key(Field.name)
        writer.byteString(name)
        switch value {
        case .inline(let bytes):
            writer.key(Field.value)
            writer.byteString(bytes)
        case .slices(let slices):
            writer.key(Field.slices)
            Slice.write(slices, to: &writer)
        case .none, .sliceLists, .linkTarget: break
        }
    }

    /// Reads an array of attributes.
    static func read(from reader: inout CBORReader) throws(FormatError) -> [EntryAttribute] {
        let count = try reader.present(reader.array(atMost: FormatLimits.attributes))
        var attributes = [EntryAttribute]()
        for _ in 0..<count { attributes.append(try EntryAttribute(from: &reader)) }
        return attributes
    }

    private init(from reader: inout CBORReader) throws(FormatError) {
        self.init(name: [], value: Content.none)
        var fields = try reader.fields(Field.self)
        while let field = try fields.next(&reader) {
            switch field {
            case .name: name = Array(try reader.presentByteString())
            case .value: value = .inline(Array(try reader.presentByteString()))
            case .slices:
                guard value == .none else { throw .malformed("two values of one attribute") }
                value = .slices(try Slice.read(from: &reader))
            }
        }
    }
}
