// The results of archive maintenance, as text.

internal import ArchiverKit

/// Texts of `prune` and of a watcher's maintenance.
enum MaintenanceText {
    /// "forgot 12 snapshots by the policy; reclaimed 1.2 GiB: 6.1 GiB before, 4.9 GiB after".
    static func text(_ result: MaintenanceResult) -> String {
        let parts = [forgotten(result), result.pruned.map(freed)].compactMap { $0 }
        return parts.isEmpty ? "nothing to reclaim" : parts.joined(separator: "; ")
    }

    private static func forgotten(_ result: MaintenanceResult) -> String? {
        let isDryRun = result.pruned?.isDryRun ?? false
        let counts = [(result.thinned, "by the policy"), (result.thinnedForRoom, "for lack of room")]
            .filter { $0.0 > 0 }
            .map { "\(Plural.of($0.0, "snapshot")) \($0.1)" }
        if counts.isEmpty { return nil }
        return (isDryRun ? "would forget " : "forgot ") + counts.joined(separator: " and ")
    }

    private static func freed(_ result: PruneResult) -> String {
        let inUse =
            result.inUse > 0
            ? "; skipped \(Plural.of(result.inUse, "segment")) that another process is writing"
            : ""
        let sizes = "\(ByteCount.text(result.bytesBefore)) before, \(ByteCount.text(result.bytesAfter)) after"
        if result.freedBytes == 0 {
            return "nothing to reclaim: the archive has \(ByteCount.text(result.bytesAfter))" + inUse
        }
        let verb = result.isDryRun ? "would reclaim about" : "reclaimed"
        return "\(verb) \(ByteCount.text(result.freedBytes)): \(sizes)" + inUse
    }

    /// The warning that the archive exceeds its budget.
    static func shortage(_ room: ArchiveRoom) -> String {
        "the archive still exceeds its limits by \(ByteCount.text(room.lackingBytes)): the remaining snapshots are "
            + "always kept"
    }

    /// "space: 18.2 GiB used of 20.0 GiB, …"; nil if no budget is set.
    static func budget(_ room: ArchiveRoom) -> String? {
        guard room.isBudgetSet else { return nil }
        let size = room.budget.maxSize.map { " of \(ByteCount.text($0))" } ?? ""
        return "space: \(ByteCount.text(room.usedBytes)) used\(size), "
            + "\(ByteCount.text(room.budget.minFree(of: room.totalBytes))) to be left free on the disk"
    }
}
