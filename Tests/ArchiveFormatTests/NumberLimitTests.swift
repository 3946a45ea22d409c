// Numbers beyond the limits of the format are refused, so that no sum of stored numbers can trap.

import ArchiveFormat
import FileIO
import Testing

@Suite("Limits of numbers")
struct NumberLimitTests {
    private static let sum = UInt64(Int64.max)
    private static let count: UInt64 = 1 << 48

    private func isRead(_ change: (inout Snapshot) -> Void) -> Bool {
        var snapshot = Snapshot(
            time: Timestamp(seconds: 1), rootPath: [0x2F], host: "", cause: .watch, tree: ChunkID(hashing: []),
            totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
        change(&snapshot)
        return (try? Snapshot(decoding: snapshot.encoded())) == snapshot
    }

    @Test("a snapshot has at most 2^63 - 1 bytes, and other counts are at most 2^48")
    func snapshots() {
        #expect(isRead { $0.storedBytes = Self.sum })
        #expect(!isRead { $0.storedBytes = Self.sum + 1 })
        #expect(!isRead { $0.storedBytes = .max })
        #expect(isRead { $0.totals = Totals(files: Self.count, directories: Self.count, others: 1, bytes: Self.sum) })
        #expect(!isRead { $0.totals.bytes = .max })
        #expect(!isRead { $0.totals.files = Self.count + 1 })
        #expect(!isRead { $0.totals.directories = .max })
        #expect(!isRead { $0.totals.others = .max })
        #expect(isRead { $0.changes = ChangeCounts(added: Self.count, modified: Self.count, removed: Self.count) })
        #expect(!isRead { $0.changes.added = .max })
        #expect(!isRead { $0.changes.modified = Self.count + 1 })
        #expect(!isRead { $0.changes.removed = .max })
    }

    @Test("a child has at most 2^48 entries and 2^63 - 1 bytes, and sums are capped at these limits")
    func children() throws {
        func node(_ entries: UInt64, _ bytes: UInt64) -> Node {
            .inner(
                level: 1,
                children: ["a", "b", "c"].map {
                    Node.Child(
                        firstPath: RelativePath(unchecked: Array($0.utf8)), id: ChunkID(hashing: []), entries: entries,
                        bytes: bytes)
                })
        }
        let greatest = try Node(decoding: node(Self.count, Self.sum).encoded())
        #expect(greatest.entryCount == Self.count && greatest.byteCount == Self.sum)
        #expect(throws: FormatError.self) { try Node(decoding: node(Self.count + 1, 0).encoded()) }
        #expect(throws: FormatError.self) { try Node(decoding: node(0, Self.sum + 1).encoded()) }
    }

    @Test("a path of more than 65,535 bytes is refused")
    func paths() throws {
        func node(_ length: Int) -> Node {
            let path = RelativePath(unchecked: .init(repeating: 0x61, count: length))
            return .leaf([Entry(path: path, kind: .fifo, permissions: 0, modified: Timestamp(seconds: 0))])
        }
        #expect(try Node(decoding: node(65_535).encoded()) == node(65_535))
        #expect(throws: FormatError.self) { try Node(decoding: node(65_536).encoded()) }
    }

    @Test("a list has at most 4,096 slices")
    func slices() throws {
        func list(_ count: Int) -> SliceList {
            SliceList(slices: .init(repeating: Slice(length: 1, chunk: nil), count: count))
        }
        #expect(try SliceList(decoding: list(4096).encoded()) == list(4096))
        #expect(throws: FormatError.self) { try SliceList(decoding: list(4097).encoded()) }
    }
}
