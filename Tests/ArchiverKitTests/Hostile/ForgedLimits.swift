// Archives with the greatest and the least numbers that the format allows, in every field.

import ArchiveFormat
import FileIO
import Roots
import TestSupport

@testable import ArchiverKit

extension ForgedArchive {
    /// Archives on which no sum of numbers may trap.
    static let limits: [ForgedArchive] = (0..<4).map { seed in
        ForgedArchive("numbers at the limits of the format, variant \(seed)", hasStates: true) { forgery in
            var numbers = LimitNumbers(random: SeededGenerator(seed: UInt64(seed)))
            try forgery.addSnapshots(&numbers)
            try forgery.addRecords(&numbers)
        }
    }
}

/// Chooses numbers at the limits of the format.
private struct LimitNumbers {
    var random: SeededGenerator

    private mutating func one<Number>(of numbers: [Number], _ usual: Number) -> Number {
        numbers.randomElement(using: &random) ?? usual
    }

    /// A time of a record: in the years 0 to 9999.
    mutating func time() -> Timestamp {
        let now = Timestamp.now.seconds
        let seconds = one(
            of: [FormatLimits.recordSeconds.lowerBound, -1, 0, now, FormatLimits.recordSeconds.upperBound], 0)
        return Timestamp(seconds: seconds, nanoseconds: one(of: [0, 1, 999_999_999], 0))
    }

    /// A time of a file: any.
    mutating func fileTime() -> Timestamp {
        let seconds: Int64 = one(of: [.min, .min + 1, -1, 0, .max - 1, .max], 0)
        return Timestamp(seconds: seconds, nanoseconds: one(of: [0, 999_999_999], 0))
    }

    mutating func count() -> UInt64 { one(of: [0, 1, 2, FormatLimits.entries - 1, FormatLimits.entries], 0) }
    mutating func bytes() -> UInt64 { one(of: [0, 1, 1 << 40, FormatLimits.bytes - 1, FormatLimits.bytes], 0) }
    mutating func any() -> UInt64 { one(of: [0, 1, 1 << 63, .max - 1, .max], 0) }
}

extension Forgery {
    fileprivate func addSnapshots(_ numbers: inout LimitNumbers) throws {
        let greatest = Snapshot.sequenceLimit
        for sequence in [1, 2, 1 << 32, 1 << 61, greatest - 1, greatest] {
            var entries: [Entry] = [.forgedRoot, .forged("f", text: "text \(sequence % 3)\n")]
            let size = max(1, numbers.bytes())
            entries.append(.forged("g", .file, .slices([Slice(length: size, chunk: nil)])))
            entries.append(.forged("h\(sequence % 2)", text: "as it was"))
            for index in entries.indices {
                entries[index].modified = numbers.fileTime()
                entries[index].owner = .max
                entries[index].group = .max
                entries[index].signature = Signature(inode: numbers.any(), changed: numbers.fileTime())
            }
            var totals = Totals(files: 3, directories: 1, bytes: FormatLimits.sum(size, 15, FormatLimits.bytes))
            if sequence == 2 {
                totals = Totals(
                    files: numbers.count(), directories: numbers.count(), others: numbers.count(),
                    bytes: numbers.bytes())
            }
            var snapshot = record(tree: try node(.leaf(entries)), totals: totals)
            snapshot.time = numbers.time()
            snapshot.sequence = sequence
            snapshot.changes = ChangeCounts(
                added: numbers.count(), modified: numbers.count(), removed: numbers.count())
            snapshot.storedBytes = numbers.bytes()
            snapshot.exclusions.largerThan = numbers.any()
            try add(.snapshot, snapshot.encoded())
        }
    }

    fileprivate func addRecords(_ numbers: inout LimitNumbers) throws {
        let (path, machine) = (rootPath.bytes, Machine.id)
        let tree = try node(.leaf([.forgedRoot, .forged("f", text: "last\n")]))
        let last = SnapshotID(
            try add(.snapshot, record(tree: tree, totals: Totals(files: 1, directories: 1, bytes: 5)).encoded()))
        for _ in 0..<4 {
            let times = [numbers.time(), numbers.time()].sorted()
            let gap = GapRecord(
                rootPath: path, host: "", cause: .downtime, start: times[0], end: times[1], machine: machine)
            try add(.gap, gap.encoded())
            let operation = OperationRecord(
                rootPath: path, host: "", kind: .restore, time: numbers.time(), before: last, snapshot: last,
                machine: machine)
            try add(.operation, operation.encoded())
            let run = OperationRecord(
                rootPath: path, host: "", kind: .run, time: numbers.time(), before: last, machine: machine, name: "run")
            try add(.operation, run.encoded())
            try add(.label, LabelRecord(target: last.chunk, time: numbers.time(), label: "label").encoded())
            try add(.pin, PinRecord(target: last.chunk, time: numbers.time(), until: numbers.time()).encoded())
            let note = NoteRecord(rootPath: path, host: "", time: numbers.time(), text: "note", machine: machine)
            try add(.note, note.encoded())
            let state = StateRecord(
                title: "game", host: "", time: numbers.time(), sequence: max(2, numbers.any() >> 2), type: "Int",
                version: .max, content: .inline([0x01]), storedBytes: numbers.bytes())
            try add(.state, state.encoded())
        }
        let tiers: [PolicyRecord.Tier] = [.init(width: 1 << 47, age: (1 << 48) - 1), .init(width: 1 << 48, age: nil)]
        let policy = PolicyRecord(
            time: numbers.time(), tiers: tiers, maxSize: max(1, numbers.bytes()), minFreeBytes: numbers.bytes(),
            minFreePercent: 100)
        try add(.policy, policy.encoded())
        let lifetimes = DeletionRecord.splitting([last: numbers.any()], at: numbers.time())
        for record in lifetimes { try add(.deletion, record.encoded()) }
        let notice = RootNotice(
            rootPath: Array("/elsewhere".utf8), host: "", kind: .moved, time: numbers.time(), machine: machine,
            newPath: path, through: Snapshot.sequenceLimit, shift: Snapshot.sequenceLimit)
        try add(.rootNotice, notice.encoded())
    }
}
