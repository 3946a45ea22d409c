// Operations and the results of undoing and redoing them, as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// An operation as `operations --json` shows it.
struct OperationJSON: Encodable {
    let operation: LoggedOperation

    init(_ operation: LoggedOperation) { self.operation = operation }

    func encode(to encoder: any Encoder) throws {
        let record = operation.record
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(operation.id.hex, forKey: .id)
        try object.encode(record.time, forKey: .time)
        try object.encode(bytes: record.rootPath, forKey: .root)
        try object.encode(record.host, forKey: .host)
        try object.encode(record.kind.rawValue, forKey: .kind)
        try object.encode(bytes: record.path.bytes, forKey: .path)
        try object.encode(record.before?.hex, forKey: .before)
        try object.encode(record.snapshot?.hex, forKey: .snapshot)
        try object.encode(operation.after?.hex, forKey: .after)
        try object.encode(record.target?.hex, forKey: .target)
        try object.encode(operation.isComplete, forKey: .complete)
        try object.encode(operation.undoneBy?.hex, forKey: .undoneBy)
        try object.encode(operation.next?.rawValue, forKey: .next)
        try object.encode(record.name, forKey: .name)
    }
}

/// The output of `undo --json` and `redo --json`: each step with the fields of `restore --json`, and the actions of a
/// dry run.
struct ReversalJSON: Encodable {
    let root: FilePath
    let steps: [OperationResult]
    /// Nil unless this was a dry run.
    let actions: [RestoreAction]?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.bytes, forKey: .root)
        try object.encode(actions != nil, forKey: .dryRun)
        try object.encodeIfPresent(actions?.map(RestoreActionJSON.init), forKey: .actions)
        try object.encode(steps.map { Step(result: $0, isDryRun: actions != nil) }, forKey: .steps)
    }

    private struct Step: Encodable {
        let result: OperationResult
        let isDryRun: Bool

        func encode(to encoder: any Encoder) throws {
            try RestoreJSON(id: result.snapshot?.id, result: result.restore, actions: nil).encode(to: encoder)
            var object = encoder.container(keyedBy: JSONKey.self)
            try object.encode(isDryRun, forKey: .dryRun)
            try object.encode(bytes: result.restore.path.bytes, forKey: .path)
            try object.encode(result.operation.map(OperationJSON.init), forKey: .reverts)
            try object.encode(result.isResumed, forKey: .resumed)
        }
    }
}
