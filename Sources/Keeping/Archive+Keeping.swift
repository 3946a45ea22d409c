// Retention: the policies, thinning by them, and pruning the space of what nothing needs any more.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import History
public import Roots

// MARK: - Policies: records in the archive, so that every machine and a rebuilt catalogue know them

extension Archive {
    /// Returns the policy of a root: its own, else that of all roots, else to keep everything.
    ///
    /// - Parameter root: nil for the policy of all roots.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func policy(of root: ArchivedRoot? = nil) throws(ArchiverError) -> RetentionPolicy {
        if let root, let own = try ownPolicy(of: root) { return own }
        return try facing {
            try store.catalogue.policy(root: nil).map { RetentionPolicy($0) } ?? .everything
        }
    }

    /// Returns the policy that was set for a root itself; nil if that of all roots applies.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func ownPolicy(of root: ArchivedRoot) throws(ArchiverError) -> RetentionPolicy? {
        try facing {
            guard let number = try number(of: root) else { return nil }
            return try store.catalogue.policy(root: number).map { RetentionPolicy($0) }
        }
    }

    /// Sets the policy of a root, or of all roots that have no policy of their own.
    ///
    /// This forgets nothing; `thin` does.
    ///
    /// - Parameters:
    ///   - policy: nil to reset it: the root gets the policy of all roots again, or all roots keep everything.
    ///   - root: nil for all roots.
    /// - Throws: `ArchiverError`: `readOnly` or `noSpace` if the archive cannot be written…
    public func setPolicy(_ policy: RetentionPolicy?, of root: ArchivedRoot? = nil) throws(ArchiverError) {
        try whileKeeping {
            // A new policy may forget any number of snapshots.
            ThinningClock(in: store.layout).forget()
            guard let root else {
                let budget = try store.catalogue.policy(root: nil)
                return try set(policy ?? .everything, budget)
            }
            if try number(of: root) == nil {
                throw ArchiverError(
                    .noSuchDirectory, "the archive holds no snapshots of \(root.path)",
                    remedy: Advice.listRoots.text, path: root.path)
            }
            try store.enter(
                PolicyRecord(
                    rootPath: root.path.bytes, host: root.host, machine: root.machine, time: .now,
                    tiers: policy?.stored ?? [], isRemoved: policy == nil,
                    sequence: store.catalogue.nextSequence(ofRoot: root.path.bytes, machine: root.machine)))
        }
    }

    /// Returns how much room the archive may use.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func budget() throws(ArchiverError) -> StorageBudget {
        try facing {
            guard let record = try store.catalogue.policy(root: nil) else { return StorageBudget() }
            if record.minFreeBytes == nil, record.minFreePercent == nil {
                return StorageBudget(maxSize: record.maxSize)
            }
            return StorageBudget(
                maxSize: record.maxSize, minFreeBytes: record.minFreeBytes, minFreePercent: record.minFreePercent)
        }
    }

    /// Sets how much room the archive may use.
    ///
    /// - Throws: `ArchiverError`: `unsuitableSettings` if the budget is impossible, `readOnly`…
    public func setBudget(_ budget: StorageBudget) throws(ArchiverError) {
        let record = PolicyRecord(
            time: .now, maxSize: budget.maxSize, minFreeBytes: budget.minFreeBytes,
            minFreePercent: budget.minFreePercent)
        do throws(FormatError) { try record.validate() } catch {
            throw ArchiverError(
                .unsuitableSettings, "the budget is invalid: \(error)",
                remedy: "use a size such as 20G, and a share of at most 100%")
        }
        try whileKeeping {
            let policy = try store.catalogue.policy(root: nil).map { RetentionPolicy($0) }
            try set(policy ?? .everything, record)
        }
    }

    /// Stores the policy of all roots.
    private func set(_ policy: RetentionPolicy, _ budget: PolicyRecord?) throws {
        let isDefault = policy == .everything && budget.map { $0.hasNoRoom } ?? true
        try store.enter(
            PolicyRecord(
                time: .now, tiers: policy.stored, maxSize: budget?.maxSize, minFreeBytes: budget?.minFreeBytes,
                minFreePercent: budget?.minFreePercent, isRemoved: isDefault,
                sequence: store.catalogue.nextSequenceOfGeneralPolicy()))
    }
}

extension PolicyRecord {
    /// Whether it sets no sizes.
    fileprivate var hasNoRoom: Bool { maxSize == nil && minFreeBytes == nil && minFreePercent == nil }
}

// MARK: - Thinning: forgets what the policies do not keep, removes nothing

/// How to thin an archive.
public struct ThinningOptions: Sendable {
    /// This root only; nil for all.
    public var root: ArchivedRoot?
    /// The policy to apply to `root`, or to all roots without one of their own; nil for the policies that are set.
    public var policy: RetentionPolicy?
    /// Whether only to return what would be forgotten.
    public var isDryRun: Bool
    /// Whether nobody asked for this run: then it fails if it would forget implausibly many snapshots.
    public var isUnattended: Bool
    /// The instant that ages are measured at; nil for now.
    var now: Timestamp?

    /// Options; by default, all roots are thinned by the policies that are set.
    public init(
        root: ArchivedRoot? = nil, policy: RetentionPolicy? = nil, isDryRun: Bool = false,
        isUnattended: Bool = false
    ) {
        self.root = root
        self.policy = policy
        self.isDryRun = isDryRun
        self.isUnattended = isUnattended
    }
}

extension Archive {
    /// Forgets the snapshots that the policies do not keep; they can be brought back until their bytes are reclaimed.
    ///
    /// - Returns: for each root with a policy, what was or would be forgotten.
    /// - Throws: `ArchiverError`: `tooMuchToForget` if `isUnattended` and implausibly many snapshots would go, as after
    ///   a jump of the clock; then nothing is forgotten. `readOnly`…
    @discardableResult
    public func thin(_ options: ThinningOptions = ThinningOptions()) throws(ArchiverError) -> [ThinningPlan] {
        try whileKeeping(isDryRun: options.isDryRun) {
            let clock = ThinningClock(in: store.layout)
            let now = options.now ?? (options.isUnattended ? clock.now() : .now)
            var plans: [ThinningPlan] = []
            for listed in try store.catalogue.roots() {
                let root = ArchivedRoot(listed)
                if let only = options.root, only != root { continue }
                let policy = try policy(of: root, options)
                if policy == .everything { continue }
                plans.append(try plan(root, listed.number, policy, now: now))
            }
            if options.isDryRun { return plans }
            if options.isUnattended { try clock.check(plans) }
            for plan in plans where !plan.going.isEmpty { try store.enter(lifetimes: plan.lifetimes) }
            try store.forget(Set(plans.flatMap(\.going).map(\.id.chunk)), reason: .policy, at: options.now ?? .now)
            clock.record(now)
            return plans
        }
    }

    private func policy(of root: ArchivedRoot, _ options: ThinningOptions) throws -> RetentionPolicy {
        guard let given = options.policy else { return try policy(of: root) }
        return try options.root != nil ? given : ownPolicy(of: root) ?? given
    }

    /// Younger operations can be undone whatever the policy.
    private static let undoSeconds: Int64 = 30 * 86_400

    /// The snapshots that are needed to undo and redo recent operations.
    ///
    /// - Parameter root: only operations on the root with this number; nil for all.
    func snapshotsForUndo(root: Int64? = nil, now: Timestamp) throws -> Set<SnapshotID> {
        let oldest = now.seconds.subtractingReportingOverflow(Archive.undoSeconds).partialValue
        let recent = try store.catalogue.operations(root: root).filter { $0.record.time.seconds >= oldest }
        return Set(recent.flatMap { [$0.record.before, $0.record.snapshot].compactMap(\.self) })
    }

    /// Returns which snapshots of a root a policy forgets.
    func plan(
        _ root: ArchivedRoot, _ number: Int64, _ policy: RetentionPolicy, now: Timestamp
    ) throws -> ThinningPlan {
        let facts = try thinningFacts(root: number, now: now)
        var plan = ThinningPlan(root, policy, facts.rows, facts.circumstances)
        plan.lifetimes = facts.lifetimes(under: policy, without: Set(plan.going.map(\.id)))
        return plan
    }

    /// Returns the facts that decide which snapshots of a root stay.
    func thinningFacts(root number: Int64, now: Timestamp) throws -> ThinningFacts {
        try indexHistory(root: number)
        var circumstances = ThinningPlan.Circumstances(now: now)
        circumstances.pinned = Set(try store.catalogue.pins().values.filter { $0.holds(at: now) }.map(\.target))
        circumstances.operations = try snapshotsForUndo(root: number, now: now)
        let rows = try store.catalogue.thinningRows(root: number)
        let recorded = try store.catalogue.recordedLifetimes(root: number)
        let shown = try lifetimes(of: rows, root: number)
        circumstances.lifetimes = shown.merging(recorded) { max($0, $1) }
        return ThinningFacts(
            rows: rows, circumstances: circumstances, unrecorded: shown.filter { $0.value > recorded[$0.key] ?? 0 })
    }

    /// Returns the age in seconds of the oldest file that each snapshot is the last to have, as far as the snapshots
    /// show it; the greatest if damage hides it.
    private func lifetimes(of rows: [ThinningRow], root: Int64) throws -> [SnapshotID: UInt64] {
        let aside = Set(rows.filter(\.isAside).map(\.place))
        let removed = try store.catalogue.lifetimesOfRemovedFiles(root: root, aside: aside)
        let unknown = Set(try store.catalogue.damagedHistory(root: root).map(\.id))
        var lifetimes: [SnapshotID: UInt64] = [:]
        for (row, next) in zip(rows, rows.dropFirst()) {
            lifetimes[row.id] = unknown.contains(next.id) ? UInt64(Int64.max) : removed[next.place]
        }
        return lifetimes
    }
}

/// The facts that decide which snapshots of a root stay.
struct ThinningFacts {
    let rows: [ThinningRow]
    let circumstances: ThinningPlan.Circumstances
    /// The lifetimes of deleted files that only the snapshots show, by the last snapshot with the file, in seconds.
    let unrecorded: [SnapshotID: UInt64]

    /// The lifetimes to record before the snapshots `going` go: those that stay no longer show them alone.
    ///
    /// A span of the policy is longer than the life of a file that is younger than its shortest span.
    func lifetimes(under policy: RetentionPolicy, without going: Set<SnapshotID>) -> [SnapshotID: UInt64] {
        let least = policy.tiers.map(\.width).first { $0 > 0 } ?? 0
        return unrecorded.filter { $0.value > least && !going.contains($0.key) }
    }
}

// MARK: - Pruning: frees the space of what nothing needs any more

/// The result of pruning, or of a dry run.
public struct PruneResult: Sendable, Hashable {
    /// Whether nothing was changed.
    public let isDryRun: Bool
    /// The bytes of all segments before.
    public let bytesBefore: UInt64
    /// The bytes of all segments afterwards; in a dry run, an estimate.
    public let bytesAfter: UInt64
    /// The bytes freed; in a dry run, an estimate.
    ///
    /// Other processes may have written in the meantime.
    public let freedBytes: UInt64
    /// How many segments there were.
    public let segments: Int
    /// How many of them were dropped.
    public let dropped: Int
    /// The bytes that were still needed, and so copied out of those.
    public let movedBytes: UInt64
    /// How many segments stay because a process writes to them.
    public let inUse: Int
    /// The bytes that would be free in those.
    public let bytesInUse: UInt64
    /// How many segments stay because the disk has no room to copy what is still needed in them.
    public let withoutRoom: Int
    /// The bytes that would be free in those.
    public let bytesWithoutRoom: UInt64
    /// The bytes that must be free on the disk to free the first of those.
    public let roomNeeded: UInt64
    /// How many segments with free bytes stay because a replica does not have them yet.
    public let unreplicated: Int
    /// The bytes that would be free in those.
    public let bytesUnreplicated: UInt64
    /// The suspended process that kept segments from being freed, with its command; nil if there was none.
    public let waitedFor: String?
    /// The segments that stay because they are damaged, each as a sentence.
    public let damaged: [String]
}

extension Archive {
    /// How long forgotten snapshots stay by default: a week.
    public static var defaultGrace: Duration { .seconds(7 * 86_400) }

    /// How long snapshots that were forgotten because room was short stay, unless the disk is full: a day.
    public static var graceForRoom: Duration { .seconds(86_400) }

    /// Frees the space of forgotten snapshots and saved states.
    ///
    /// Captures and restores continue during the prune. It can be cancelled or killed at any moment; the next run does
    /// the rest.
    ///
    /// - Parameters:
    ///   - grace: records forgotten more recently than this stay and can be brought back.
    ///   - isDryRun: whether only to return what would be freed.
    ///   - isCancelled: polled; true ends the prune early.
    ///   - progress: counters: first entries visited, then bytes of segments.
    /// - Throws: `ArchiverError` with the codes `inUse` if another process does the same, `damaged` if damage hides
    ///   what is still needed, `cancelled`.
    public func prune(
        grace: Duration = defaultGrace, isDryRun: Bool = false,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> PruneResult {
        try prune(
            protecting: ForgottenSpan(grace: grace), isDryRun: isDryRun, isCancelled: isCancelled, progress: progress)
    }

    /// Frees the space of forgotten snapshots and saved states that are not protected.
    ///
    /// - Parameters:
    ///   - left: snapshots that a dry run treats as forgotten.
    ///   - goalBytes: the bytes to free if possible: then a little dead space is worthwhile, too.
    ///   - releasedBytes: the bytes on the disk that a dry run counts as free.
    func prune(
        protecting protected: ForgottenSpan, without left: Set<ChunkID> = [], goalBytes: UInt64 = 0, isDryRun: Bool,
        releasedBytes: UInt64 = 0,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> PruneResult {
        try facing {
            var options = Reclaimer.Options()
            options.isDryRun = isDryRun
            options.goalBytes = Int(clamping: goalBytes)
            options.releasedBytes = Int(clamping: releasedBytes)
            options.isCancelled = isCancelled
            options.onProgress = { done, all in
                progress?.expect(entries: nil, bytes: UInt64(all))
                progress?.set(bytes: UInt64(done))
            }
            let reclaimer = try Reclaimer(store, options)
            var mark = LiveMark(store, progress, isCancelled: isCancelled, pause: reclaimer.pause)
            let result = try reclaimer.run { live in
                try mark.run(protecting: protected, without: left) { live.insert($0) }
            }
            return PruneResult(
                isDryRun: isDryRun, bytesBefore: UInt64(result.bytesBefore), bytesAfter: UInt64(result.bytesAfter),
                freedBytes: UInt64(result.freedBytes), segments: result.segments, dropped: result.dropped,
                movedBytes: UInt64(result.movedBytes), inUse: result.inUse,
                bytesInUse: UInt64(result.bytesInUse), withoutRoom: result.withoutRoom,
                bytesWithoutRoom: UInt64(result.bytesWithoutRoom), roomNeeded: UInt64(result.roomNeeded),
                unreplicated: result.unreplicated, bytesUnreplicated: UInt64(result.bytesUnreplicated),
                waitedFor: result.waitedFor.map { "process \($0.process) (\($0.command))" }, damaged: result.damaged)
        }
    }
}

extension ThinningRow {
    fileprivate var place: HistoryPlace {
        HistoryPlace(sequence: Int64(clamping: sequence), seconds: time.seconds)
    }
}
