// Records that are read seldom: one codec for each, its Codable conformance; the rules of the format are checked here.

/// A value that is stored as a chunk of its own and means something by itself.
///
/// Its only codec is `Codable` through deterministic CBOR. A field that has its default value is left out by `encode(to:)`;
/// what breaks a rule of the format is refused by `init(from:)`.
package protocol ArchiveRecord: Codable, Hashable, Sendable {
    /// The fields of the record; numbers are part of the archive format.
    associatedtype CodingKeys: CodingKey, CaseIterable, RawRepresentable where CodingKeys.RawValue == Int

    /// What its chunks say that they hold.
    static var kind: ChunkKind { get }
}

extension ArchiveRecord {
    /// The record as a chunk's bytes.
    package func encoded() -> [UInt8] {
        guard let bytes = try? CBOREncoder().encode(self) else { preconditionFailure("records are flat maps") }
        return bytes
    }

    /// Reads a record; fields that came after this program are passed over.
    ///
    /// - Throws: `FormatError` for anything else but the bytes that `encoded()` gives for a valid record.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        // Before there is memory for what they would be: a megabyte may be a million empty lists.
        guard try CBORReader.countItems(of: bytes) <= FormatLimits.recordItems else {
            throw .malformed("a record of too many items")
        }
        let item = try CBORValue(decoding: bytes)
        do {
            self = try CBORDecoder().decode(Self.self, from: item)
        } catch {
            throw FormatError(decoding: error)
        }
        // So a default that is written out is refused, and a number, a time or a list in any other than its one form.
        guard try item.fields(Set(Self.CodingKeys.allCases.map(\.rawValue))).encoded() == encoded() else {
            throw .malformed("a record that is not encoded as it should be")
        }
    }

    /// Reads a record.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        try self.init(decoding: Array(bytes))
    }
}

extension CBORValue {
    /// The map without the fields that are not among `known`.
    fileprivate func fields(_ known: Set<Int>) throws(FormatError) -> CBORValue {
        guard case .map(let pairs) = self else { throw .malformed("a record that is no map") }
        var kept: [(key: CBORValue, value: CBORValue)] = []
        for pair in pairs {
            guard case .unsigned(let number) = pair.key else { throw .malformed("a record's key that is no number") }
            if let number = Int(exactly: number), known.contains(number) { kept.append(pair) }
        }
        return .map(kept)
    }
}

extension FormatError {
    /// The rule that decoding found broken.
    fileprivate init(decoding error: any Error) {
        switch error {
        case let error as FormatError: self = error
        case DecodingError.keyNotFound(let key, _): self = .malformed("field \(key.stringValue) is missing")
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            self = context.underlyingError as? FormatError ?? .malformed(context.debugDescription)
        default: self = .malformed("\(error)")
        }
    }
}
