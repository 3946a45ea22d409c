// The bytes of version 1, fixed for ever in golden files that are never edited.

import ArchiveFormat
import Foundation
import Testing

@Suite("Golden values")
struct GoldenValueTests {
    @Test("a value has the bytes that version 1 of the format wrote", arguments: GoldenValues.encodings.keys.sorted())
    func written(name: String) throws {
        #expect(try Fixtures.golden(name) == GoldenValues.encodings[name])
    }

    @Test("the bytes that version 1 of the format wrote are read")
    func read() throws {
        #expect(try Node(decoding: Fixtures.golden("leaf.cbor")) == GoldenValues.leaf)
        #expect(try Node(decoding: Fixtures.golden("inner.cbor")) == GoldenValues.inner)
        #expect(try Node(decoding: Fixtures.golden("empty-tree.cbor")) == .leaf([]))
        #expect(try SliceList(decoding: Fixtures.golden("slice-list.cbor")) == GoldenValues.sliceList)
        #expect(try Snapshot(decoding: Fixtures.golden("snapshot.cbor")) == GoldenValues.snapshot)
        let withExclusions = try Snapshot(decoding: Fixtures.golden("snapshot-exclusions.cbor"))
        #expect(withExclusions == GoldenValues.snapshotWithExclusions)
        #expect(try GapRecord(decoding: Fixtures.golden("gap.cbor")) == GoldenValues.gap)
        #expect(try OperationRecord(decoding: Fixtures.golden("operation.cbor")) == GoldenValues.operation)
        #expect(try RootNotice(decoding: Fixtures.golden("root-notice.cbor")) == GoldenValues.rootNotice)
        #expect(try SegmentOpening(decoding: Fixtures.golden("opening.cbor")) == GoldenValues.opening)
        #expect(try DroppedSegments(decoding: Fixtures.golden("dropped-segments.cbor")) == GoldenValues.dropped)
        #expect(try LabelRecord(decoding: Fixtures.golden("label.cbor")) == GoldenValues.label)
        #expect(try PinRecord(decoding: Fixtures.golden("pin.cbor")) == GoldenValues.pin)
        #expect(try PinRecord(decoding: Fixtures.golden("pin-removed.cbor")) == GoldenValues.unpin)
        #expect(try NoteRecord(decoding: Fixtures.golden("note.cbor")) == GoldenValues.note)
        #expect(try PolicyRecord(decoding: Fixtures.golden("policy.cbor")) == GoldenValues.policy)
        #expect(try PolicyRecord(decoding: Fixtures.golden("policy-removed.cbor")) == GoldenValues.rootPolicy)
        #expect(try UnforgottenRecords(decoding: Fixtures.golden("unforgotten.cbor")) == GoldenValues.unforgotten)
        let later = try OperationRecord(decoding: Fixtures.golden("operation-sequence.cbor"))
        #expect(later == GoldenValues.laterOperation)
        #expect(try LabelRecord(decoding: Fixtures.golden("label-sequence.cbor")) == GoldenValues.laterLabel)
        #expect(try PinRecord(decoding: Fixtures.golden("pin-sequence.cbor")) == GoldenValues.laterPin)
        #expect(try PolicyRecord(decoding: Fixtures.golden("policy-sequence.cbor")) == GoldenValues.laterPolicy)
        let forgotten = try ForgottenRecords(decoding: Fixtures.golden("forgotten-sequence.cbor"))
        #expect(forgotten == GoldenValues.laterForgotten)
        let unforgotten = try UnforgottenRecords(decoding: Fixtures.golden("unforgotten-sequence.cbor"))
        #expect(unforgotten == GoldenValues.laterUnforgotten)
        #expect(try DeletionRecord(decoding: Fixtures.golden("deletion.cbor")) == GoldenValues.deletion)
        #expect(try LostSegments(decoding: Fixtures.golden("lost-segments.cbor")) == GoldenValues.lost)
        #expect(try ArchiveManifest(decoding: Fixtures.golden("archive.json")) == GoldenValues.manifest)
        let blockHeader = try Fixtures.golden("block-header").withUnsafeBytes {
            try BlockHeader(decoding: $0, at: GoldenValues.place)
        }
        #expect(blockHeader == GoldenValues.blockHeader)
        let gapHeader = try Fixtures.golden("block-header-gaps").withUnsafeBytes {
            try BlockHeader(decoding: $0, at: GoldenValues.place)
        }
        #expect(gapHeader == GoldenValues.gapBlockHeader)
        let segmentHeader = try Fixtures.golden("segment-header").withUnsafeBytes { try SegmentHeader(decoding: $0) }
        #expect(segmentHeader == GoldenValues.segmentHeader)
        let footer = try Fixtures.golden("segment-footer")
        let trailer = try footer.suffix(96).withUnsafeBytes { try SegmentFooter.Trailer(decoding: $0) }
        let blocks = try footer.dropLast(96).withUnsafeBytes {
            try SegmentFooter.blocks(decodingIndex: $0, trailer: trailer, in: GoldenValues.place.origin)
        }
        #expect(blocks == GoldenValues.footerBlocks)
    }

    private static let place = ProcessInfo.processInfo.environment["ARCHIVER_GOLDEN_VALUES"]

    /// Not a test: it writes the files if `$ARCHIVER_GOLDEN_VALUES` names a directory.
    @Test("golden values are written", .enabled(if: GoldenValueTests.place != nil))
    func write() throws {
        let folder = URL(filePath: try #require(GoldenValueTests.place))
        for (name, bytes) in GoldenValues.encodings { try Data(bytes).write(to: folder.appending(path: name)) }
    }

    @Test("these tests read every golden file")
    func complete() throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Fixtures.goldenValues.path(percentEncoded: false))
        #expect(files.sorted() == GoldenValues.encodings.keys.sorted())
    }
}
