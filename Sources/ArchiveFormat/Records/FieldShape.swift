// The fields of later programs in a record: what they refer to, and how a record that is rewritten keeps them.

/// The fields that this program knows of a value; all others belong to later programs.
package indirect enum FieldShape: Sendable {
    /// A value without unknown fields in it.
    case value
    /// A map with these fields.
    case map([UInt64: FieldShape])
    /// An array of such values.
    case list(FieldShape)

    /// A map of which these fields are known, and nothing in them is unknown.
    static func fields(_ keys: some Sequence<Int>) -> FieldShape {
        .map(Dictionary(uniqueKeysWithValues: keys.map { (UInt64($0), FieldShape.value) }))
    }

    /// The ids that unknown fields may refer to: every byte string of 32 bytes in them.
    ///
    /// - Parameter bytes: the CBOR item; nothing is found in other bytes.
    package func unknownReferences(in bytes: [UInt8]) -> [ChunkID] {
        var ids: [ChunkID] = []
        bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            // What cannot be read is reported by the record's own decoder.
            try? collect(from: &reader, depth: 0, into: &ids)
        }
        return ids
    }

    private func collect(
        from reader: inout CBORReader, depth: Int, into ids: inout [ChunkID]
    ) throws(FormatError) {
        switch self {
        case .value: try reader.skip(depth: depth)
        case .list(let shape):
            for _ in 0..<(try reader.array()) { try shape.collect(from: &reader, depth: depth + 1, into: &ids) }
        case .map(let fields):
            for _ in 0..<(try reader.map()) {
                if let shape = fields[try reader.unsigned()] {
                    try shape.collect(from: &reader, depth: depth + 1, into: &ids)
                } else {
                    try reader.collectReferences(depth: depth + 1, into: &ids)
                }
            }
        }
    }

    /// `new`, with the unknown fields of the value that it replaces.
    package func keepingUnknown(of old: CBORValue, in new: CBORValue) -> CBORValue {
        switch (self, old, new) {
        case (.map(let fields), .map(let oldPairs), .map(let newPairs)):
            var pairs = newPairs
            for pair in oldPairs {
                guard case .unsigned(let key) = pair.key, let shape = fields[key] else {
                    pairs.append(pair)
                    continue
                }
                if let index = pairs.firstIndex(where: { $0.key.isUnsigned(key) }) {
                    pairs[index].value = shape.keepingUnknown(of: pair.value, in: pairs[index].value)
                } else if case .map(let rest) = shape.keepingUnknown(of: pair.value, in: .map([])), !rest.isEmpty {
                    pairs.append((pair.key, .map(rest)))
                }
            }
            return .map(pairs)
        case (.list(let shape), .array(let oldItems), .array(let newItems)):
            return .array(
                newItems.map { item in
                    // The first field names the item.
                    let old = oldItems.first { shape.name(of: $0) == shape.name(of: item) }
                    return old.map { shape.keepingUnknown(of: $0, in: item) } ?? item
                })
        default: return new
        }
    }

    /// The encoding of the field with key 0; empty if it is absent.
    private func name(of item: CBORValue) -> [UInt8] {
        guard case .map(let pairs) = item, let first = pairs.first(where: { $0.key.isUnsigned(0) }) else { return [] }
        return first.value.encoded()
    }
}

extension CBORReader {
    /// Adds every byte string of 32 bytes in the next item: in what a later program wrote, it may be a chunk's id.
    ///
    /// The item is never held in memory: a few megabytes may be millions of empty lists.
    ///
    /// - Parameter depth: the number of arrays and maps around the item.
    mutating func collectReferences(depth: Int, into ids: inout [ChunkID]) throws(FormatError) {
        switch CBORMajor(rawValue: try peek()) {
        case .bytes:
            let bytes = try byteString()
            if bytes.count == ChunkID.byteCount { ids.append(ChunkID(exactly: bytes)) }
        case .array:
            try CBORReader.checkDepth(depth + 1)
            for _ in 0..<(try array()) { try collectReferences(depth: depth + 1, into: &ids) }
        case .map:
            try CBORReader.checkDepth(depth + 1)
            for _ in 0..<(2 * (try map())) { try collectReferences(depth: depth + 1, into: &ids) }
        default: try skip(depth: depth)
        }
    }

    /// The references in `bytes`, a chunk of an unknown kind; none unless it is one CBOR item.
    package static func references(in bytes: [UInt8]) -> [ChunkID] {
        bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            guard (try? reader.skip(depth: 0)) != nil, (try? reader.finish()) != nil else { return [] }
            var ids: [ChunkID] = []
            reader.seek(to: 0)
            try? reader.collectReferences(depth: 0, into: &ids)
            return ids
        }
    }
}

extension CBORValue {
    fileprivate func isUnsigned(_ number: UInt64) -> Bool {
        if case .unsigned(let own) = self { own == number } else { false }
    }
}

extension ArchiveRecord {
    /// The fields of this kind of record.
    package static var shape: FieldShape { .fields(CodingKeys.allCases.map(\.rawValue)) }

    /// The record as a chunk's bytes, with the fields of later programs that the record `old` has.
    package func encoded(keepingUnknownOf old: [UInt8]) throws(FormatError) -> [UInt8] {
        let own = encoded()
        return try Self.shape.keepingUnknown(of: CBORValue(decoding: old), in: CBORValue(decoding: own)).encoded()
    }
}

extension Snapshot {
    /// The fields of a snapshot.
    package static let shape: FieldShape = {
        var fields = Dictionary(uniqueKeysWithValues: (0...18).map { (UInt64($0), FieldShape.value) })
        fields[UInt64(Field.totals.rawValue)] = .fields(0...3)
        fields[UInt64(Field.changes.rawValue)] = .fields(0...2)
        fields[UInt64(Field.changedPaths.rawValue)] = .list(.fields(0...1))
        fields[UInt64(Field.problems.rawValue)] = .list(.fields(0...2))
        fields[UInt64(Field.exclusions.rawValue)] = .fields(0...4)
        return .map(fields)
    }()

    /// The snapshot as a chunk's bytes, with the fields of later programs that the snapshot `old` has.
    package func encoded(keepingUnknownOf old: [UInt8]) throws(FormatError) -> [UInt8] {
        let own = encoded()
        guard try CBORReader.countItems(of: old) <= FormatLimits.rewrittenItems else {
            throw .malformed("a snapshot has too many items to be rewritten")
        }
        return try Snapshot.shape.keepingUnknown(of: CBORValue(decoding: old), in: CBORValue(decoding: own)).encoded()
    }
}
