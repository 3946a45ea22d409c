// Churn: several processes change a watched tree at random, and the watcher must miss nothing, whatever happens to it.

import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

/// Runs one variant after another, because each run uses all cores.
@Suite("Churn", .serialized, .blocking) struct ChurnTests {
    @Test("the latest snapshot equals the tree", .timeLimit(.minutes(60)), arguments: ChurnVariant.all)
    func nothingIsMissed(_ variant: ChurnVariant) async throws {
        try await ChurnRun(variant).run(operations: isThorough ? 3_000 : 1_500)
    }

    /// Runs for SOAK_MINUTES minutes, or until the first difference.
    @Test("the latest snapshot equals the tree during a soak", .enabled(if: getenv("SOAK_MINUTES") != nil))
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
