// The fuzz targets: every decoder of bytes that come from outside.

internal import ArchiveFormat
internal import Compression
internal import Exclusions

/// A decoder; the first byte of an input selects the decoder for the rest.
package enum FuzzTarget: UInt8, CaseIterable, Sendable {
    case cbor, node, sliceList, snapshot, gap, state, operation, forgotten
    case manifest, segmentHeader, segmentFooter, blockHeader
    case deflate, delta, patterns
    case notice, dropped
    case label, pin, note, policy, unforgotten, deletion
    case opening, lost

    /// The segment of the golden values.
    private static let origin: BlockOrigin = {
        let (archive, segment) = (Array(UInt8(0)..<16), Array(UInt8(16)..<32))
        return archive.withUnsafeBytes { archive in
            segment.withUnsafeBytes {
                BlockOrigin(archive: ArchiveID(exactly: archive), segment: SegmentID(exactly: $0))
            }
        }
    }()

    /// Passes an input to the decoder that it selects; must return for any input.
    package static func run(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let target = allCases[Int(first) % allCases.count]
        target.run(Array(input.dropFirst()))
    }

    private func run(_ bytes: [UInt8]) {
        switch self {
        case .cbor:
            closed(bytes, { try CBORValue(decoding: $0) }, { $0.encoded() })
            streamed(bytes)
        case .node: closed(bytes, { try Node(decoding: $0) }, { $0.encoded() })
        case .sliceList: closed(bytes, { try SliceList(decoding: $0) }, { $0.encoded() })
        case .snapshot: open(bytes, { try Snapshot(decoding: $0) }, { $0.encoded() })
        case .gap: open(bytes, { try GapRecord(decoding: $0) }, { $0.encoded() })
        case .state: open(bytes, { try StateRecord(decoding: $0) }, { $0.encoded() })
        case .operation: open(bytes, { try OperationRecord(decoding: $0) }, { $0.encoded() })
        case .forgotten: open(bytes, { try ForgottenRecords(decoding: $0) }, { $0.encoded() })
        case .notice: open(bytes, { try RootNotice(decoding: $0) }, { $0.encoded() })
        case .dropped: open(bytes, { try DroppedSegments(decoding: $0) }, { $0.encoded() })
        case .label: open(bytes, { try LabelRecord(decoding: $0) }, { $0.encoded() })
        case .pin: open(bytes, { try PinRecord(decoding: $0) }, { $0.encoded() })
        case .note: open(bytes, { try NoteRecord(decoding: $0) }, { $0.encoded() })
        case .policy: open(bytes, { try PolicyRecord(decoding: $0) }, { $0.encoded() })
        case .unforgotten: open(bytes, { try UnforgottenRecords(decoding: $0) }, { $0.encoded() })
        case .deletion: open(bytes, { try DeletionRecord(decoding: $0) }, { $0.encoded() })
        case .opening: open(bytes, { try SegmentOpening(decoding: $0) }, { $0.encoded() })
        case .lost: open(bytes, { try LostSegments(decoding: $0) }, { $0.encoded() })
        case .manifest: open(bytes, { try ArchiveManifest(decoding: $0) }, { $0.encoded() })
        case .segmentHeader:
            bytes.withUnsafeBytes { _ = try? SegmentHeader(decoding: $0) }
        case .segmentFooter:
            bytes.withUnsafeBytes { bytes in
                guard bytes.count >= SegmentFooter.trailerByteCount else { return }
                let split = bytes.count - SegmentFooter.trailerByteCount
                let trailer = try? SegmentFooter.Trailer(decoding: UnsafeRawBufferPointer(rebasing: bytes[split...]))
                guard let trailer else { return }
                let index = UnsafeRawBufferPointer(rebasing: bytes[..<split])
                _ = try? SegmentFooter.blocks(decodingIndex: index, trailer: trailer, in: FuzzTarget.origin)
            }
        case .blockHeader:
            // The place of the golden headers, which the checksum covers. Later additions need not be written again.
            let place = BlockPlace(in: FuzzTarget.origin, offset: 64)
            bytes.withUnsafeBytes { _ = try? BlockHeader(decoding: $0, at: place) }
        case .deflate:
            FuzzTarget.split(bytes) { length, first, second in
                var inflater = try Inflater()
                _ = try inflater.inflate(second, dictionary: first, expecting: length)
            }
        case .delta:
            FuzzTarget.split(bytes) { length, first, second in
                _ = try Delta.apply(second, to: first, expecting: length)
            }
        case .patterns:
            let halves = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            let path = halves.count > 1 ? halves[1] : []
            _ = IgnoreFile(Array(halves[0])).verdict(on: path, isDirectory: bytes.count.isMultiple(of: 2))
        }
    }

    /// Checks that skipping, writing as text and reading as a value accept the same bytes.
    private func streamed(_ bytes: [UInt8]) {
        let isItem = (try? CBORValue(decoding: bytes)) != nil
        let isCounted = (try? CBORReader.countItems(of: bytes)) != nil
        precondition(isItem == isCounted, "\(self): reading and skipping accept different bytes")
        guard isItem else { return }
        for isPretty in [false, true] {
            let isWritten: ()? = bytes.withUnsafeBytes { try? CBORJSONWriter.write($0, pretty: isPretty) { _ in } }
            precondition(isWritten != nil, "\(self): an item that is read is not written as text")
        }
    }

    /// Checks that a closed value, to which later programs add nothing, has only one encoding.
    private func closed<Value>(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws -> Value, _ encode: (Value) -> [UInt8]
    ) {
        guard let value = try? decode(bytes) else { return }
        precondition(encode(value) == bytes, "\(self): a decoded value encodes to other bytes")
    }

    /// Checks that an open value survives a round trip; fields of later programs may be lost.
    private func open<Value: Equatable>(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws -> Value, _ encode: (Value) -> [UInt8]
    ) {
        guard let value = try? decode(bytes) else { return }
        let again = try? decode(encode(value))
        precondition(again == value, "\(self): a decoded value does not survive a round trip")
    }

    /// Splits the input into a length and two parts.
    private static func split(
        _ bytes: [UInt8], _ body: (Int, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) {
        guard bytes.count >= 3 else { return }
        let length = Int(bytes[0]) << 8 | Int(bytes[1])
        let middle = 3 + min(Int(bytes[2]), bytes.count - 3)
        bytes.withUnsafeBytes { bytes in
            let first = UnsafeRawBufferPointer(rebasing: bytes[3..<middle])
            try? body(length, first, UnsafeRawBufferPointer(rebasing: bytes[middle...]))
        }
    }
}
