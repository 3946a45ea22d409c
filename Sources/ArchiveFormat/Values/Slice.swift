// The parts of a file's content: runs of bytes, and the lists of them that a large file has.

internal import FileIO

/// A run of a file's bytes: a chunk, or a hole that reads as zeros.
public struct Slice: Hashable, Sendable {
    /// Bytes that the slice covers, at least 1.
    public var length: UInt64
    /// The chunk that holds them; nil for a hole.
    public var chunk: ChunkID?

    /// A slice of a file's content.
    package init(length: UInt64, chunk: ChunkID?) {
        self.length = length
        self.chunk = chunk
    }
}

/// A reference to a chunk that lists a run of a large file's slices.
public struct ListedSlices: Hashable, Sendable {
    /// Bytes of the file that the list's slices cover, at least 1.
    public var length: UInt64
    /// The chunk that holds the list, an encoded `SliceList`.
    public var list: ChunkID

    /// A long list of slices, which has a chunk of its own.
    package init(length: UInt64, list: ChunkID) {
        self.length = length
        self.list = list
    }
}

/// A part of a large file's sequence of slices, stored as a chunk.
package struct SliceList: Hashable, Sendable {
    /// The slices in their order.
    package var slices: [Slice]

    /// A list of slices.
    package init(slices: [Slice]) { self.slices = slices }

    /// The sum of the slices' lengths.
    package var length: UInt64 { Content.slices(slices).size }
}

// MARK: - CBOR

extension ListedSlices {
    func write(to writer: inout CBORWriter) {
        writer.array(count: 2)
        writer.unsigned(length)
        writer.chunkID(list)
    }

    init(from reader: inout CBORReader) throws(FormatError) {
        guard try reader.array() == 2 else { throw .malformed("a slice list without its length") }
        length = try reader.unsigned()
        list = try reader.chunkID()
    }
}

extension Slice {
    /// Appends an array of slices; each is an array of its length and its chunk, and a hole has no chunk.
    static func write(_ slices: [Slice], to writer: inout CBORWriter) {
        writer.array(count: slices.count)
        for slice in slices {
            writer.array(count: slice.chunk == nil ? 1 : 2)
            writer.unsigned(slice.length)
            if let chunk = slice.chunk { writer.chunkID(chunk) }
        }
    }

    /// Reads an array of slices.
    static func read(from reader: inout CBORReader) throws(FormatError) -> [Slice] {
        let count = try reader.array(atMost: Content.listedSlicesLimit)
        var slices = [Slice]()
        slices.reserveCapacity(min(count, Content.slicesLimit))
        for _ in 0..<count {
            let parts = try reader.array()
            guard parts == 1 || parts == 2 else { throw .malformed("a slice of \(parts) parts") }
            let length = try reader.unsigned()
            slices.append(Slice(length: length, chunk: parts == 2 ? try reader.chunkID() : nil))
        }
        return slices
    }
}

extension SliceList {
    /// The list as a chunk's bytes: an array of slices.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 8 + slices.count * 42)
        Slice.write(slices, to: &writer)
        return writer.bytes
    }

    /// Reads a list.
    ///
    /// - Throws: `FormatError` for any bytes that `encoded()` does not return.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        slices = try Slice.read(from: &reader)
        try reader.finish()
        try Content.validate(slices)
    }

    /// Reads a list.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.withRawBytes(SliceList.init(decoding:))
    }
}

// MARK: - Codable, for the records of saved states

extension Slice: Codable {
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        length = try container.decode(UInt64.self)
        chunk = container.isAtEnd ? nil : try container.decode(ChunkID.self)
        guard container.isAtEnd else { throw decoder.corrupted("a slice of more than two parts") }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(length)
        if let chunk { try container.encode(chunk) }
    }
}

extension ListedSlices: Codable {
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        length = try container.decode(UInt64.self)
        list = try container.decode(ChunkID.self)
        guard container.isAtEnd else { throw decoder.corrupted("a slice list of more than two parts") }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(length)
        try container.encode(list)
    }
}
