// Moves operations, notes, pins and lifetimes from replaced snapshots to their replacements.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// Rewrites the records that name replaced snapshots, and drops those of operations on purged paths.
struct RecordRewrite {
    private let store: ArchiveStore
    private let replaced: [SnapshotID: SnapshotID]
    /// The records to remove.
    private(set) var gone: Set<ChunkID>
    private let matcher: PurgeMatcher

    /// - Parameter gone: records that were found to be removed.
    init(
        _ store: ArchiveStore, _ replaced: [SnapshotID: SnapshotID], gone: Set<ChunkID>, _ matcher: PurgeMatcher
    ) {
        self.store = store
        self.replaced = replaced
        self.gone = gone
        self.matcher = matcher
    }

    /// Rewrites the records.
    ///
    /// - Parameter isPurged: whether an operation concerns nothing but the purge's target.
    mutating func run(isPurged: (OperationRecord) throws -> Bool) throws {
        try rewritePins()
        try rewriteLifetimes()
        try rewriteNotes()
        try rewriteOperations(isPurged)
    }

    private func rewritePins() throws {
        for (target, pin) in try store.catalogue.pins() {
            guard let new = replaced[SnapshotID(target)]?.chunk else { continue }
            try store.enter(
                PinRecord(
                    target: new, time: pin.time, until: pin.until, reason: pin.reason, sequence: pin.sequence),
                keepingUnknownOf: store.catalogue.pinRecord(of: target))
            try store.enter(PinRecord(removedFrom: target, time: .now, sequence: pin.sequence + 1))
        }
    }

    private func rewriteLifetimes() throws {
        var lifetimes: [SnapshotID: UInt64] = [:]
        for (old, new) in replaced { lifetimes[new] = try store.catalogue.recordedLifetime(old) }
        try store.enter(lifetimes: lifetimes)
    }

    private mutating func rewriteNotes() throws {
        for note in try store.catalogue.notes() where !gone.contains(note.id) {
            guard let old = note.record.snapshot, let new = replaced[old] else { continue }
            // The record has the root's path of that time, the catalogue has the present one.
            let record = try store.record(note.id, as: NoteRecord.self)
            _ = try store.enter(
                NoteRecord(
                    rootPath: record.rootPath, host: record.host, time: record.time, text: record.text, snapshot: new,
                    machine: record.machine), keepingUnknownOf: note.id)
            gone.insert(note.id)
        }
    }

    private mutating func rewriteOperations(_ isPurged: (OperationRecord) throws -> Bool) throws {
        var moved: [OperationID: OperationID] = [:]
        for operation in try store.catalogue.operations() {
            let old = try store.record(operation.id.chunk, as: OperationRecord.self)
            let isOfNothing = old.target.map { gone.contains($0.chunk) && moved[$0] == nil } ?? false
            if try isOfNothing || isPurged(operation.record) {
                gone.insert(operation.id.chunk)
                continue
            }
            let new = OperationRecord(
                rootPath: old.rootPath, host: old.host, kind: old.kind, time: old.time,
                before: old.before.map { replaced[$0] ?? $0 }, snapshot: old.snapshot.map { replaced[$0] ?? $0 },
                path: old.path, target: old.target.map { moved[$0] ?? $0 }, machine: old.machine,
                name: matcher.isIn(old.name) ? nil : old.name, parts: old.parts, failed: old.failed,
                leavesRepositories: old.leavesRepositories, sequence: old.sequence)
            if new == old { continue }
            moved[operation.id] = try store.enter(new, keepingUnknownOf: operation.id.chunk)
            gone.insert(operation.id.chunk)
        }
    }
}
