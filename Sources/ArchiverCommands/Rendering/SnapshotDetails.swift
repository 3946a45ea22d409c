// Everything about one snapshot, as lines.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The lines of `archiver show <selector>`.
enum SnapshotDetails {
    static func lines(
        _ record: ListedSnapshot, _ snapshot: Snapshot, _ changes: ShownChanges, pin: Pin? = nil, _ notes: [Note] = [],
        _ console: Console
    ) -> [String] {
        let said = PinList.fields(pin, console) + notes.map { (name: "note", value: Escaping.text($0.text)) }
        var lines = head(fields(record, isForPerson: console.isForPerson) + said, console)
        lines += changes.lines
        if changes.more > 0 { lines.append("… and \(changes.more) more changed paths") }
        lines += snapshot.problems.map { "! \($0.text)" }
        if record.problems > snapshot.problems.count {
            lines.append("… and \(record.problems - snapshot.problems.count) more problems")
        }
        return lines
    }

    /// Names and values: aligned for a person, separated by tabs for a program.
    static func head(_ fields: [(name: String, value: String)], _ console: Console) -> [String] {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { field in
            guard console.isForPerson else { return TextTable.plain([field.name, field.value]) }
            let blanks = String(repeating: " ", count: width - field.name.count)
            return console.style(.dim, field.name) + blanks + "  " + field.value
        }
    }

    private static func fields(_ record: ListedSnapshot, isForPerson: Bool) -> [(name: String, value: String)] {
        func size(_ bytes: UInt64) -> String { isForPerson ? ByteCount.text(bytes) : "\(bytes)" }
        let totals = record.totals
        return [
            ("id", record.id.hex), ("time", isForPerson ? LocalTime.text(record.time) : record.time.rfc3339),
            ("root", Escaping.text(record.rootPath)), ("host", Escaping.text(record.host)),
            ("sequence", "\(record.sequence)" + (record.isAside ? " (aside: with exclusions of its own)" : "")),
            ("cause", record.cause.rawValue), ("label", record.label.map { Escaping.text($0) } ?? "-"),
            ("parent", record.parent?.hex ?? "-"), ("files", "\(totals.files)"),
            ("directories", "\(totals.directories)"), ("others", "\(totals.others)"), ("size", size(totals.bytes)),
            ("stored", size(record.storedBytes)), ("changes", record.changes.text), ("problems", "\(record.problems)"),
        ]
    }
}
