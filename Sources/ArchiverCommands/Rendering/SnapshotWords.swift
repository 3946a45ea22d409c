// What a snapshot changed, in words.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Says what snapshots changed: the first path, and which operation it was.
struct SnapshotWords {
    private let archive: Archive
    private let operations: [SnapshotID: LoggedOperation]

    /// - Parameter root: the root of the snapshots; nil for all roots.
    init(_ archive: Archive, of root: ArchivedRoot?) throws {
        self.archive = archive
        operations = try archive.operations(of: root).reduce(into: [:]) { found, operation in
            if let after = operation.after { found[after] = operation }
        }
    }

    /// "~ ch1.md", "+ a.txt and 3 more", "undo: ~ ch1.md", "first snapshot".
    ///
    /// If the snapshot cannot be read, its operation or nothing.
    func text(_ snapshot: ListedSnapshot) -> String {
        let operation = operations[snapshot.id].map { operation in
            operation.record.name.map { "\(operation.record.kind.rawValue) \(Escaping.text($0))" }
                ?? operation.record.kind.rawValue
        }
        let changes = SnapshotWords.changes(of: snapshot, archive)
        return [operation, changes].compactMap(\.self).joined(separator: ": ")
    }

    /// The first changed path, and the number of the others; nil if nothing is known.
    static func changes(of snapshot: ListedSnapshot, _ archive: Archive) -> String? {
        if snapshot.parent == nil { return "first snapshot" }
        guard let paths = try? archive.details(of: snapshot).changedPaths else { return nil }
        // A modified directory before what changed in it says nothing.
        let place = paths.indices.first { index in
            !(paths[index].change == .modified && index + 1 < paths.count
                && paths[index].path.contains(paths[index + 1].path))
        }
        guard let first = place.map({ paths[$0] }) else { return nil }
        let all = snapshot.changes.added + snapshot.changes.modified + snapshot.changes.removed
        let more = all > 1 ? " and \(all - 1) more" : ""
        return "\(first.change.sign.rawValue) \(Escaping.text(first.path))\(more)"
    }
}
