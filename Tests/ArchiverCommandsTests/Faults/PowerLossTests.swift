// Power fails at any moment of a command; writes that were not synced may be present, missing or partial.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// `Tests/Faults/powerloss.c` models the possible contents of the disk.
@Suite("Power losses", .enabled(if: FaultTool.isUsable), .blocking) struct PowerLossTests {
    /// Seeds for extreme states: only synced data; names without bytes; names and lengths without bytes; bytes without
    /// names.
    ///
    /// Seed 1 keeps everything, like killing the program.
    private static let extremes: [UInt64] = [0, 2, 3, 4]
    private static let rounds = isThorough ? 30 : 5
    /// The last moments, around the last output, are the most critical.
    private static let lastMoments = isThorough ? 8 : 2

    @Test("after a power failure at any moment, everything announced is present", arguments: FaultScene.all)
    func anyMoment(_ scene: FaultScene) throws {
        var random = SeededGenerator("faults")
        let place = try FaultPlace(random)
        let cuts = try begin(scene, place)
        for round in 0..<PowerLossTests.rounds {
            let seed = PowerLossTests.extremes.randomElement(using: &random) ?? 0
            let cut = round < PowerLossTests.lastMoments ? cuts - round : random.below(cuts + 1)
            try check(scene, place, cut, random.oneIn(2) ? seed : random.next(), random)
        }
    }

    @Test("after a power failure behind a command, the list of begun segments names every segment")
    func begunSegments() throws {
        for scene in [FaultScene.captures[0], FaultScene.captures[2]] {
            let place = try FaultPlace(SeededGenerator("faults"))
            let cuts = try begin(scene, place)
            for seed in PowerLossTests.extremes {
                try place.clear()
                _ = try FaultTool.losePower(place.recording, behind: cuts, seed: seed, in: place.work)
                let segments = try place.shell("find \(place.archive)/segments -name '*.segment' -printf '%f\n'")
                let list = try place.shell("cat \(place.archive)/begun")
                let names = Set(segments.split(separator: "\n"))
                #expect(!names.isEmpty && names.isSubset(of: list.split(separator: "\n")), "chances \(seed)")
            }
        }
    }

    @Test(
        "repeated power failures lose nothing announced", .enabled(if: getenv("SOAK_MINUTES") != nil),
        arguments: FaultScene.all)
    func soak(_ scene: FaultScene) throws {
        let minutes = getenv("SOAK_MINUTES").flatMap { Int(String(cString: $0)) } ?? 60
        let end = ContinuousClock.now + .seconds(minutes * 60 / FaultScene.all.count)
        var random = SeededGenerator("power fails again and again during \(scene.testDescription)")
        let place = try FaultPlace(random)
        let cuts = try begin(scene, place)
        while ContinuousClock.now < end {
            try check(scene, place, random.below(cuts + 1), random.below(1 << 20) < 1 << 18 ? 3 : random.next(), random)
        }
    }

    private func begin(_ scene: FaultScene, _ place: FaultPlace) throws -> Int {
        try scene.prepare(place)
        try place.keepOriginal()
        let options = ["--record", place.recording.string]
        let (outcome, _) = try place.runWithFaults(options, scene.words(place))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let cuts = try FaultTool.cuts(of: place.recording)
        #expect(cuts > 10)
        return cuts
    }

    private func check(
        _ scene: FaultScene, _ place: FaultPlace, _ cut: Int, _ seed: UInt64, _ random: SeededGenerator
    ) throws {
        try place.clear()
        let output = try FaultTool.losePower(place.recording, behind: cut, seed: seed, in: place.work)
        let outcome = ChildProcess.Outcome(status: -SIGPWR, output: output, error: [])
        do {
            try scene.verify(place, outcome)
        } catch {
            Issue.record("\(error); after change \(cut), chances \(seed); TEST_SEED=\(random.seed)")
        }
    }
}
