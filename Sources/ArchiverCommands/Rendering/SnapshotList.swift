// Snapshots as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// Lists of snapshots for people and for programs.
enum SnapshotList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "time"),
        TextTable.Column(title: "changes"), TextTable.Column(title: "size", alignment: .right),
        TextTable.Column(title: "stored", alignment: .right), TextTable.Column(title: "cause"),
        TextTable.Column(title: "root"), TextTable.Column(title: "label"),
    ]

    /// A table for a person, plain lines for a program.
    static func lines(_ records: [SnapshotRecord], _ console: Console) -> [String] {
        console.isForPerson ? table(records, console.style) : records.map(plain)
    }

    /// An aligned table; the root is shown only where there are several.
    static func table(_ records: [SnapshotRecord], _ style: Style) -> [String] {
        let showsRoot = Set(records.map(\.rootPath)).count > 1
        var table = TextTable(columns.filter { showsRoot || $0.title != "root" })
        for record in records {
            let root = showsRoot ? [Escaping.text(record.rootPath)] : []
            table.add(
                [
                    record.id.short, LocalTime.text(record.time), record.changes.text,
                    ByteCount.text(record.totals.bytes), ByteCount.text(record.storedBytes), record.cause.rawValue,
                ] + root + [Escaping.text(record.label ?? "")])
        }
        return table.aligned(style)
    }

    /// One line with tabs: id, time, root, added, modified, removed, bytes, stored bytes, cause, label.
    static func plain(_ record: SnapshotRecord) -> String {
        TextTable.plain([
            record.id.short, record.time.rfc3339, Escaping.text(record.rootPath), "\(record.changes.added)",
            "\(record.changes.modified)", "\(record.changes.removed)", "\(record.totals.bytes)",
            "\(record.storedBytes)", record.cause.rawValue, Escaping.text(record.label ?? ""),
        ])
    }
}
