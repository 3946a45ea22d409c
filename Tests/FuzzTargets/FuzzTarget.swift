// What fuzzing tries: every decoder of bytes that come from outside.

internal import ArchiveFormat
internal import Compression
internal import Exclusions

/// A decoder; the first byte of an input says which one gets the rest.
package enum FuzzTarget: UInt8, CaseIterable, Sendable {
    case cbor, node, sliceList, snapshot, gap, state, operation, forgotten
    case manifest, segmentHeader, segmentFooter, blockHeader
    case deflate, delta, patterns
    case notice, dropped
    case label, pin, note, policy, unforgotten

    /// Gives an input to the decoder that it names; whatever it is, this returns.
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
                _ = try? SegmentFooter.blocks(decodingIndex: index, trailer: trailer, segment: 0x1011_1213)
            }
        case .blockHeader:
            // Where the golden headers are: the checksum covers the place. What later programs add need not come back.
            let place = BlockPlace(segment: 0x1011_1213, offset: 64)
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

    /// What is passed over, or written as text, is what is read as a value.
    private func streamed(_ bytes: [UInt8]) {
        let isItem = (try? CBORValue(decoding: bytes)) != nil
        let isCounted = (try? CBORReader.countItems(of: bytes)) != nil
        precondition(isItem == isCounted, "\(self): what is read and what is passed over differ")
        guard isItem else { return }
        for isPretty in [false, true] {
            let isWritten: ()? = bytes.withUnsafeBytes { try? CBORJSONWriter.write($0, pretty: isPretty) { _ in } }
            precondition(isWritten != nil, "\(self): what is read is not written as text")
        }
    }

    /// What is read of a value that no later program adds to has one encoding only.
    private func closed<Value>(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws -> Value, _ encode: (Value) -> [UInt8]
    ) {
        guard let value = try? decode(bytes) else { return }
        precondition(encode(value) == bytes, "\(self): what was read is written otherwise")
    }

    /// What is read is read again of what is written of it; fields of later programs may be gone.
    private func open<Value: Equatable>(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws -> Value, _ encode: (Value) -> [UInt8]
    ) {
        guard let value = try? decode(bytes) else { return }
        let again = try? decode(encode(value))
        precondition(again == value, "\(self): what was read is not what is read of what is written")
    }

    /// Two parts of the input, and a length.
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
