// Thinning: forgetting what the policy lets go. Nothing is removed here.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
public import Roots

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
            clock.note(now)
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
        try HistoryIndexing(store: store, nodes: nodes, progress: nil).run(root: number)
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
