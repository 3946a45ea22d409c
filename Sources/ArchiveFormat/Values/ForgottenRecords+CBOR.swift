// Forgotten records to CBOR and back: by hand, and as Codable values; both give the same bytes.

internal import FileIO

extension ForgottenRecords {
    /// The fields of a record.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case time = 0
        case records = 1
    }

    /// The record as a chunk's bytes.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 32 + 34 * records.count)
        writer.map(count: 2)
        writer.key(Field.time)
        writer.timestamp(time)
        writer.key(Field.records)
        writer.array(count: records.count)
        for record in records { writer.chunkID(record) }
        return writer.bytes
    }

    /// Reads a record; fields that it does not know are passed over.
    ///
    /// - Throws: `FormatError` for anything else but the bytes that `encoded()` gives.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var time: Timestamp?
        var records: [ChunkID]?
        var fields = try reader.openFields(Field.self, depth: 0)
        while let field = try fields.next(&reader) {
            switch field {
            case .time: time = try reader.timestamp()
            case .records:
                var ids: [ChunkID] = []
                let count = try reader.array()
                guard count <= ForgottenRecords.limit else { throw .malformed("the number of forgotten records") }
                for _ in 0..<count { ids.append(try reader.chunkID()) }
                records = ids
            }
        }
        try reader.finish()
        guard let time, let records else { throw .malformed("forgotten records with fields missing") }
        try self.init(time: time, ordered: records)
    }

    /// Reads a record.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.decode(ForgottenRecords.init(decoding:))
    }

    /// Records as they were read: their order is checked, not mended.
    private init(time: Timestamp, ordered records: [ChunkID]) throws(FormatError) {
        guard (1...ForgottenRecords.limit).contains(records.count),
            zip(records, records.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw .malformed("forgotten records out of order, or none")
        }
        self.init(time: time, records: Set(records))
    }
}

extension ForgottenRecords: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let time = try fields.decode(Timestamp.self, forKey: .time)
        let records = try fields.decode([ChunkID].self, forKey: .records)
        self = try decoder.checking { () throws(FormatError) in try ForgottenRecords(time: time, ordered: records) }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(records, forKey: .records)
    }
}
