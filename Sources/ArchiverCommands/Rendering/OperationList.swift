// Lists of operations.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO

/// Lists of operations for people and for programs.
enum OperationList {
    /// - Parameter showsRoot: whether the operations are of several roots.
    static func listing(showsRoot: Bool, emptiness: String = "") -> Listing<LoggedOperation> {
        var columns: [Listing<LoggedOperation>.Column] = [
            .text("id", mark: .yellow, dispensability: 1) { $0.id.short }, .time("time") { $0.record.time },
            .pipe { Escaping.text($0.record.rootPath) }, .text("operation") { $0.record.kind.rawValue },
            .person("restored", isElastic: true, restored), .pipe { Escaping.text($0.record.path) },
            .pipe { $0.record.snapshot?.short ?? "-" }, .person("states", dispensability: 2, states),
            .pipe { $0.record.before?.short ?? "-" }, .pipe { $0.after?.short ?? "-" },
        ]
        if showsRoot { columns.append(.person("root", isElastic: true) { Escaping.text($0.record.rootPath) }) }
        columns += [
            .text("remarks") { remarks($0).joined(separator: ", ") }, .pipe { Escaping.text($0.record.name ?? "") },
        ]
        return Listing(columns, emptiness: emptiness) { OperationJSON($0) }
    }

    /// "3fa9c2d1:notes (2 paths)", or the name of a run.
    private static func restored(_ operation: LoggedOperation) -> String {
        let record = operation.record
        if record.kind == .run { return Escaping.text(record.name ?? "") }
        let count = record.parts.isEmpty ? "" : " (\(Plural.of(record.parts.count, "path")))"
        return (record.snapshot?.short ?? "nothing") + (record.path.isRoot ? "" : ":" + Escaping.text(record.path))
            + count
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
