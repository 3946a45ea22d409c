// Operations as lines of text.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO

/// Lists of operations for people and for programs.
enum OperationList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow, dispensability: 1), TextTable.Column(title: "time"),
        TextTable.Column(title: "operation"), TextTable.Column(title: "restored", isElastic: true),
        TextTable.Column(title: "states", dispensability: 2),
        TextTable.Column(title: "root", isElastic: true), TextTable.Column(title: "remarks"),
    ]

    /// A table for a person, plain lines for a program.
    static func lines(_ operations: [LoggedOperation], _ console: Console) -> [String] {
        console.isForPerson ? table(operations, console.style, width: console.output.columns) : operations.map(plain)
    }

    /// An aligned table; roots are shown only if there are several.
    static func table(_ operations: [LoggedOperation], _ style: Style, width: Int? = nil) -> [String] {
        let showsRoot = Set(operations.map(\.record.rootPath)).count > 1
        var table = TextTable(columns.filter { showsRoot || $0.title != "root" })
        for operation in operations {
            let record = operation.record
            let count = record.parts.isEmpty ? "" : " (\(Plural.of(record.parts.count, "path")))"
            let path = (record.path.isRoot ? "" : ":" + Escaping.text(record.path)) + count
            let root = showsRoot ? [Escaping.text(record.rootPath)] : []
            table.add(
                [
                    operation.id.short, LocalTime.text(record.time), record.kind.rawValue,
                    record.kind == .run
                        ? Escaping.text(record.name ?? "") : (record.snapshot?.short ?? "nothing") + path,
                    states(operation),
                ] + root + [remarks(operation).joined(separator: ", ")])
        }
        return table.aligned(style, width: width)
    }

    /// One line with tabs: id, time, root, kind, path, restored snapshot, snapshots before and after, remarks, name.
    static func plain(_ operation: LoggedOperation) -> String {
        let record = operation.record
        return TextTable.plain([
            operation.id.short, record.time.rfc3339, Escaping.text(record.rootPath), record.kind.rawValue,
            Escaping.text(record.path), record.snapshot?.short ?? "-", record.before?.short ?? "-",
            operation.after?.short ?? "-", remarks(operation).joined(separator: ", "), Escaping.text(record.name ?? ""),
        ])
    }

    /// "3fa9c2d1 → 5be01c77".
    private static func states(_ operation: LoggedOperation) -> String {
        (operation.record.before?.short ?? "nothing") + " → " + (operation.after?.short ?? "?")
    }

    private static func remarks(_ operation: LoggedOperation) -> [String] {
        var remarks: [String] = []
        if !operation.isComplete { remarks.append("incomplete") }
        if operation.undoneBy != nil { remarks.append(operation.record.kind == .undo ? "redone" : "undone") }
        switch operation.next {
        case .undo: remarks.append("next to undo")
        case .redo: remarks.append("next to redo")
        case nil: break
        }
        return remarks
    }
}
