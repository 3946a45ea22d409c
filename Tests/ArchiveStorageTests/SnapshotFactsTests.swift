// The facts about a snapshot that the catalogue stores in one column.

import ArchiveFormat
import FileIO
import TestSupport
import TestTraits
import Testing

@testable import ArchiveStorage

@Suite(.blocking) struct SnapshotFactsTests {
    private func facts(_ numbers: [UInt64], problems: Int, parent: Bool, cause: Cause) throws -> SnapshotFacts {
        let id = ChunkID(hashing: Array("tree".utf8))
        return SnapshotFacts(
            ListedSnapshot(
                id: SnapshotID(id), time: Timestamp(seconds: 5), rootPath: [0x2F], host: "", cause: cause, label: nil,
                parent: parent ? SnapshotID(ChunkID(hashing: Array("parent".utf8))) : nil, tree: id,
                totals: Totals(files: numbers[0], directories: numbers[1], others: numbers[2], bytes: numbers[3]),
                changes: ChangeCounts(added: numbers[4], modified: numbers[5], removed: numbers[6]),
                problems: problems, storedBytes: 0))
    }

    private func decoded(_ bytes: [UInt8]) -> SnapshotFacts? {
        var causes = Repeated<Cause?>()
        return bytes.withUnsafeBytes { SnapshotFacts($0, &causes) }
    }

    private static let numbers: [[UInt64]] = [
        [0, 0, 0, 0, 0, 0, 0], [1, 127, 128, 16_383, 16_384, 1 << 35, 1 << 62],
        [UInt64](repeating: .max, count: 7),
    ]

    @Test("facts are decoded as they were encoded", arguments: numbers, [true, false])
    func roundTrip(_ numbers: [UInt64], hasParent: Bool) throws {
        for cause in Cause.allCases + [try #require(Cause(rawValue: "of-a-later-program"))] {
            for problems in [0, 7, .max] {
                let facts = try facts(numbers, problems: problems, parent: hasParent, cause: cause)
                let back = try #require(decoded(facts.encoded))
                #expect(back.encoded == facts.encoded)
                #expect(back.totals == facts.totals && back.changes == facts.changes)
                #expect(back.problems == problems && back.cause == cause)
                #expect(back.tree == facts.tree && back.parent == facts.parent)
            }
        }
    }

    @Test("truncated and invalid bytes are refused") func invalidBytes() throws {
        let bytes = try facts(Self.numbers[1], problems: 3, parent: true, cause: .watch).encoded
        // Up to an empty cause: any longer prefix of the cause, which comes last, is valid.
        for length in 0...(bytes.count - Cause.watch.rawValue.utf8.count) {
            #expect(decoded(Array(bytes.prefix(length))) == nil, "\(length) bytes")
        }
        #expect(decoded(bytes + Array(" ".utf8)) == nil)
        #expect(decoded([UInt8](repeating: 0xFF, count: 200)) == nil)
    }

    @Test("neighbouring rows with different causes are decoded correctly") func changingCauses() throws {
        var causes = Repeated<Cause?>()
        for cause in [Cause.watch, .watch, .capture, .watch, .audit] {
            let bytes = try facts(Self.numbers[0], problems: 0, parent: false, cause: cause).encoded
            #expect(bytes.withUnsafeBytes { SnapshotFacts($0, &causes) }?.cause == cause)
        }
    }
}
