// The result of a capture, as text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// Texts about captures.
enum CaptureSummary {
    /// "1a2b3c4d /srv: +3 ~0 -0, 1.2 MiB in 3 files, 300.0 KiB stored", or that nothing has changed.
    ///
    /// For a program, the snapshot's line in `list`.
    static func text(_ result: CaptureResult, isForPerson: Bool) -> String {
        guard let snapshot = result.snapshot else {
            return "\(Escaping.text(result.latest.rootPath)): nothing has changed since \(result.latest.name)"
        }
        guard isForPerson else { return SnapshotList.plain(snapshot) }
        return "\(snapshot.id.short) \(Escaping.text(snapshot.rootPath)): \(snapshot.changes.text), "
            + "\(ByteCount.text(snapshot.totals.bytes)) in \(Plural.of(snapshot.totals.files, "file")), "
            + "\(ByteCount.text(snapshot.storedBytes)) stored"
    }

    /// The warning that the previous snapshot is dated later than the new one.
    static func wrongClock(_ previous: ListedSnapshot) -> String {
        "the snapshot before it, \(previous.name), is dated later: the clock is wrong now, or was then. "
            + "Their order is right, and 'archiver list' marks the wrong time; "
            + "'archiver forget \(previous.id.short)' removes that snapshot"
    }
}
