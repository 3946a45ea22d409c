// The texts of retention policies, space limits and the results of thinning.

internal import ArchiverKit
internal import FileIO
internal import Replicas
internal import SystemPackage

/// The policy of each root and the space limits of the archive.
struct KeepingSummary {
    let ofAll: RetentionPolicy
    let roots: [(root: ArchivedRoot, policy: RetentionPolicy, isOwn: Bool)]
    let budget: StorageBudget
    let places: SegmentPlaces

    init(_ archive: Archive) throws {
        let ofAll = try archive.policy()
        self.ofAll = ofAll
        roots = try archive.roots().map { root in
            let own = try archive.ownPolicy(of: root)
            return (root, own ?? ofAll, own != nil)
        }
        budget = try archive.budget()
        places = try archive.segmentPlaces()
    }
}

/// Texts about policies and thinning.
enum KeepingText {
    static func lines(_ summary: KeepingSummary) -> [String] {
        let own = summary.roots.filter(\.isOwn)
        let rest = own.isEmpty ? "all roots" : "all other roots"
        return own.map { "\(Escaping.text($0.root.path.bytes)): \(text($0.policy))" }
            + ["\(rest): \(text(summary.ofAll))", room(summary.budget)]
            + (EvictionText.line(summary.places).map { [$0] } ?? [])
    }

    /// "everything is kept", or "all for 2h, one a minute for 2d, one a week forever".
    static func text(_ policy: RetentionPolicy) -> String {
        if policy.tiers.isEmpty { return "everything is kept" }
        return policy.tiers.map { tier in
            let age = tier.age == nil ? "forever" : "for \(SpanArgument.text(tier.age))"
            return "\(name(ofWidth: tier.width)) \(age)"
        }.joined(separator: ", ")
    }

    private static func name(ofWidth width: UInt64) -> String {
        switch width {
        case 0: "all"
        case 60: "one a minute"
        case 3600: "one an hour"
        case 86_400: "one a day"
        case 604_800: "one a week"
        default: "one each \(SpanArgument.text(width))"
        }
    }

    private static func room(_ budget: StorageBudget) -> String {
        let size = budget.maxSize.map { "at most \(ByteCount.text($0))" } ?? "no limit"
        let free = [budget.minFreePercent.map { "\($0)%" }, budget.minFreeBytes.map { ByteCount.text($0) }]
            .compactMap { $0 }.joined(separator: " or ")
        return "archive size: \(size); free on its disk: at least \(free)"
    }

    /// The results, or planned results, of thinning each root.
    static func lines(_ plans: [ThinningPlan], isDryRun: Bool) -> [String] {
        if plans.isEmpty { return ["All roots keep everything."] }
        return plans.flatMap { plan in
            let verb = isDryRun ? "would forget" : "forgot"
            let kept = ThinningPlan.Reason.allCases.compactMap { reason in
                plan.kept[reason].map { "\($0) \(words(reason))" }
            }
            return [
                "\(Escaping.text(plan.root.path.bytes)): \(verb) \(plan.going.count) of \(Plural.of(plan.count, "snapshot"))",
                "  kept: " + (kept.isEmpty ? "none" : kept.joined(separator: ", ")),
            ]
        }
    }

    static func words(_ reason: ForgettingResult.Reason) -> String {
        switch reason {
        case .pinned: "pinned"
        case .labelled: "labelled"
        case .newest: "newest"
        case .operation: "needed by 'archiver undo'"
        }
    }

    private static func words(_ reason: ThinningPlan.Reason) -> String {
        switch reason {
        case .policy: "by the policy"
        case .newest: "as the newest"
        case .pinned: "pinned"
        case .labelled: "with a label"
        case .operation: "for undo"
        case .burst: "around pauses"
        case .massChange: "around mass changes"
        case .deletedFile: "as the last with a deleted file"
        }
    }
}
