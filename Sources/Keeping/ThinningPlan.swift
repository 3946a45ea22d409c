// Decides in one pass which snapshots of a root a policy forgets, and why the others stay.

public import ArchiveFormat
package import ArchiveStorage
internal import Archives
public import FileIO
public import Roots

/// Which snapshots of a root thinning forgets.
public struct ThinningPlan: Sendable {
    /// Why a snapshot stays.
    public enum Reason: String, Sendable, CaseIterable {
        /// The policy keeps it: it is the first of its minute, hour, day or week, or young enough.
        case policy
        /// It is the newest of its root, or the newest that was not captured aside.
        case newest
        /// It is pinned.
        case pinned
        /// It has a label.
        case labelled
        /// An operation that can still be undone needs it.
        case operation
        /// It is the last of a burst of work, or the first of the next.
        case burst
        /// It, or the snapshot right after it, removed or rewrote much of the root in one step.
        case massChange
        /// It is the last one with a long-lived file that was deleted.
        case deletedFile
    }

    /// A snapshot to forget.
    public struct Going: Sendable, Hashable {
        /// The snapshot's id.
        public let id: SnapshotID
        /// When it was made.
        public let time: Timestamp
        /// What it added to the archive when it was made; forgetting it may free more or less.
        public let storedBytes: UInt64
    }

    /// The root whose snapshots are thinned.
    public let root: ArchivedRoot
    /// The policy that was applied.
    public let policy: RetentionPolicy
    /// The snapshots to forget, in their order.
    public private(set) var going: [Going] = []
    /// How many snapshots stay, by the first reason that applies.
    public private(set) var kept: [Reason: Int] = [:]
    /// Ages of deleted files that remaining snapshots are the last to have, and that are not recorded yet.
    ///
    /// They are recorded before anything is forgotten: the forgotten snapshots may be the only ones that show them.
    var lifetimes: [SnapshotID: UInt64] = [:]
    /// How many snapshots the root has now.
    public var count: Int { going.count + kept.values.reduce(0, +) }

    /// The facts that the decision depends on besides the snapshots themselves.
    package struct Circumstances {
        /// The instant that ages are measured at.
        var now: Timestamp
        var pinned: Set<ChunkID> = []
        /// Snapshots that are needed to undo operations.
        var operations: Set<SnapshotID> = []
        /// The age in seconds of the oldest file that each snapshot is the last to have; the greatest if unknown.
        var lifetimes: [SnapshotID: UInt64] = [:]

        package init(now: Timestamp) { self.now = now }

        /// The age of a snapshot in seconds; one that is dated in the future counts as new, as one whose age overflows.
        fileprivate func age(of row: ThinningRow) -> UInt64 {
            let age = now.seconds.subtractingReportingOverflow(row.time.seconds)
            return age.overflow || age.partialValue < 0 ? 0 : UInt64(age.partialValue)
        }
    }

    /// A mass change overwrites at least a tenth of the entries, and at least so many.
    private static let massShare: UInt64 = 10
    private static let massLeast: UInt64 = 20

    /// Decides about `rows`, all snapshots of a root in their order.
    package init(_ root: ArchivedRoot, _ policy: RetentionPolicy, _ rows: [ThinningRow], _ circumstances: Circumstances)
    {
        self.root = root
        self.policy = policy
        var buckets = Buckets(policy)
        let newest = Set([rows.last, rows.last { !$0.isAside }].compactMap { $0?.id })
        for (index, row) in rows.enumerated() {
            let before = index > 0 ? rows[index - 1] : nil
            let after = index + 1 < rows.count ? rows[index + 1] : nil
            let seconds = circumstances.age(of: row)
            if buckets.isFirst(row.time, policy.width(atAge: seconds)) {
                kept[.policy, default: 0] += 1
            } else if newest.contains(row.id) {
                kept[.newest, default: 0] += 1
            } else if let reason = Self.reason(row, before, after, circumstances)
                ?? Self.reason(row, before, after, age: seconds, policy, circumstances)
            {
                kept[reason, default: 0] += 1
            } else {
                going.append(Going(id: row.id, time: row.time, storedBytes: row.storedBytes))
            }
        }
    }

    /// Returns why a snapshot stays at any age; nil if nothing keeps it.
    private static func reason(
        _ row: ThinningRow, _ before: ThinningRow?, _ after: ThinningRow?, _ circumstances: Circumstances
    ) -> Reason? {
        if circumstances.pinned.contains(row.id.chunk) { return .pinned }
        if row.hasLabel { return .labelled }
        if circumstances.operations.contains(row.id) { return .operation }
        // Both stay, so that the next run finds the same: a snapshot's successor records what changed.
        if let before, isMassChange(from: before, to: row) { return .massChange }
        if let after, isMassChange(from: row, to: after) { return .massChange }
        return nil
    }

    /// Returns why a snapshot stays up to an age; nil if nothing keeps it.
    private static func reason(
        _ row: ThinningRow, _ before: ThinningRow?, _ after: ThinningRow?, age: UInt64, _ policy: RetentionPolicy,
        _ circumstances: Circumstances
    ) -> Reason? {
        // Both ends of a pause go together, by the age of the later one: without the other, neither shows the pause.
        if let before, isPause(from: before, to: row, keptBy: policy, age: age) { return .burst }
        if let after, isPause(from: row, to: after, keptBy: policy, age: circumstances.age(of: after)) {
            return .burst
        }
        let least = policy.width(atAge: age) ?? policy.tiers.last?.age ?? 0
        if let lifetime = circumstances.lifetimes[row.id], lifetime > least { return .deletedFile }
        return nil
    }

    /// Whether there was a pause of work between two consecutive snapshots, so long that both are kept at an age.
    private static func isPause(
        from earlier: ThinningRow, to later: ThinningRow, keptBy policy: RetentionPolicy, age: UInt64
    ) -> Bool {
        guard later.parent == earlier.id, let least = policy.keptPause(atAge: age) else { return false }
        let pause = later.time.seconds.subtractingReportingOverflow(earlier.time.seconds)
        return pause.overflow || pause.partialValue >= Int64(clamping: least)
    }

    private static func isMassChange(from earlier: ThinningRow, to later: ThinningRow) -> Bool {
        later.parent == earlier.id && later.overwritten >= massLeast
            && later.overwritten >= earlier.entries / massShare
    }
}

/// The spans of time whose first snapshot was seen.
private struct Buckets {
    private let widths: [UInt64]
    /// The numbers of those spans, by index of the width.
    private var seen: [Set<Int64>]

    init(_ policy: RetentionPolicy) {
        widths = policy.tiers.map(\.width).filter { $0 > 0 }
        seen = widths.map { _ in [] }
    }

    /// Adds a snapshot, and returns whether it is the first in its span of `width`; always for width 0, never for nil.
    mutating func isFirst(_ time: Timestamp, _ width: UInt64?) -> Bool {
        var isFirst = width == 0
        for (index, known) in widths.enumerated() {
            let isNew = seen[index].insert(Buckets.number(of: time, known)).inserted
            if isNew, known == width { isFirst = true }
        }
        return isFirst
    }

    /// Returns the number of a span; spans of all widths are aligned to a Monday in UTC.
    private static func number(of time: Timestamp, _ width: UInt64) -> Int64 {
        let (monday, width): (Int64, Int64) = (4 * 86_400, Int64(clamping: width))
        let (seconds, overflow) = time.seconds.subtractingReportingOverflow(monday)
        if overflow { return .min }
        // Round towards the past, also before 1970.
        return seconds >= 0 ? seconds / width : -1 - (-1 - seconds) / width
    }
}
