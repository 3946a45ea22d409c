// Ids and paths in Codable values: byte strings in CBOR; hex digits and text elsewhere.

public import FileIO

extension ChunkID: Codable {
    public init(from decoder: any Decoder) throws {
        let id =
            if let decoder = CBORValueDecoder(decoder) {
                ChunkID(try decoder.byteString())
            } else {
                ChunkID(hex: try decoder.singleValueContainer().decode(String.self))
            }
        guard let id else { throw decoder.corrupted("not an id") }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = CBORValueEncoder(encoder) {
            encoder.write(.bytes(bytes))
        } else {
            var container = encoder.singleValueContainer()
            try container.encode(hex)
        }
    }
}

extension SnapshotID: Codable {
    public init(from decoder: any Decoder) throws { self.init(try ChunkID(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try chunk.encode(to: encoder) }
}

extension OperationID: Codable {
    public init(from decoder: any Decoder) throws { self.init(try ChunkID(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try chunk.encode(to: encoder) }
}

extension RelativePath: Codable {
    public init(from decoder: any Decoder) throws {
        guard let path = RelativePath(try ByteString(from: decoder).bytes) else {
            throw decoder.corrupted("not a path below a root")
        }
        self = path
    }

    public func encode(to encoder: any Encoder) throws { try ByteString(bytes).encode(to: encoder) }
}
