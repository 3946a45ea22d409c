// The results of archive maintenance, as text.

internal import ArchiverKit

/// Texts of `prune` and of a watcher's maintenance.
enum MaintenanceText {
    /// "forgot 12 snapshots by the policy; reclaimed 1.2 GiB: 6.1 GiB before, 4.9 GiB after".
    static func text(_ result: MaintenanceResult, isDryRun: Bool = false) -> String {
        let warning =
            result.room.isAlmostShort
            ? "the archive is close to its limits: soon old snapshots will be forgotten to make room" : nil
        let parts = [forgotten(result, isDryRun), result.pruned.map(freed), warning].compactMap { $0 }
        return parts.isEmpty ? "nothing to reclaim" : parts.joined(separator: "; ")
    }

    private static func forgotten(_ result: MaintenanceResult, _ isDryRun: Bool) -> String? {
        let counts = [(result.thinned, "by the policy"), (result.thinnedForRoom, "for lack of room")]
            .filter { $0.0 > 0 }
            .map { "\(Plural.of($0.0, "snapshot")) \($0.1)" }
        if counts.isEmpty { return nil }
        return (isDryRun ? "would forget " : "forgot ") + counts.joined(separator: " and ")
    }

    private static func freed(_ result: PruneResult) -> String {
        let user =
            result.waitedFor.map { "\(Escaping.text($0)) may need: it is suspended" } ?? "another process is writing"
        var skipped = result.inUse > 0 ? "; skipped \(Plural.of(result.inUse, "segment")) that \(user)" : ""
        if let text = withoutRoom(result) { skipped += "; \(text)" }
        if result.unreplicated > 0 {
            skipped +=
                "; \(ByteCount.text(result.bytesUnreplicated)) in \(Plural.of(result.unreplicated, "segment")) stay until "
                + "a replica has them: see 'archiver replica list'"
        }
        let sizes = "\(ByteCount.text(result.bytesBefore)) before, \(ByteCount.text(result.bytesAfter)) after"
        if result.freedBytes == 0 {
            let isStuck = result.inUse + result.withoutRoom + result.unreplicated > 0
            return "\(isStuck ? "nothing reclaimed" : "nothing to reclaim"): "
                + "the archive has \(ByteCount.text(result.bytesAfter))" + skipped
        }
        let verb = result.isDryRun ? "would reclaim about" : "reclaimed"
        return "\(verb) \(ByteCount.text(result.freedBytes)): \(sizes)" + skipped
    }

    /// What stays because the disk has no room for copies; nil if nothing does.
    static func withoutRoom(_ result: PruneResult) -> String? {
        if result.withoutRoom == 0 { return nil }
        let (dead, count) = (ByteCount.text(result.bytesWithoutRoom), Plural.of(result.withoutRoom, "segment"))
        return "\(dead) in \(count) stay: the disk has no room for a copy of what is still needed there; free "
            + "\(ByteCount.text(result.roomNeeded)) on it, or forget more snapshots"
    }

    /// When the space of what was forgotten for lack of room is freed; nil if nothing waits.
    static func waiting(_ result: MaintenanceResult, isDryRun: Bool = false) -> String? {
        guard let plan = result.plan, plan.waitingBytes > 0, let end = plan.waitingUntil else { return nil }
        let (size, time) = (ByteCount.text(plan.waitingBytes), LocalTime.text(end))
        return isDryRun
            ? "about \(size) would be freed on \(time); until then 'archiver unforget --last' would bring them back"
            : "about \(size) are freed by \(time); until then 'archiver unforget --last' brings them back, and "
                + "'archiver prune --now' frees them immediately"
    }

    /// The warning that the archive exceeds its budget, and why.
    static func shortage(_ result: MaintenanceResult, isDryRun: Bool = false) -> String {
        let verb = isDryRun ? "would still exceed" : "still exceeds"
        let excess = "the archive \(verb) its limits by \(ByteCount.text(result.lackingBytes))"
        guard let plan = result.plan else { return excess }
        if plan.isContinued { return "\(excess): the next run forgets more, as one run forgets at most half" }
        if plan.isReachable {
            return result.pruned?.inUse ?? 0 > 0
                ? "\(excess): a later run frees what other processes are using" : excess
        }
        let causes = plan.causes.map { Escaping.text($0.message) }.joined(separator: "; ")
        return "\(excess), and forgetting more snapshots cannot change that"
            + (causes.isEmpty ? ": the remaining ones are always kept" : ": \(causes)")
    }

    /// "space: 18.2 GiB used of 20.0 GiB, …"; nil if no budget is set.
    static func budget(_ room: ArchiveRoom) -> String? {
        guard room.isBudgetSet else { return nil }
        let size = room.budget.maxSize.map { " of \(ByteCount.text($0))" } ?? ""
        return "space: \(ByteCount.text(room.usedBytes)) used\(size), "
            + "\(ByteCount.text(room.budget.minFree(of: room.totalBytes))) to be left free on the disk"
    }
}
