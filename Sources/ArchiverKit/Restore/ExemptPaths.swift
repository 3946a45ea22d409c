// What a restore leaves alone: what is left out of snapshots was not captured, so it could not be brought back.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Exclusions
internal import FileIO

/// The paths that are left out of the present state's snapshot or of the wanted one.
struct ExemptPaths {
    private let present: SnapshotScopes
    private let wanted: SnapshotScopes

    /// - Parameters:
    ///   - present: holds the state before the restore.
    ///   - rules: what was left out of it.
    init(
        _ present: SnapshotRecord, _ rules: ExclusionRules, wanted: SnapshotRecord, _ archive: Archive
    ) throws {
        self.present = SnapshotScopes(present.tree, rules, archive)
        self.wanted = SnapshotScopes(wanted.tree, try archive.store.snapshot(wanted.id).exclusions, archive)
    }

    /// Whether `step` would touch something that one of the two snapshots was not to hold.
    func contains(_ step: RestoreStep) throws -> Bool {
        switch (step.present, step.wanted) {
        case (let present?, nil): try wanted.excludes(present)
        // Of a file that is too large only the name matters: where none is there, it may come back.
        case (nil, let new?): try present.excludes(new.path, isDirectory: new.kind == .directory)
        default: false
        }
    }
}
