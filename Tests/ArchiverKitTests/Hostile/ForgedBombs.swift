// Archives that are small on disk, but cost a careless reader gigabytes or years.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Roots
import TestSupport

@testable import ArchiverKit

extension ForgedArchive {
    /// Archives on which no command must use much memory or time.
    static let bombs = contentBombs + deltaBombs + stateBombs + recordBombs + treeBombs

    /// The most raw bytes in a block.
    private static let most = BlockHeader.rawLengthLimit

    /// An array with as many items as fit into a block with `spare` other bytes.
    private static func array(of item: [UInt8], spare: Int = 1 << 16) -> [UInt8] {
        let count = (most - spare) / item.count
        return head(0x80, count) + [UInt8](repeating: item, times: count)
    }

    /// A map from numbers to `value`, with as many pairs as fit into a block.
    private static func numbered(_ value: [UInt8], spare: Int = 1 << 16) -> [UInt8] {
        let count = (most - spare) / (5 + value.count)
        return head(0xa0, count) + [UInt8](numbering: value, times: count, from: 1 << 16)
    }

    /// The head of a CBOR item of the major type `major`.
    private static func head(_ major: UInt8, _ count: Int) -> [UInt8] {
        if count < 24 { return [major | UInt8(count)] }
        if count < 1 << 16 { return [major | 25] + withUnsafeBytes(of: UInt16(count).bigEndian) { Array($0) } }
        return [major | 26] + withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0) }
    }

    /// A snapshot of a file `f` with the content that `content` returns.
    private static func file(
        _ name: String, _ content: @escaping @Sendable (Forgery) throws -> Content
    ) -> ForgedArchive {
        ForgedArchive(name) { try $0.snapshot([.forgedRoot, .forged("f", .file, content($0))]) }
    }

    // MARK: Contents

    private static let contentBombs: [ForgedArchive] = [
        file("a hole of 8 EiB") { _ in .slices([Slice(length: UInt64(Int64.max), chunk: nil)]) },
        file("a hole of 1 EiB between two chunks") { forgery in
            let slice = Slice(length: 4, chunk: try forgery.content([1, 2, 3, 4]))
            return .slices([slice, Slice(length: 1 << 60, chunk: nil), slice])
        },
        file("eight million holes in one list") {
            .sliceLists([ListedSlices(length: 8_000_000, list: try $0.add(.sliceList, array(of: [0x81, 1])))])
        },
        ForgedArchive("eight million holes in an entry") { forgery in
            let hole = Content.slices([Slice(length: 1, chunk: nil)])
            try forgery.snapshot(
                node: .leaf([.forgedRoot, .forged("f", .file, hole)]), with: [8, 0x81, 0x81, 1],
                replacedBy: [8] + array(of: [0x81, 1]))
        },
        file("370,000 lists of 4,096 holes") { forgery in
            let list = try forgery.listed([Slice](repeating: Slice(length: 1 << 31, chunk: nil), count: 4_096))
            return .sliceLists([ListedSlices](repeating: list, count: 370_000))
        },
        ForgedArchive("four million attributes") { forgery in
            var entry = Entry.forged("f", text: "x")
            entry.attributes = [EntryAttribute(name: [0x61], value: [])]
            try forgery.snapshot(
                node: .leaf([.forgedRoot, entry]), with: [14, 0x81, 0xa1, 0, 0x41, 0x61],
                replacedBy: [14] + array(of: [0xa1, 0, 0x41, 0x61]))
        },
    ]

    // MARK: Deltas

    private static let deltaBombs: [ForgedArchive] = [
        file("blocks of 16 MiB with eight bases each, on 16 levels") { forgery in
            let chunkBytes = most / 8
            var random = SeededGenerator(seed: 9)
            var source = random.noise(most)
            var bases = try (0..<8).map { number in
                try forgery.content(Array(source[number * chunkBytes..<(number + 1) * chunkBytes]))
            }
            for level in 1...16 {
                // Each block has eight chunks; block n's chunk n is a base of all blocks of the next level.
                var (nextSource, nextBases): ([UInt8], [ChunkID]) = ([], [])
                for number in 0..<8 {
                    let raw = source.shifted(behind: UInt8(level * 8 + number))
                    let chunks = (0..<8).map {
                        RawChunk(kind: .content, bytes: Array(raw[$0 * chunkBytes..<($0 + 1) * chunkBytes]))
                    }
                    // Insert one byte, then copy the rest from the beginning of the source.
                    let delta = [1] + Forgery.number(most - 1) + [0, raw[0]]
                    try forgery.add(chunks, delta: delta, bases: bases, claimedDepth: level)
                    nextSource += chunks[number].bytes
                    nextBases.append(chunks[number].id)
                }
                (source, bases) = (nextSource, nextBases)
            }
            return .slices([Slice(length: UInt64(chunkBytes), chunk: bases[0])])
        }
    ]

    // MARK: States

    /// Two states of the title `game`: a small one, and one that has `bytes` `times` times.
    private static func state(_ name: String, times: Int = 1, _ bytes: @escaping @Sendable () -> [UInt8])
        -> ForgedArchive
    {
        ForgedArchive(name, hasStates: true) { forgery in
            try forgery.snapshot([.forgedRoot, .forged("f", text: "x")])
            let small = try forgery.content([0x01])
            let bytes = bytes()
            let large = Slice(length: UInt64(bytes.count), chunk: try forgery.content(bytes))
            for (seconds, slices) in [[Slice(length: 1, chunk: small)], [Slice](repeating: large, count: times)]
                .enumerated()
            {
                var content = Content.slices(slices)
                if slices.count > 16 {
                    content = .sliceLists([try forgery.listed(slices)])
                }
                let record = StateRecord(
                    title: "game", host: "", time: Timestamp(seconds: 1_700_000_000 + Int64(seconds)), type: "Int",
                    content: content)
                try forgery.add(.state, record.encoded())
            }
        }
    }

    private static let stateBombs: [ForgedArchive] = [
        state("a state of sixteen million empty maps") { array(of: [0xa0]) },
        state("a state of sixteen million numbers") { array(of: [0x01]) },
        state("a state of five million maps in maps") { array(of: [0xa1, 0, 0xa0]) },
        state("a state of eight million empty texts in arrays") { array(of: [0x81, 0x60]) },
        state("a state of arrays inside each other") {
            let nested = [UInt8](repeating: 0x81, count: 120) + [0]
            return array(of: nested)
        },
        state("a state nested deeper than allowed") { [UInt8](repeating: 0x81, count: most - 1) + [0] },
        state("a state of three million fields") { numbered([1]) },
        state("a state of 16 MiB of text") {
            head(0x60, most - 16) + [UInt8](repeating: 1, count: most - 16)
        },
        state("a state of 64 GiB", times: 4_096) { [UInt8](repeating: 0xa0, count: most) },
    ]

    // MARK: Records

    /// A snapshot with an additional field: 9 to 14, or 17 and more.
    private static func snapshot(_ name: String, _ field: UInt8, _ value: @escaping @Sendable () -> [UInt8])
        -> ForgedArchive
    {
        ForgedArchive(name) { forgery in
            let tree = try forgery.leaf([.forgedRoot, .forged("f", text: "x")]).id
            var bytes = forgery.record(tree: tree, totals: Totals(files: 1, directories: 1, bytes: 1)).encoded()
            bytes[0] += 1
            // The sequence 1 and the machine come after the field.
            bytes.insert(contentsOf: [field] + value(), at: field < 15 ? bytes.count - 20 : bytes.count)
            try forgery.add(.snapshot, bytes)
        }
    }

    private static let recordBombs: [ForgedArchive] = [
        snapshot("sixteen million changed paths", 9) { array(of: [0xa0]) },
        snapshot("sixteen million problems", 10) { array(of: [0xa0]) },
        snapshot("three million names of owners", 12) { numbered([0x60]) },
        snapshot("sixteen million patterns", 14) { [0xa1, 0] + array(of: [0x40]) },
        snapshot("sixteen million names of ignore files", 14) { [0xa1, 1] + array(of: [0x41, 0x61]) },
        snapshot("a field of a later version, of sixteen million maps", 23) { array(of: [0xa0]) },
        ForgedArchive("a root that is moved to itself at the end of time") { forgery in
            try forgery.snapshot([.forgedRoot, .forged("f", text: "x")])
            for time in [Timestamp(seconds: 253_402_300_799), Timestamp(seconds: .max / 2)] {
                let notice = RootNotice(
                    rootPath: forgery.rootPath.bytes, host: "", kind: .moved, time: time, machine: Machine.id,
                    newPath: forgery.rootPath.bytes)
                try forgery.add(.rootNotice, notice.encoded())
            }
        },
        ForgedArchive("stored bytes with the greatest number") { forgery in
            let tree = try forgery.leaf([.forgedRoot, .forged("f", text: "x")]).id
            let totals = Totals(files: 1, directories: 1, bytes: 1)
            for stored in [UInt64.max, UInt64(Int64.max), UInt64(Int64.max) - 1] {
                try forgery.snapshot(tree: tree, totals: totals, storedBytes: stored)
            }
        },
    ]

    // MARK: Trees

    private static let treeBombs: [ForgedArchive] = [
        ForgedArchive("16^8 entries in nine nodes") { forgery in
            var child = try forgery.leaf([.forgedRoot, .forged("f", text: "x")])
            for level in 1...8 {
                let others = (0..<15).map { number in
                    var other = child
                    other.firstPath = RelativePath(unchecked: Array("g\(level)\(number + 10)".utf8))
                    return other
                }
                child = try forgery.inner(level, [child] + others)
            }
            try forgery.snapshot(tree: child.id, totals: Totals(files: 1 << 32, directories: 1 << 32, bytes: 1 << 32))
        },
        ForgedArchive("255 nodes in one chain") { forgery in
            var child = try forgery.leaf([.forgedRoot, .forged("f", text: "x")])
            for level in 1...255 { child = try forgery.inner(level, [child]) }
            try forgery.snapshot(tree: child.id, totals: Totals(files: 1, directories: 1, bytes: 1))
        },
        ForgedArchive("200 nodes in one chain with 33 MB of paths each") { forgery in
            var child = try forgery.leaf([.forgedRoot, .forged("f", text: "x")])
            let path = [UInt8](repeating: 0x67, count: 65_000)
            var lost: [UInt8] = [2, 0x58, 32]
            lost += ChunkID(hashing: [9]).bytes
            lost += [3, 1]
            for level in 1...200 {
                var bytes = Node.inner(level: level, children: [child]).encoded()
                // Change the array of one child into one of 512.
                guard let place = bytes.firstRange(of: [2, 0x81]) else { return }
                bytes.replaceSubrange(place, with: [2, 0x99, 2, 0])
                for number in 0..<511 {
                    let end = [UInt8(level + 1), UInt8(1 + number / 100), UInt8(1 + number % 100)]
                    // How many bytes of the end differ from the previous path.
                    let own = number == 0 ? 3 : number % 100 == 0 ? 2 : 1
                    bytes += number == 0 ? [0xa3, 0] : [0xa4, 0]
                    if number == 0 {
                        bytes += head(0x40, path.count + 3)
                        bytes += path
                    } else {
                        bytes += head(0x40, own)
                    }
                    bytes += end.suffix(own)
                    if number > 0 {
                        bytes += [1]
                        bytes += head(0, path.count + 3 - own)
                    }
                    bytes += lost
                }
                child = Node.Child(
                    firstPath: .root, id: try forgery.add(.node, bytes), entries: child.entries + 511,
                    bytes: child.bytes)
            }
            try forgery.snapshot(
                tree: child.id, totals: Totals(files: child.entries - 1, directories: 1, bytes: child.bytes))
        },
        ForgedArchive("1,000 directories inside each other with long names") { forgery in
            var children: [Node.Child] = []
            var entries = [Entry.forgedRoot, .forged("f", text: "x")]
            var path: [UInt8] = []
            for level in 1...1_000 {
                path += (level == 1 ? [] : [UInt8(ascii: "/")]) + [UInt8](repeating: 0x67, count: 60)
                var entry = Entry.forged("", .directory)
                entry.path = RelativePath(unchecked: path)
                entries.append(entry)
                if entries.count >= 16 || level == 1_000 {
                    children.append(try forgery.leaf(entries))
                    entries = []
                }
            }
            try forgery.snapshot(
                tree: forgery.inner(1, children).id, totals: Totals(files: 1, directories: 1_001, bytes: 1))
        },
    ]
}
