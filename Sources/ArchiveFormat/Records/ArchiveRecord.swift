// Records other than snapshots: they are rarely read, so each has a single codec, `Codable`. Common rules are checked
// here.

package import FileIO

/// A value that is stored as a chunk of its own and has a meaning on its own.
///
/// Its codec is `Codable` with deterministic CBOR; kinds of which there are many can be read quickly, too. `encode(to:)` leaves out fields that have their default value;
/// `init(from:)` refuses values that break a rule of the format.
package protocol ArchiveRecord: Codable, Hashable, Sendable {
    /// The fields of the record; numbers are part of the archive format.
    associatedtype CodingKeys: CodingKey, CaseIterable, RawRepresentable where CodingKeys.RawValue == Int

    /// The kind of the chunks that hold such records.
    static var kind: ChunkKind { get }

    /// The times in it, all in the years 0 to 9999.
    var times: [Timestamp] { get }
    /// The texts in it that are not checked elsewhere, and the most bytes of each.
    var texts: [(text: String?, limit: Int)] { get }
    /// Its place among the records that it follows or replaces; 1 for kinds whose records have none.
    var sequence: UInt64 { get }

    /// Reads the usual encoding of a record, in a tenth of the time that `Codable` takes.
    ///
    /// - Returns: nil for all other bytes, such as those with fields of later programs: `Codable` judges them. A kind
    ///   of which an archive has few records always returns nil.
    static func read(quickly reader: inout CBORReader) throws(FormatError) -> Self?
}

extension ArchiveRecord {
    package var texts: [(text: String?, limit: Int)] { [] }
    package var sequence: UInt64 { 1 }
    package static func read(quickly reader: inout CBORReader) throws(FormatError) -> Self? { nil }

    /// The record as a chunk's bytes.
    package func encoded() -> [UInt8] {
        guard let bytes = try? CBOREncoder().encode(self) else { preconditionFailure("records are flat maps") }
        return bytes
    }

    /// Reads a record; fields of later programs are skipped.
    ///
    /// - Throws: `FormatError` if the bytes, without those fields, are not the encoding of a valid record.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        let quick = bytes.withUnsafeBytes { bytes -> Self? in
            var reader = CBORReader(bytes)
            guard let record = try? Self.read(quickly: &reader), (try? reader.finish()) != nil else { return nil }
            return record
        }
        if let quick { self = quick } else { try self.init(decodingAny: bytes) }
        for time in times { try FormatLimits.check(time) }
        guard (1...Snapshot.sequenceLimit).contains(sequence) else {
            throw .malformed("a sequence number is out of range")
        }
        for (text, limit) in texts { try FormatLimits.check(bytes: text, limit, "a text") }
    }

    /// Reads any encoding of a record.
    init(decodingAny bytes: [UInt8]) throws(FormatError) {
        // Counts before allocating: a megabyte may be a million empty lists.
        guard try CBORReader.countItems(of: bytes) <= FormatLimits.recordItems else {
            throw .malformed("a record has too many items")
        }
        let item = try CBORValue(decoding: bytes)
        do {
            self = try CBORDecoder().decode(Self.self, from: item)
        } catch {
            throw FormatError(decoding: error)
        }
        // This refuses written-out defaults, and numbers, times and lists in any but their single form.
        let known = try item.fields(of: Self.CodingKeys.self)
        guard known.map({ $0.encoded() }) ?? bytes == encoded() else {
            throw .malformed("a record is not in its canonical encoding")
        }
    }

    /// Reads a record.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        try self.init(decoding: Array(bytes))
    }
}

extension CBORValue {
    /// The map without the fields that `Keys` does not have; nil if it has no others.
    fileprivate func fields<Keys: CodingKey & RawRepresentable>(
        of keys: Keys.Type
    ) throws(FormatError) -> CBORValue? where Keys.RawValue == Int {
        guard case .map(let pairs) = self else { throw .malformed("a record is not a map") }
        var kept: [(key: CBORValue, value: CBORValue)] = []
        for pair in pairs {
            guard case .unsigned(let number) = pair.key else { throw .malformed("a key of a record is not a number") }
            if let number = Int(exactly: number), Keys(rawValue: number) != nil { kept.append(pair) }
        }
        return kept.count == pairs.count ? nil : .map(kept)
    }
}

extension FormatError {
    /// The broken rule that a decoding error reports.
    fileprivate init(decoding error: any Error) {
        switch error {
        case let error as FormatError: self = error
        case DecodingError.keyNotFound(let key, _): self = .malformed("the field \(key.stringValue) is missing")
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            self = context.underlyingError as? FormatError ?? .malformed(context.debugDescription)
        default: self = .malformed("\(error)")
        }
    }
}
