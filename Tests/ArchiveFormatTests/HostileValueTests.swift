// Values that no writer creates are refused before they take much memory.

import FileIO
import TestSupport
import Testing

@testable import ArchiveFormat

@Suite("Hostile values")
struct HostileValueTests {
    private func entry(_ path: [UInt8], attributes: Int = 0) -> Entry {
        var entry = Entry(
            path: RelativePath(unchecked: path), kind: .file, permissions: 0o644, owner: 0, group: 0,
            modified: Timestamp(seconds: 1))
        entry.attributes = (0..<attributes).map { number in
            EntryAttribute(name: Array("user.\(number + 100_000)".utf8), value: [])
        }
        return entry
    }

    /// The error of reading `node`; nil if it is read.
    private func refusal(of node: Node) -> FormatError? {
        do throws(FormatError) { _ = try Node(decoding: node.encoded()) } catch { return error }
        return nil
    }

    @Test("a node of more than the greatest weight is refused")
    func weight() {
        func paths(_ count: Int) -> [[UInt8]] {
            (0..<count).map { [UInt8](repeating: 0x61, count: 65_530) + Array("\($0 + 100)".utf8) }
        }
        func children(_ count: Int) -> [Node.Child] {
            paths(count).map {
                Node.Child(firstPath: RelativePath(unchecked: $0), id: ChunkID(hashing: $0), entries: 1, bytes: 0)
            }
        }
        // 17 such paths are the first to reach 1 MiB.
        #expect(refusal(of: .leaf(paths(17).map { entry($0) })) == nil)
        #expect(refusal(of: .leaf(paths(18).map { entry($0) })) == .malformed("the weight of a node"))
        #expect(refusal(of: .inner(level: 1, children: children(17))) == nil)
        #expect(refusal(of: .inner(level: 1, children: children(18))) == .malformed("the weight of a node"))
        var heavy = entry(Array("a".utf8))
        heavy.attributes = (0..<16_384).map { number in
            EntryAttribute(name: Array("\(number + 10_000)".utf8), value: [UInt8](repeating: 1, count: 512))
        }
        #expect(refusal(of: .leaf([heavy])) == .malformed("the weight of a node"))
    }

    @Test("a node with a level above 63 is refused")
    func level() {
        let child = Node.Child(firstPath: .root, id: ChunkID(hashing: []), entries: 1, bytes: 0)
        #expect(refusal(of: .inner(level: 63, children: [child])) == nil)
        #expect(refusal(of: .inner(level: 64, children: [child])) == .malformed("the level of a node"))
    }

    @Test("a list that is too long is refused by its length")
    func lists() throws {
        #expect(refusal(of: .leaf([entry([0x61], attributes: 16_384)])) == nil)
        #expect(
            refusal(of: .leaf([entry([0x61], attributes: 16_385)]))
                == .malformed("a list of 16385 items, more than 16384"))
        // The bytes after the length are never read.
        let head: [UInt8] = [0xa1, 1, 0x81, 0xa2, 0, 0x41, 0x61, 14, 0x99, 0x40, 0x01]
        #expect(throws: FormatError.malformed("a list of 16385 items, more than 16384")) {
            try Node(decoding: head + [UInt8](repeating: 0xff, count: 16_385))
        }
        for (field, limit) in [(UInt8(9), 32), (10, 64)] {
            let record: [UInt8] =
                [0xa1, field, 0x98, UInt8(limit + 1)] + [UInt8](repeating: 0xff, count: limit + 1)
            #expect(throws: FormatError.malformed("a list of \(limit + 1) items, more than \(limit)")) {
                try Snapshot(decoding: record)
            }
        }
        let patterns: [UInt8] = [0xa1, 14, 0xa1, 0, 0x9a, 0, 1, 0, 1] + [UInt8](repeating: 0xff, count: 65_537)
        #expect(throws: FormatError.malformed("a list of 65537 items, more than 65536")) {
            try Snapshot(decoding: patterns)
        }
    }

    @Test("an item is skipped if and only if it could be read")
    func skipping() {
        var random = SeededGenerator("Passing over")
        var read = 0
        for _ in 0..<20_000 {
            var bytes = CBORValue.random(&random, depth: 4).encoded()
            for _ in 0..<random.below(3) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            let value = try? CBORValue(decoding: bytes)
            let count = try? CBORReader.countItems(of: bytes)
            #expect(value?.count == count, "\(bytes)")
            if count != nil { read += 1 }
        }
        #expect(read > 2_000)
    }
}

extension CBORValue {
    fileprivate static func random(_ random: inout SeededGenerator, depth: Int) -> CBORValue {
        switch random.below(depth > 0 ? 9 : 7) {
        case 0: .unsigned(random.next() >> UInt64(random.below(64)))
        case 1: .negative(complement: random.next() >> UInt64(random.below(64)))
        case 2: .bytes(random.noise(random.below(30)))
        case 3: .text(String(decoding: random.text(random.below(30)), as: UTF8.self))
        case 4: .boolean(random.oneIn(2))
        case 5: .null
        case 6: .float(Double(random.below(100)) / 8)
        case 7: .array((0..<random.below(5)).map { _ in CBORValue.random(&random, depth: depth - 1) })
        default:
            .map(
                (0..<random.below(5)).map { number in
                    (.unsigned(UInt64(number) * 20), CBORValue.random(&random, depth: depth - 1))
                })
        }
    }

    /// The number of items, nested ones included.
    fileprivate var count: Int {
        switch self {
        case .array(let items): items.reduce(1) { $0 + $1.count }
        case .map(let pairs): pairs.reduce(1) { $0 + $1.key.count + $1.value.count }
        default: 1
        }
    }
}
