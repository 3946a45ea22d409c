// Random bytes and numbers, and random valid values of the format, in which every field occurs sometimes.

import ArchiveFormat
import Exclusions
import FileIO
import TestSupport

extension SeededGenerator {
    /// `least` to `count` random bytes.
    mutating func bytes(_ least: Int = 0, _ count: Int) -> [UInt8] {
        (0..<Int.random(in: least...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// A number of up to `bits` bits, small ones as often as large ones.
    mutating func number(bits: Int = 64) -> UInt64 {
        let width = Int.random(in: 0...bits, using: &self)
        return width == 0 ? 0 : next() >> UInt64(64 - width)
    }

    mutating func chunkID() -> ChunkID { ChunkID(hashing: bytes(8, 8)) }

    mutating func timestamp() -> Timestamp {
        let seconds = Int64(bitPattern: number()) / (oneIn(2) ? 1 : 4_000_000_000)
        return Timestamp(
            seconds: seconds, nanoseconds: oneIn(4) ? 0 : UInt32.random(in: 0..<1_000_000_000, using: &self))
    }

    /// A time that a record may have.
    mutating func recordTime() -> Timestamp {
        Timestamp(
            seconds: Int64.random(in: FormatLimits.recordSeconds, using: &self),
            nanoseconds: oneIn(4) ? 0 : UInt32.random(in: 0..<1_000_000_000, using: &self))
    }

    /// A path of few short components, mostly from a small alphabet, so that neighbours share long prefixes.
    mutating func path() -> RelativePath {
        while true {
            let components = (0..<Int.random(in: 0...4, using: &self)).map { _ in
                oneIn(8)
                    ? bytes(1, 12)
                    : (0..<Int.random(in: 1...3, using: &self)).map { _ in Array("ab. -\u{7f}".utf8)[Int(next() % 6)] }
            }
            if let path = RelativePath(Array(components.joined(separator: [UInt8(ascii: "/")]))) { return path }
        }
    }

    /// Different paths in walk order.
    mutating func paths(_ count: ClosedRange<Int>) -> [RelativePath] {
        Set((0..<Int.random(in: count, using: &self)).map { _ in path() }).sorted()
    }

    mutating func slices(_ count: ClosedRange<Int>) -> [Slice] {
        (0..<Int.random(in: count, using: &self)).map { _ in
            Slice(length: number(bits: 40) + 1, chunk: oneIn(4) ? nil : chunkID())
        }
    }

    mutating func content(of kind: FileKind) -> Content {
        switch kind {
        case .file:
            switch Int.random(in: 0...3, using: &self) {
            case 0: .none
            case 1: .inline(bytes(1, Content.inlineLimit))
            case 2: .slices(slices(1...Content.slicesLimit))
            default:
                .sliceLists(
                    (0..<Int.random(in: 1...3, using: &self)).map { _ in
                        ListedSlices(length: number(bits: 60) + 1, list: chunkID())
                    })
            }
        case .symbolicLink: oneIn(5) ? .none : .linkTarget(bytes(1, 20).map { max($0, 1) })
        default: .none
        }
    }

    mutating func attributes() -> [EntryAttribute] {
        let names = Set((0..<Int.random(in: 1...3, using: &self)).map { _ in bytes(1, 6).map { max($0, 1) } })
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map {
            oneIn(4)
                ? EntryAttribute(
                    name: $0,
                    value: .slices(
                        (0..<Int.random(in: 1...3, using: &self)).map { _ in
                            Slice(length: number(bits: 20) + 513, chunk: chunkID())
                        }))
                : EntryAttribute(name: $0, value: bytes(0, 30))
        }
    }

    mutating func entry(at path: RelativePath) -> Entry {
        let kind = FileKind.allCases.randomElement(using: &self) ?? .file
        let modified = oneIn(6) ? Timestamp(seconds: 0) : timestamp()
        let isDevice = kind == .characterDevice || kind == .blockDevice
        return Entry(
            path: path, kind: kind, permissions: [0, 0o644, 0o755, 0o7777].randomElement(using: &self) ?? 0,
            owner: oneIn(2) ? 1000 : UInt32(number(bits: 32)), group: oneIn(2) ? 1000 : UInt32(number(bits: 32)),
            modified: modified, content: content(of: kind), device: isDevice ? number() : 0,
            linkGroup: oneIn(3) ? number() : nil, attributes: oneIn(3) ? attributes() : [],
            signature: oneIn(3) ? nil : Signature(inode: number(), changed: oneIn(2) ? modified : timestamp()),
            isUnstable: oneIn(5))
    }

    mutating func node() -> Node {
        if oneIn(2) {
            return .leaf(paths(0...40).map { entry(at: $0) })
        }
        let children = paths(1...40).map {
            Node.Child(firstPath: $0, id: chunkID(), entries: number(bits: 48), bytes: number(bits: 63))
        }
        return .inner(level: Int.random(in: 1...63, using: &self), children: children)
    }

    mutating func text() -> String {
        String(
            String.UnicodeScalarView(
                (0..<Int.random(in: 0...8, using: &self)).compactMap { _ in Unicode.Scalar(UInt32(number(bits: 20))) }))
    }

    mutating func names() -> [UInt32: String] {
        var names = [UInt32: String]()
        for _ in 0..<Int.random(in: 0...5, using: &self) { names[UInt32(number(bits: 32))] = text() }
        return names
    }

    mutating func snapshot() -> Snapshot {
        var random = self
        defer { self = random }
        return Snapshot(
            time: random.recordTime(), rootPath: random.bytes(0, 20), host: random.text(),
            cause: Cause.allCases.randomElement(using: &random) ?? .watch, label: random.oneIn(2) ? random.text() : nil,
            parent: random.oneIn(2) ? SnapshotID(random.chunkID()) : nil, tree: random.chunkID(),
            totals: random.oneIn(3)
                ? Totals()
                : Totals(
                    files: random.number(bits: 48), directories: random.number(bits: 48),
                    others: random.number(bits: 2),
                    bytes: random.number(bits: 63)),
            changes: random.oneIn(3)
                ? ChangeCounts()
                : ChangeCounts(
                    added: random.number(bits: 48), modified: random.number(bits: 2), removed: random.number(bits: 48)),
            changedPaths: random.paths(0...Snapshot.changedPathsLimit).map {
                ChangedPath(path: $0, change: [.added, .modified, .removed].randomElement(using: &random) ?? .added)
            },
            problems: random.paths(0...8).map {
                Problem(path: $0, reason: random.oneIn(2) ? .unreadable : .unstable, detail: random.text())
            },
            storedBytes: random.oneIn(4) ? 0 : random.number(bits: 63), ownerNames: random.names(),
            groupNames: random.names(),
            exclusions: random.oneIn(3) ? ExclusionRules() : random.exclusionRules(),
            sequence: 1 + random.number(bits: 62), machine: random.machine(), isAside: random.oneIn(3),
            directory: random.oneIn(2) ? random.chunkID() : nil)
    }

    mutating func exclusionRules() -> ExclusionRules {
        var rules = ExclusionRules()
        if oneIn(2) { rules.patterns = (0..<below(4)).map { _ in bytes(0, 12) } }
        if oneIn(2) {
            rules.ignoreFileNames = (0..<below(3)).map { _ in
                [UInt8(ascii: "n")] + bytes(0, 6).map { max($0, UInt8(ascii: "0")) }
            }
        }
        if oneIn(2) { rules.largerThan = number() }
        rules.excludesCaches = oneIn(2)
        rules.crossesMounts = oneIn(2)
        return rules
    }

    mutating func gap() -> GapRecord {
        var random = self
        defer { self = random }
        return GapRecord(
            rootPath: random.bytes(0, 20), host: random.text(),
            cause: GapCause.allCases.randomElement(using: &random) ?? .overflow, start: random.recordTime(),
            end: random.recordTime(), detail: random.oneIn(2) ? random.text() : nil, machine: random.machine())
    }

    mutating func operation() -> OperationRecord {
        let record = plainOperation()
        guard oneIn(2) else { return record }
        let parts = ["a", "b/c"].map { record.path.appending(path: RelativePath(unchecked: Array($0.utf8))) }
        return OperationRecord(
            rootPath: record.rootPath, host: record.host, kind: record.kind, time: record.time, before: record.before,
            snapshot: record.snapshot, path: record.path, target: record.target, machine: record.machine,
            name: record.name, parts: parts, failed: 3, leavesRepositories: true, sequence: record.sequence + 1)
    }

    private mutating func plainOperation() -> OperationRecord {
        var random = self
        defer { self = random }
        let kind = OperationKind.allCases.randomElement(using: &random) ?? .restore
        func id() -> ChunkID { ChunkID(hashing: random.bytes(0, 8)) }
        return OperationRecord(
            rootPath: random.bytes(0, 20), host: random.text(), kind: kind, time: random.recordTime(),
            before: kind == .mark || random.oneIn(2) ? SnapshotID(id()) : nil,
            snapshot: random.oneIn(2) ? SnapshotID(id()) : nil, path: random.oneIn(2) ? random.path() : .root,
            target: kind != .restore || random.oneIn(2) ? OperationID(id()) : nil, machine: random.machine(),
            name: random.oneIn(2) ? random.text() : nil)
    }

    mutating func machine() -> MachineID { oneIn(3) ? .unknown : MachineID(deriving: bytes(0, 8)) }

    mutating func rootNotice() -> RootNotice {
        var random = self
        defer { self = random }
        let kind = RootNoticeKind.allCases.randomElement(using: &random) ?? .moved
        let newMachine = random.machine()
        return RootNotice(
            rootPath: random.bytes(0, 20), host: random.text(), kind: kind, time: random.recordTime(),
            machine: random.machine(), newPath: kind == .moved || random.oneIn(2) ? random.bytes(0, 20) : nil,
            newMachine: newMachine == .unknown ? nil : newMachine,
            through: random.oneIn(2) ? random.number(bits: 62) : nil,
            shift: random.oneIn(2) ? random.number(bits: 62) : 0)
    }

    mutating func sliceList() -> SliceList { SliceList(slices: slices(1...40)) }

    /// A block header within the limits with a random payload checksum.
    mutating func blockHeader() -> BlockHeader {
        let chunks = (0..<Int.random(in: 1...20, using: &self)).map { _ in
            BlockHeader.Chunk(
                kind: ChunkKind(rawValue: UInt8(oneIn(4) ? below(256) : below(15))),
                length: Int(number(bits: 19)), id: chunkID())
        }
        let raw = chunks.reduce(0) { $0 + $1.length }
        let codec: Codec = [.stored, .deflate, .delta, .later(2), .later(3)][below(5)]
        let fields = oneIn(5) ? bytes(1, 40) : []
        let key = oneIn(5) ? Int(number(bits: 28)) : 0
        let hasBases =
            switch codec {
            case .stored, .deflate: false
            case .delta: true
            case .later: oneIn(2)
            }
        let bases = !hasBases ? [] : (0..<Int.random(in: 1...8, using: &self)).map { _ in ChunkPrefix(chunkID()) }
        return BlockHeader(
            codec: codec, depth: bases.isEmpty ? 0 : Int.random(in: 1...16, using: &self),
            storedLength: codec == .stored ? raw : Int.random(in: 0...raw, using: &self),
            payloadChecksum: UInt32(number(bits: 32)), bases: bases, chunks: chunks, keyID: key, laterFields: fields)
    }
}

/// Changes some bytes of `bytes`: flips, insertions, removals, a cut, or a copy of one part over another.
func damaged(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...5, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 3: bytes.remove(at: index)
        case 4: bytes.removeSubrange(index...)
        default: bytes[index] = bytes[Int.random(in: 0..<bytes.count, using: &random)]
        }
    }
    return bytes
}
