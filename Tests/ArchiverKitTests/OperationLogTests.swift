// What undo and redo do next after any sequence of operations, by table.

import ArchiveFormat
import ArchiveStorage
import FileIO
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Archives

@Suite("The operation log", .blocking)
struct OperationLogTests {
    /// Operations in words, numbered from 1: "restore", "undo 1", "redo 2", "done 3", "failed 3", "later".
    ///
    /// A number without an operation is one whose record is lost.
    private static func records(_ text: String) -> [StoredOperation] {
        var ids: [Int: OperationID] = [:]
        var records: [StoredOperation] = []
        for (index, words) in text.split(separator: ",").map({ $0.split(separator: " ") }).enumerated() {
            let number = words.count > 1 ? Int(words[1]) : nil
            let target = number.map { ids[$0] ?? OperationID(ChunkID(hashing: Array("lost \($0)".utf8))) }
            let kind =
                ["done", "failed"].contains(words[0])
                ? OperationKind.completion : OperationKind(rawValue: String(words[0]))
            let stored = StoredOperation(
                OperationRecord(
                    rootPath: [0x2f], host: "", kind: kind ?? .restore, time: Timestamp(seconds: Int64(index)),
                    target: target, failed: words[0] == "failed" ? 1 : 0))
            records.append(stored)
            if kind != .completion { ids[ids.count + 1] = stored.id }
        }
        return records
    }

    private static let table: [(operations: String, undo: String, redo: String)] = [
        ("", "", ""),
        ("restore,done 1", "1", ""),
        ("restore", "1", ""),
        ("restore,done 1,restore,done 2", "2 1", ""),
        ("restore,done 1,restore,done 2,undo 2,done 3", "1", "3"),
        ("restore,done 1,restore,done 2,undo 2,done 3,undo 1,done 4", "", "4 3"),
        // A redo can be undone itself, and the remaining steps stay in place.
        ("restore,done 1,restore,done 2,undo 2,done 3,undo 1,done 4,redo 4,done 5", "5", "3"),
        ("restore,done 1,restore,done 2,undo 2,done 3,undo 1,done 4,redo 4,done 5,redo 3,done 6", "6 5", ""),
        ("restore,done 1,undo 1,done 2,redo 2,done 3,undo 3,done 4", "", "4"),
        // A restore discards the redo steps, even if it was interrupted.
        ("restore,done 1,undo 1,done 2,restore,done 3", "3", ""),
        ("restore,done 1,undo 1,done 2,restore", "3", ""),
        ("restore,done 1,restore,done 2,undo 2,done 3,restore,done 4,undo 4,done 5,undo 1,done 6", "", "6 5"),
        // An interrupted operation is completed first; undoing it restores the state before its first start.
        ("restore,done 1,undo 1", "2! ", "2"),
        ("restore,done 1,restore,done 2,undo 2", "3! 1", "3"),
        ("restore,done 1,restore,done 2,undo 2,undo 2", "4! 1", "3"),
        ("restore,done 1,restore,done 2,undo 2,undo 2,done 4", "1", "3"),
        ("restore,done 1,undo 1,redo 2", "3", "3!"),
        ("restore,done 1,undo 1,done 2,redo 2,redo 2,done 4", "3", ""),
        ("restore,done 1,undo 1,redo 2,done 3", "3", ""),
        ("restore,done 1,undo 1,done 2,redo 2,undo 3", "4!", "4"),
        // An undo that ran to its end without restoring everything is repeated only if nothing else is left.
        ("restore,done 1,restore,done 2,undo 2,failed 3", "1", "3"),
        ("restore,done 1,undo 1,failed 2", "2!", "2"),
        ("restore,done 1,undo 1,done 2,redo 2,failed 3", "3", "3!"),
        // An operation of a later version of the program has changed the root, too.
        ("restore,done 1,undo 1,done 2,later,done 3", "3", ""),
        ("later,restore,done 2", "2 1", ""),
        // Lost records are skipped.
        ("undo 9,done 1", "", "1"),
        ("restore,done 1,redo 9,done 2", "2 1", ""),
        ("done 9,restore,done 1", "1", ""),
        ("restore,done 1,undo 9", "2! 1", "2"),
    ]

    @Test("the next undo and redo follow from the recorded operations", arguments: table.indices)
    func steps(row: Int) {
        let (text, undo, redo) = Self.table[row]
        let records = Self.records(text)
        let log = OperationLog(replaying: records)
        let operations = records.filter { $0.record.kind != .completion }
        #expect(log.operations.map(\.id) == operations.map(\.id))
        func names(_ reversal: LoggedOperation.Reversal) -> String {
            log.steps(reversal).map { step in
                guard let resumed = step.resumed else {
                    return operations.firstIndex { $0.id == step.target }.map { "\($0 + 1)" } ?? "?"
                }
                return operations.lastIndex { $0.record == resumed }.map { "\($0 + 1)!" } ?? "?"
            }.joined(separator: " ")
        }
        #expect(names(.undo) == undo.split(separator: " ").joined(separator: " "), "\(text)")
        #expect(names(.redo) == redo.split(separator: " ").joined(separator: " "), "\(text)")
        let completions = records.filter { $0.record.kind == .completion && $0.record.failed == 0 }.compactMap(
            \.record.target)
        #expect(log.operations.filter(\.isComplete).map(\.id) == operations.map(\.id).filter(completions.contains))
    }

    @Test("an operation records its reversal, and whether it is next to be undone or redone")
    func marks() {
        let records = Self.records("restore,done 1,restore,done 2,undo 2,done 3,undo 1,done 4,redo 4")
        let operations = OperationLog(replaying: records).operations
        #expect(operations.map(\.undoneBy) == [3, 2, nil, 4, nil].map { $0.map { operations[$0].id } })
        #expect(operations.map(\.next) == [nil, nil, .redo, nil, .undo])
    }

    /// The model is a history of full states, as in an editor.
    @Test("any sequence of restores, undos and redos agrees with a model of two stacks")
    func random() throws {
        var random = SeededGenerator("any sequence of restores, undos and redos")
        for _ in 0..<200 {
            var records: [StoredOperation] = []
            // The state before each operation on the piles, and its id.
            var undoPile: [OperationID] = []
            var redoPile: [OperationID] = []
            func enter(_ kind: OperationKind, _ target: OperationID?) -> OperationID {
                let record = OperationRecord(
                    rootPath: [], host: "", kind: kind, time: Timestamp(seconds: Int64(records.count)), target: target)
                records.append(StoredOperation(record))
                return records[records.count - 1].id
            }
            for _ in 0..<random.below(30) {
                let id: OperationID
                switch random.below(3) {
                case 0:
                    id = enter(.restore, nil)
                    undoPile.append(id)
                    redoPile = []
                case 1:
                    guard let top = undoPile.popLast() else { continue }
                    id = enter(.undo, top)
                    redoPile.append(id)
                default:
                    guard let top = redoPile.popLast() else { continue }
                    id = enter(.redo, top)
                    undoPile.append(id)
                }
                _ = enter(.completion, id)
                let log = OperationLog(replaying: records)
                #expect(log.steps(.undo).map(\.target) == undoPile.reversed(), "seed \(random.seed)")
                #expect(log.steps(.redo).map(\.target) == redoPile.reversed(), "seed \(random.seed)")
            }
        }
    }
}
