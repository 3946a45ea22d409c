// What is kept: the policies, thinning by them, and giving back the space of what nothing needs any more.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import History
public import Roots

// MARK: - Policies: records in the archive, so that every machine and a new catalogue know them

extension Archive {
    /// What is kept of a root: its own policy, else that of all roots, else everything.
    ///
    /// - Parameter root: nil for the policy of all roots.
    public func policy(of root: ArchivedRoot? = nil) throws(ArchiverError) -> RetentionPolicy {
        if let root, let own = try ownPolicy(of: root) { return own }
        return try facing {
            try store.catalogue.policy(root: nil).map { RetentionPolicy($0) } ?? .everything
        }
    }

    /// The policy that was set for a root itself; nil where that of all roots counts.
    public func ownPolicy(of root: ArchivedRoot) throws(ArchiverError) -> RetentionPolicy? {
        try facing {
            guard let number = try number(of: root) else { return nil }
            return try store.catalogue.policy(root: number).map { RetentionPolicy($0) }
        }
    }

    /// Sets what is kept of a root, or of all roots that have no policy of their own.
    ///
    /// Nothing is forgotten by this: `thin` does that.
    ///
    /// - Parameters:
    ///   - policy: nil to take back what was set: a root has the policy of all again, and all keep everything.
    ///   - root: nil for all.
    public func setPolicy(_ policy: RetentionPolicy?, of root: ArchivedRoot? = nil) throws(ArchiverError) {
        try whileKeeping {
            // What is set is to be done, however much goes.
            ThinningClock(in: store.layout).forget()
            guard let root else {
                let budget = try store.catalogue.policy(root: nil)
                return try set(policy ?? .everything, budget)
            }
            guard let number = try number(of: root) else {
                throw ArchiverError(
                    .noSuchDirectory, "the archive holds no snapshots of \(root.path)",
                    remedy: "'archiver roots' shows the directories", path: root.path)
            }
            let time = Timestamp.now(after: try store.catalogue.timeOfPolicy(root: number))
            try store.enter(
                PolicyRecord(
                    rootPath: root.path.bytes, host: root.host, machine: root.machine, time: time,
                    tiers: policy?.stored ?? [], isRemoved: policy == nil))
        }
    }

    /// How much room the archive may take.
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

    /// Sets how much room the archive may take.
    ///
    /// - Throws: `ArchiverError`: `unsuitableSettings` where nothing fits into that, `readOnly`…
    public func setBudget(_ budget: StorageBudget) throws(ArchiverError) {
        let record = PolicyRecord(
            time: .now, maxSize: budget.maxSize, minFreeBytes: budget.minFreeBytes,
            minFreePercent: budget.minFreePercent)
        do throws(FormatError) { try record.validate() } catch {
            throw ArchiverError(
                .unsuitableSettings, "the archive cannot be kept to that size: \(error)",
                remedy: "give a size such as 20G, and a share of at most 100%")
        }
        try whileKeeping {
            let policy = try store.catalogue.policy(root: nil).map { RetentionPolicy($0) }
            try set(policy ?? .everything, record)
        }
    }

    /// Stores the policy of all roots.
    private func set(_ policy: RetentionPolicy, _ budget: PolicyRecord?) throws {
        let time = Timestamp.now(after: try store.catalogue.timeOfPolicy(root: nil))
        let isDefault = policy == .everything && budget.map { $0.hasNoRoom } ?? true
        try store.enter(
            PolicyRecord(
                time: time, tiers: policy.stored, maxSize: budget?.maxSize, minFreeBytes: budget?.minFreeBytes,
                minFreePercent: budget?.minFreePercent, isRemoved: isDefault))
    }
}

extension PolicyRecord {
    /// Whether it says nothing about sizes.
    fileprivate var hasNoRoom: Bool { maxSize == nil && minFreeBytes == nil && minFreePercent == nil }
}

// MARK: - Thinning: forgetting what the policies let go, nothing is removed by it

/// How to thin an archive.
public struct ThinningOptions: Sendable {
    /// This root only; nil for all.
    public var root: ArchivedRoot?
    /// The policy to follow of `root`, or, for all, of the roots that have none of their own; nil for what is set.
    public var policy: RetentionPolicy?
    /// Whether only to tell what would be forgotten.
    public var isDryRun: Bool
    /// Whether nobody is asked: then a run that would forget far more than it should stops.
    public var isUnattended: Bool
    /// How much less is to be kept because room is short; 0 for what the policies say.
    var step = 0

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
    /// Forgets the snapshots that the policies let go; they can be brought back until their bytes are reclaimed.
    ///
    /// - Returns: for each root with a policy, what was forgotten, or would be.
    /// - Throws: `ArchiverError`: `tooMuchToForget` where `isUnattended` and much more would go than was to be expected, as
    ///   after a jump of the clock; then nothing is forgotten. `readOnly`…
    @discardableResult
    public func thin(_ options: ThinningOptions = ThinningOptions()) throws(ArchiverError) -> [ThinningPlan] {
        try whileKeeping {
            let clock = ThinningClock(in: store.layout)
            let isForRoom = options.step > 0
            let now = options.isUnattended ? clock.now() : .now
            var plans: [ThinningPlan] = []
            for record in try store.catalogue.roots() {
                let root = ArchivedRoot(record)
                if let only = options.root, only != root { continue }
                var policy = try policy(of: root, options)
                if isForRoom { policy = policy.narrowed(step: options.step) }
                if policy == .everything { continue }
                plans.append(try plan(root, record.number, policy, now: now))
            }
            if options.isDryRun { return plans }
            if options.isUnattended, !isForRoom { try clock.check(plans) }
            try store.forget(Set(plans.flatMap(\.going).map(\.id.chunk)), reason: isForRoom ? .room : .policy)
            clock.record(now)
            return plans
        }
    }

    private func policy(of root: ArchivedRoot, _ options: ThinningOptions) throws -> RetentionPolicy {
        guard let given = options.policy else { return try policy(of: root) }
        return try options.root != nil ? given : ownPolicy(of: root) ?? given
    }

    /// Operations that are younger can be undone whatever the policy.
    private static let undoSeconds: Int64 = 30 * 86_400

    /// Decides about the snapshots of a root.
    func plan(
        _ root: ArchivedRoot, _ number: Int64, _ policy: RetentionPolicy, now: Timestamp
    ) throws -> ThinningPlan {
        try indexHistory(root: number)
        var circumstances = ThinningPlan.Circumstances(now: now)
        circumstances.pinned = Set(try store.catalogue.pins().values.filter { $0.holds(at: now) }.map(\.target))
        let oldest = now.seconds.subtractingReportingOverflow(Archive.undoSeconds).partialValue
        for operation in try store.catalogue.operations(root: number) where operation.record.time.seconds >= oldest {
            circumstances.operations.formUnion(
                [operation.record.before, operation.record.snapshot].compactMap { $0 })
        }
        circumstances.lifetimes = try store.catalogue.lifetimesOfRemovedFiles(root: number)
        circumstances.unknown = Set(try store.catalogue.damagedHistory(root: number).map(\.id))
        return ThinningPlan(root, policy, try store.catalogue.thinningRows(root: number), circumstances)
    }
}

// MARK: - Giving space back: what nothing needs any more goes

/// What giving space back did, or would do.
public struct PruneResult: Sendable, Hashable {
    /// Whether nothing was changed.
    public let isDryRun: Bool
    /// Bytes of all segments before.
    public let bytesBefore: UInt64
    /// Bytes of all segments afterwards; of a dry run, about.
    public let bytesAfter: UInt64
    /// Bytes that the file system has back; of a dry run, about.
    ///
    /// Others may have written more meanwhile.
    public let freedBytes: UInt64
    /// How many segments there were.
    public let segments: Int
    /// How many of them were dropped.
    public let dropped: Int
    /// Bytes that were copied out of those, as they are needed.
    public let movedBytes: UInt64
    /// Segments that stay because somebody writes to them.
    public let inUse: Int
    /// Segments that stay because they are damaged, each as a sentence.
    public let damaged: [String]
}

extension Archive {
    /// A week.
    public static var defaultGrace: Duration { .seconds(7 * 86_400) }

    /// Gives the space of what is forgotten back to the file system.
    ///
    /// Captures and restores go on meanwhile. It can be ended at any moment, by killing the process, too: then the next
    /// run does the rest.
    ///
    /// - Parameters:
    ///   - grace: for so long what was forgotten can be brought back, and stays; `defaultGrace` unless told otherwise.
    ///   - isDryRun: whether only to tell what would go.
    ///   - isCancelled: asked now and then whether to end early.
    ///   - progress: counters that are moved forward meanwhile: entries that were looked at, then bytes of segments.
    /// - Throws: `ArchiverError` of the codes `inUse` where another process does the same, `damaged` where it cannot be told
    ///   what is needed, `cancelled` after an early end.
    public func prune(
        grace: Duration = defaultGrace, isDryRun: Bool = false,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> PruneResult {
        try facing {
            var options = Reclaimer.Options()
            options.isDryRun = isDryRun
            options.isCancelled = isCancelled
            options.onProgress = { done, all in
                progress?.expect(entries: nil, bytes: UInt64(all))
                progress?.set(bytes: UInt64(done))
            }
            let reclaimer = try Reclaimer(store, options)
            var mark = LiveMark(store, progress, isCancelled: isCancelled, pause: reclaimer.pause)
            let since =
                grace > .zero
                ? Timestamp(seconds: Timestamp.now.seconds - grace.components.seconds) : Timestamp(seconds: .max)
            let result = try reclaimer.run { live in
                try mark.run(forgottenSince: since) { live.insert($0) }
            }
            return PruneResult(
                isDryRun: isDryRun, bytesBefore: UInt64(result.bytesBefore), bytesAfter: UInt64(result.bytesAfter),
                freedBytes: UInt64(result.freedBytes), segments: result.segments, dropped: result.dropped,
                movedBytes: UInt64(result.movedBytes), inUse: result.inUse, damaged: result.damaged)
        }
    }
}
