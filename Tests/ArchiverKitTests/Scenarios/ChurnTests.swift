// Churn: several processes change a watched tree at random; nothing may be missed, whatever befalls the watcher.

import Foundation
import Glibc
import TestTraits
import Testing

/// One mishap after another: each run uses all cores.
@Suite("Churn", .serialized, .blocking) struct ChurnTests {
    @Test("The latest snapshot is the tree", .timeLimit(.minutes(60)), arguments: ChurnVariant.all)
    func nothingIsMissed(_ variant: ChurnVariant) async throws {
        try await ChurnRun(variant).run(operations: 3_000)
    }

    /// For as long as the environment's SOAK_MINUTES says, up to the first difference.
    @Test("The latest snapshot is the tree, for as long as asked", .enabled(if: getenv("SOAK_MINUTES") != nil))
    func soak() async throws {
        let minutes = getenv("SOAK_MINUTES").flatMap { Int(String(cString: $0)) } ?? 60
        let end = ContinuousClock.now + .seconds(minutes * 60)
        var (rounds, changes) = (0, 0)
        while ContinuousClock.now < end {
            for variant in ChurnVariant.all {
                let run = try ChurnRun(variant)
                try await run.run(operations: 30_000)
                if run.isEvidence { return }
                changes += run.changes
            }
            rounds += 1
            print("soak: \(rounds) rounds of \(ChurnVariant.all.count) variants, \(changes) changes, no difference")
        }
    }
}
