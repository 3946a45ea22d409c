// The space that the archive uses, as text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Texts of `usage`.
enum UsageText {
    static func name(_ item: ArchiveUsage.Item) -> String {
        switch item.owner {
        case .root(let root): Escaping.text(root.path.bytes)
        case .path(let path, let isDirectory): Escaping.text(path) + (isDirectory ? "/" : "")
        case .states: "(saved states of programs)"
        case .elsewhere: "(elsewhere)"
        case .shared: "(shared by several)"
        case .records: "(names, times, and the snapshots themselves)"
        }
    }

    /// "2026-11-21", in UTC.
    static func day(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }

    /// The lines below the table.
    static func lines(_ usage: ArchiveUsage) -> [String] {
        let room = usage.room
        let reserved = room.reservedBytes
        let more = reserved > 0 ? ", and reserves \(ByteCount.text(reserved)) for a full disk" : ""
        var lines = [
            "",
            "the archive uses \(ByteCount.text(room.usedBytes))\(more); \(ByteCount.text(usage.unneededBytes)) "
                + "of it is not needed by any listed snapshot or saved state: 'archiver prune' reclaims what was forgotten",
        ]
        if usage.thinning.snapshots > 0 {
            lines.append(
                "'archiver keep --usual' would forget \(Plural.of(usage.thinning.snapshots, "snapshot")) and free "
                    + ByteCount.text(usage.thinning.bytes))
        }
        let rest = usage.daysLeft.map { "; its space is used up in \(days($0))" } ?? ""
        lines.append("it grows by \(ByteCount.text(usage.dailyBytes)) a day" + rest)
        return lines
    }

    private static func days(_ count: UInt64) -> String {
        count > 3650 ? "more than ten years" : Plural.of(count, "day")
    }
}
