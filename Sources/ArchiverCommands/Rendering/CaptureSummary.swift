// What a capture came to, in words.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// Texts about captures.
enum CaptureSummary {
    /// "1a2b3c4d /srv: +3 ~0 -0, 1.2 MiB in 3 files, 300.0 KiB stored", or that nothing has changed.
    ///
    /// A program gets the line that `list` has for the snapshot.
    static func text(_ result: CaptureResult, isForPerson: Bool) -> String {
        guard let record = result.snapshot else {
            return "\(Escaping.text(result.latest.rootPath)): nothing has changed since \(result.latest.name)"
        }
        guard isForPerson else { return SnapshotList.plain(record) }
        return "\(record.id.short) \(Escaping.text(record.rootPath)): \(record.changes.text), "
            + "\(ByteCount.text(record.totals.bytes)) in \(Plural.of(record.totals.files, "file")), "
            + "\(ByteCount.text(record.storedBytes)) stored"
    }
}
