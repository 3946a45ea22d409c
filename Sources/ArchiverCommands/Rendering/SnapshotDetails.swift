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
        let said = PinList.fields(pin) + notes.map { .init("note", Escaping.text($0.text)) }
        var lines = FieldList(fields: fields(snapshot) + said).lines(console)
        lines += changes.lines
        if changes.more > 0 { lines.append("… and \(Plural.of(changes.more, "more changed path"))") }
        lines += details.problems.map { "! \($0.text)" }
        if snapshot.problems > details.problems.count {
            lines.append("… and \(Plural.of(snapshot.problems - details.problems.count, "more problem"))")
        }
        return lines
    }

    private static func fields(_ snapshot: ListedSnapshot) -> [FieldList.Field] {
        let totals = snapshot.totals
        return [
            .init("id", snapshot.id.hex), .time("time", snapshot.time),
            .init("root", Escaping.text(snapshot.rootPath)), .init("host", Escaping.text(snapshot.host)),
            .init(
                "sequence", "\(snapshot.sequence)" + (snapshot.isAside ? " (aside: with exclusions of its own)" : "")),
            .init("cause", snapshot.cause.rawValue), .init("label", snapshot.label.map { Escaping.text($0) } ?? "-"),
            .init("parent", snapshot.parent?.hex ?? "-"), .init("files", "\(totals.files)"),
            .init("directories", "\(totals.directories)"), .init("others", "\(totals.others)"),
            .bytes("size", totals.bytes), .bytes("stored", snapshot.storedBytes),
            .init("changes", snapshot.changes.text), .init("problems", "\(snapshot.problems)"),
        ]
    }
}
