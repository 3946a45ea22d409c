// The details of one snapshot, as lines.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The lines of `archiver show <selector>`.
enum SnapshotDetails {
    static func lines(
        _ snapshot: ListedSnapshot, _ details: Snapshot, _ changes: ShownChanges, pin: Pin? = nil, _ notes: [Note] = [],
        _ console: Console
    ) -> [String] {
        let said = PinList.fields(pin, console) + notes.map { (name: "note", value: Escaping.text($0.text)) }
        var lines = head(fields(snapshot, isForPerson: console.isForPerson) + said, console)
        lines += changes.lines
        if changes.more > 0 { lines.append("… and \(changes.more) more changed paths") }
        lines += details.problems.map { "! \($0.text)" }
        if snapshot.problems > details.problems.count {
            lines.append("… and \(snapshot.problems - details.problems.count) more problems")
        }
        return lines
    }

    /// Lines with names and values: aligned for a person, separated by tabs for a program.
    static func head(_ fields: [(name: String, value: String)], _ console: Console) -> [String] {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { field in
            guard console.isForPerson else { return TextTable.plain([field.name, field.value]) }
            let blanks = String(repeating: " ", count: width - field.name.count)
            return console.style(.dim, field.name) + blanks + "  " + field.value
        }
    }

    private static func fields(_ snapshot: ListedSnapshot, isForPerson: Bool) -> [(name: String, value: String)] {
        func size(_ bytes: UInt64) -> String { isForPerson ? ByteCount.text(bytes) : "\(bytes)" }
        let totals = snapshot.totals
        return [
            ("id", snapshot.id.hex),
            ("time", isForPerson ? LocalTime.text(snapshot.time) : LocalTime.plain(snapshot.time)),
            ("root", Escaping.text(snapshot.rootPath)), ("host", Escaping.text(snapshot.host)),
            ("sequence", "\(snapshot.sequence)" + (snapshot.isAside ? " (aside: with exclusions of its own)" : "")),
            ("cause", snapshot.cause.rawValue), ("label", snapshot.label.map { Escaping.text($0) } ?? "-"),
            ("parent", snapshot.parent?.hex ?? "-"), ("files", "\(totals.files)"),
            ("directories", "\(totals.directories)"), ("others", "\(totals.others)"), ("size", size(totals.bytes)),
            ("stored", size(snapshot.storedBytes)), ("changes", snapshot.changes.text),
            ("problems", "\(snapshot.problems)"),
        ]
    }
}
