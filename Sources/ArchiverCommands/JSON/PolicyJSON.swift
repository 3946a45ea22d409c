// Retention policies and the results of thinning, as JSON.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The output of `keep --json`.
struct KeepingSummaryJSON: Encodable {
    let summary: KeepingSummary

    init(_ summary: KeepingSummary) { self.summary = summary }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(summary.ofAll.tiers.map(TierJSON.init), forKey: .tiers)
        try object.encode(
            summary.roots.map { RootPolicyJSON(root: $0.root, policy: $0.policy, isOwn: $0.isOwn) }, forKey: .roots)
        try object.encode(summary.budget.maxSize, forKey: .maxSizeBytes)
        try object.encode(summary.places.limit, forKey: .localSizeBytes)
        try object.encode(summary.budget.minFreeBytes, forKey: .minFreeBytes)
        try object.encode(summary.budget.minFreePercent, forKey: .minFreePercent)
    }
}

private struct RootPolicyJSON: Encodable {
    let root: ArchivedRoot
    let policy: RetentionPolicy
    let isOwn: Bool

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(root.machine.hex, forKey: .machine)
        try object.encode(isOwn, forKey: .own)
        try object.encode(policy.tiers.map(TierJSON.init), forKey: .tiers)
    }
}

private struct TierJSON: Encodable {
    let tier: RetentionPolicy.Tier

    init(_ tier: RetentionPolicy.Tier) { self.tier = tier }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(tier.width, forKey: .width)
        try object.encode(tier.age, forKey: .age)
    }
}

/// The output of `keep --dry-run --json` and `keep --now --json`.
struct ThinningJSON: Encodable {
    let plans: [ThinningPlan]
    let isDryRun: Bool

    private struct Root: Encodable {
        let plan: ThinningPlan

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: JSONKey.self)
            try object.encode(bytes: plan.root.path.bytes, forKey: .root)
            try object.encode(plan.root.machine.hex, forKey: .machine)
            try object.encode(plan.count, forKey: .snapshots)
            try object.encode(plan.going.count, forKey: .forgotten)
            var kept = object.nestedContainer(keyedBy: JSONKey.self, forKey: .kept)
            for reason in ThinningPlan.Reason.allCases {
                try kept.encode(plan.kept[reason] ?? 0, forKey: JSONKey(reason.rawValue))
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(isDryRun, forKey: .dryRun)
        try object.encode(plans.map(Root.init), forKey: .roots)
    }
}
