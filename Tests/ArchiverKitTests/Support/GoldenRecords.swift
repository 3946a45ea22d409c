// Lists the records of a golden archive as lines of text.

import ArchiveFormat
import ArchiveStorage
import Exclusions
import FileIO

@testable import ArchiverKit

enum GoldenRecords {
    /// Everything that the archive lists, in an order that does not depend on the catalogue.
    static func lines(of archive: Archive) throws -> [String] {
        let catalogue = archive.store.catalogue
        var lines: [String] = []
        for record in try catalogue.snapshots() {
            let snapshot = try archive.details(of: record)
            lines.append(
                "snapshot \(record.id.hex) \(record.sequence) \(record.time.rfc3339) \(record.cause.rawValue) "
                    + "\(record.label ?? "-") \(record.parent?.short ?? "-") \(record.totals) \(record.changes) "
                    + "\(snapshot.changedPaths.count) \(text(record.rootPath)) \(record.host) \(record.machine.hex) "
                    + "\(record.isAside) \(snapshot.exclusions.patterns.map(text)) \(snapshot.ownerNames.sorted { $0.key < $1.key })"
            )
        }
        for state in try catalogue.states() {
            let bytes = try archive.store.bytes(of: archive.store.stateRecord(state.id))
            lines.append(
                "state \(state.id.hex) \(state.title) \(state.sequence) \(state.time.rfc3339) \(state.label ?? "-") \(state.type) "
                    + "\(state.version) \(ChunkID(hashing: bytes).hex)")
        }
        for gap in try catalogue.gaps() {
            lines.append(
                "gap \(text(gap.rootPath)) \(gap.host) \(gap.cause.rawValue) \(gap.start.rfc3339) \(gap.end.rfc3339) "
                    + "\(gap.detail ?? "-") \(gap.machine.hex)")
        }
        for operation in try catalogue.operations() {
            let record = operation.record
            lines.append(
                "operation \(operation.id.hex) \(record.kind.rawValue) \(record.time.rfc3339) "
                    + "\(record.before?.short ?? "-") \(record.snapshot?.short ?? "-") \(Hex.string(record.path.bytes)) "
                    + "\(record.target?.short ?? "-") \(text(record.rootPath))")
        }
        for notice in try catalogue.notices().sorted(by: { $0.id < $1.id }) {
            let record = notice.record
            lines.append(
                "notice \(notice.id.hex) \(record.kind.rawValue) \(record.time.rfc3339) \(text(record.rootPath)) "
                    + "\(record.newPath.map(text) ?? "-")")
        }
        for forgotten in try catalogue.forgotten() {
            lines.append("forgotten \(forgotten.id.hex) \(forgotten.time.rfc3339)")
        }
        for pin in try catalogue.pins().values.sorted(by: { $0.target < $1.target }) {
            lines.append(
                "pin \(pin.target.hex) \(pin.time.rfc3339) \(pin.until?.rfc3339 ?? "-") \(pin.reason ?? "-")")
        }
        for note in try catalogue.notes() {
            lines.append(
                "note \(note.id.hex) \(note.record.time.rfc3339) \(text(note.record.rootPath)) "
                    + "\(note.record.snapshot?.short ?? "-") \(note.record.text)")
        }
        for root in [nil] + (try catalogue.roots().map { Optional($0.number) }) {
            guard let policy = try catalogue.policy(root: root) else { continue }
            lines.append(
                "policy \(policy.rootPath.map(text) ?? "-") \(policy.time.rfc3339) "
                    + "\(policy.tiers.map { "\($0.width):\($0.age ?? 0)" }) \(policy.maxSize ?? 0) "
                    + "\(policy.minFreeBytes ?? 0) \(policy.minFreePercent ?? 0)")
        }
        for snapshot in try catalogue.snapshots() {
            guard let age = try catalogue.recordedLifetime(snapshot.id) else { continue }
            lines.append("deletion \(snapshot.id.hex) \(age)")
        }
        for segment in try catalogue.droppedSegments().sorted() { lines.append("dropped \(segment.hex)") }
        for (segment, lost) in try catalogue.lostSegments().sorted(by: { $0.key < $1.key }) {
            lines.append("lost \(segment.hex) \(lost.time.rfc3339) \(lost.reason ?? "-")")
        }
        for segment in try catalogue.segments() {
            var depth = 0
            var blocks = 0
            try catalogue.forEachBlock(ofSegment: segment.number) { _, block in
                depth = max(depth, block.depth)
                blocks += 1
            }
            lines.append(
                "segment \(segment.path) \(segment.isSealed ? "sealed" : "open") \(blocks) blocks to depth \(depth)")
        }
        return lines
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
