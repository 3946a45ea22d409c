// The values whose bytes are in `fixtures/golden-values`; every field of the format occurs at least once.

import ArchiveFormat
import Exclusions
import FileIO

enum GoldenValues {
    static let id = ChunkID(hashing: Array("chunk".utf8))
    static let machine = MachineID(deriving: Array("machine".utf8))
    private static let time = Timestamp(seconds: 1_795_256_130, nanoseconds: 123_456_789)

    private static func path(_ text: String) -> RelativePath { RelativePath(unchecked: Array(text.utf8)) }

    static let leaf = Node.leaf([
        Entry(path: .root, kind: .directory, permissions: 0o755, owner: 1000, group: 100, modified: time),
        Entry(
            path: path("a"), kind: .directory, permissions: 0o2750, owner: 1000, group: 100,
            modified: Timestamp(seconds: 0)),
        Entry(
            path: path("a/empty"), kind: .file, permissions: 0o644, owner: 1000, group: 100,
            modified: Timestamp(seconds: -1, nanoseconds: 999_999_999)),
        Entry(
            path: path("a/holes"), kind: .file, permissions: 0o600, owner: 0, group: 0, modified: time,
            content: .slices([Slice(length: 4096, chunk: id), Slice(length: 1 << 40, chunk: nil)]),
            signature: Signature(inode: 12_345_678, changed: time)),
        Entry(
            path: path("a/huge"), kind: .file, permissions: 0o600, owner: 0, group: 0, modified: time,
            content: .sliceLists([ListedSlices(length: 1 << 50, list: id), ListedSlices(length: 5, list: id)]),
            isUnstable: true),
        Entry(
            path: path("a/link"), kind: .symbolicLink, permissions: 0o777, modified: time,
            content: .linkTarget([0x2e, 0x2e, 0x2f, 0xff])),
        Entry(
            path: path("a/small"), kind: .file, permissions: 0o644, modified: time,
            content: .inline(Array("small\n".utf8)),
            linkGroup: 7,
            attributes: [
                EntryAttribute(name: Array("user.a".utf8), value: [0, 1]),
                EntryAttribute(name: Array("user.empty".utf8), value: []),
            ],
            signature: Signature(inode: 7, changed: Timestamp(seconds: 1_795_256_131))),
        Entry(path: path("a-fifo"), kind: .fifo, permissions: 0o644, modified: time),
        Entry(path: path("b"), kind: .socket, permissions: 0o644, modified: time),
        Entry(path: path("c"), kind: .characterDevice, permissions: 0o620, modified: time, device: 0x0501),
        Entry(path: path("d"), kind: .blockDevice, permissions: 0o660, modified: time, device: 0x0800),
    ])

    static let inner = Node.inner(
        level: 1,
        children: [
            Node.Child(firstPath: .root, id: id, entries: 64, bytes: 1 << 33),
            Node.Child(firstPath: path("docs/letter 1"), id: id, entries: 70, bytes: 0),
            Node.Child(firstPath: path("docs/letter 2"), id: id, entries: 1, bytes: 5),
        ])

    static let sliceList = SliceList(slices: [
        Slice(length: 65_536, chunk: id), Slice(length: 1_000_000, chunk: nil), Slice(length: 1, chunk: id),
    ])

    static let snapshot = Snapshot(
        time: time, rootPath: Array("/home/u/docs".utf8), host: "host", cause: .beforeRestore, label: "label",
        parent: SnapshotID(id), tree: id, totals: Totals(files: 3, directories: 2, others: 1, bytes: 1 << 40),
        changes: ChangeCounts(added: 1, modified: 0, removed: 300),
        changedPaths: [
            ChangedPath(path: .root, change: .modified), ChangedPath(path: path("a"), change: .added),
            ChangedPath(path: path("b"), change: .removed),
        ],
        problems: [
            Problem(path: path("c"), reason: .unreadable, detail: "Permission denied"),
            Problem(path: path("d"), reason: .unstable, detail: ""),
        ],
        storedBytes: 1234, ownerNames: [0: "root", 1000: "u"], groupNames: [100: "users"], sequence: 300,
        machine: machine)

    /// A snapshot with all fields of exclusions that version 1 has.
    static let snapshotWithExclusions = Snapshot(
        time: time, rootPath: Array("/home/u/docs".utf8), host: "host", cause: .audit, tree: id, totals: Totals(),
        changes: ChangeCounts(), storedBytes: 0,
        exclusions: ExclusionRules(
            patterns: [Array("*.o".utf8), [0x21, 0xff, 0x2f]],
            ignoreFileNames: [".gitignore", ".archiverignore"].map { Array($0.utf8) }, largerThan: 1 << 30,
            excludesCaches: true, crossesMounts: true), isAside: true)

    static let gap = GapRecord(
        rootPath: Array("/home/u/docs".utf8), host: "host", cause: .overflow, start: time,
        end: Timestamp(seconds: time.seconds + 1), detail: "16384 events", machine: machine)

    static let gapBlockHeader = BlockHeader(
        codec: .stored, depth: 0, storedLength: 150, payloadChecksum: 0x1234_5678, bases: [],
        chunks: [.init(kind: .gap, length: 50, id: id), .init(kind: .gap, length: 100, id: ChunkID(hashing: []))])

    static let operation = OperationRecord(
        rootPath: Array("/home/u/docs".utf8), host: "host", kind: .undo, time: time, before: SnapshotID(id),
        snapshot: SnapshotID(ChunkID(hashing: [])), path: RelativePath(unchecked: [0x61, 0x2f, 0xff]),
        target: OperationID(id), machine: machine)

    static let rootNotice = RootNotice(
        rootPath: Array("/home/u/docs".utf8), host: "host", kind: .moved, time: time, machine: machine,
        newPath: [0x2f, 0xff], newMachine: MachineID(deriving: Array("other".utf8)))

    static let label = LabelRecord(target: id, time: time, label: "late")
    static let pin = PinRecord(target: id, time: time, until: Timestamp(seconds: 1_795_256_131), reason: "why")
    static let unpin = PinRecord(removedFrom: id, time: time)
    static let note = NoteRecord(
        rootPath: Array("/home/u/docs".utf8), host: "host", time: time, text: "text", snapshot: SnapshotID(id),
        machine: machine)
    static let policy = PolicyRecord(
        time: time,
        tiers: [.init(width: 0, age: 3600), .init(width: 60, age: 86_400), .init(width: 604_800, age: nil)],
        maxSize: 1 << 40, minFreeBytes: 1 << 30, minFreePercent: 10)
    static let rootPolicy = PolicyRecord(
        rootPath: Array("/home/u/docs".utf8), host: "host", machine: machine, time: time, isRemoved: true)
    static let unforgotten = UnforgottenRecords(time: time, records: [id])

    // Records that are not the first of their kind have a sequence.
    static let laterOperation = OperationRecord(
        rootPath: Array("/home/u/docs".utf8), host: "host", kind: .restore, time: time, before: SnapshotID(id),
        snapshot: nil, path: .root, target: nil, machine: machine, sequence: 300)
    static let laterLabel = LabelRecord(target: id, time: time, label: nil, sequence: 2)
    static let laterPin = PinRecord(target: id, time: time, sequence: 70_000)
    static let laterPolicy = PolicyRecord(time: time, maxSize: 1 << 20, sequence: 3)
    static let laterForgotten = ForgottenRecords(time: time, records: [id], sequence: 1 << 61)
    static let laterUnforgotten = UnforgottenRecords(time: time, records: [id], sequence: (1 << 62) - 1)

    static let deletion = DeletionRecord.splitting([SnapshotID(id): 691_800], at: time)[0]

    static let dropped = DroppedSegments(
        time: time, segments: [segmentHeader.segment, randomID("ffffffffffffffffffffffffffffffff")])

    static let lost = LostSegments(
        time: time, segments: dropped.segments.reduce(into: []) { $0.insert($1) }, reason: "why")

    static let blockHeader = BlockHeader(
        codec: .delta, depth: 2, storedLength: 250, payloadChecksum: 0x1234_5678, bases: [ChunkPrefix(id)],
        chunks: [
            .init(kind: .content, length: 100, id: id), .init(kind: .node, length: 200, id: id),
            .init(kind: .snapshot, length: 0, id: id), .init(kind: .sliceList, length: 300, id: id),
        ])

    static let segmentHeader = SegmentHeader(
        archive: randomID("000102030405060708090a0b0c0d0e0f"), segment: randomID("101112131415161718191a1b1c1d1e1f"),
        created: time)

    static let footerBlocks: [SegmentFooter.Block] = [
        .init(offset: place.offset, header: blockHeader), .init(offset: secondPlace.offset, header: blockHeader),
    ]

    /// The place of the first block in the golden segment.
    static let place = BlockPlace(
        in: BlockOrigin(archive: segmentHeader.archive, segment: segmentHeader.segment), offset: 64)
    private static let secondPlace = BlockPlace(in: place.origin, offset: 64 + blockHeader.blockLength)

    /// The footer of a segment whose content is hashed as if it were empty.
    static let footer: [UInt8] = {
        var encoder = SegmentFooter.Encoder(in: place.origin, content: SegmentHash())
        var bytes: [UInt8] = []
        for block in footerBlocks { encoder.append(block.header, to: &bytes) }
        encoder.appendTrailer(to: &bytes)
        return bytes
    }()

    static let manifest = ArchiveManifest(id: randomID("000102030405060708090a0b0c0d0e0f"), created: time)

    static let opening = SegmentOpening(
        of: segmentHeader.segment, manifest, others: [randomID("202122232425262728292a2b2c2d2e2f")])

    private static func randomID<Owner>(_ digits: String) -> RandomID<Owner> {
        (Hex.bytes(digits) ?? []).withUnsafeBytes { RandomID(exactly: $0) }
    }

    /// The expected bytes of every file of the folder.
    static let encodings: [String: [UInt8]] = [
        "leaf.cbor": leaf.encoded(), "inner.cbor": inner.encoded(), "empty-tree.cbor": Node.leaf([]).encoded(),
        "slice-list.cbor": sliceList.encoded(), "snapshot.cbor": snapshot.encoded(),
        "block-header": blockHeader.encoded(at: place), "segment-header": segmentHeader.encoded(),
        "segment-footer": footer,
        "archive.json": manifest.encoded(), "snapshot-exclusions.cbor": snapshotWithExclusions.encoded(),
        "gap.cbor": gap.encoded(), "block-header-gaps": gapBlockHeader.encoded(at: place),
        "operation.cbor": operation.encoded(), "root-notice.cbor": rootNotice.encoded(),
        "dropped-segments.cbor": dropped.encoded(), "label.cbor": label.encoded(), "pin.cbor": pin.encoded(),
        "pin-removed.cbor": unpin.encoded(), "note.cbor": note.encoded(), "policy.cbor": policy.encoded(),
        "policy-removed.cbor": rootPolicy.encoded(), "unforgotten.cbor": unforgotten.encoded(),
        "deletion.cbor": deletion.encoded(), "opening.cbor": opening.encoded(),
        "lost-segments.cbor": lost.encoded(), "operation-sequence.cbor": laterOperation.encoded(),
        "label-sequence.cbor": laterLabel.encoded(), "pin-sequence.cbor": laterPin.encoded(),
        "policy-sequence.cbor": laterPolicy.encoded(), "forgotten-sequence.cbor": laterForgotten.encoded(),
        "unforgotten-sequence.cbor": laterUnforgotten.encoded(),
    ]
}
