// Every system call of a command fails once, in one of the ways that it can: nothing announced may be lost, and nothing be
// wrong in silence.

import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("Faults", .enabled(if: FaultTool.isUsable), .blocking) struct FaultTests {
    /// The first calls and the last ones fail, those between by chance; of those that only look, one in three.
    private static let first = 60
    private static let last = 30
    private static let between = 20
    private static let looking = 3

    @Test("Whatever system call fails, the archive keeps its promises", arguments: FaultScene.all)
    func anyCall(_ scene: FaultScene) async throws { try await FaultPlace.onThread { try run(scene) } }

    private func run(_ scene: FaultScene) throws {
        var random = FaultPlace.random()
        let place = try FaultPlace(random)
        let calls = try begin(scene, place)
        for call in calls.indices where isChosen(call, of: calls.count, &random) {
            if Fault.onlyLooks(calls[call].name), !random.oneIn(FaultTests.looking) { continue }
            let faults = Fault.allCases.filter { $0.canMeet(calls[call].name) }
            guard let fault = faults.randomElement(using: &random) else { continue }
            try check(scene, place, calls[call], fault, random)
        }
    }

    /// Faults at random for as long as the environment's SOAK_MINUTES says.
    @Test(
        "Whatever fails, for as long as asked", .enabled(if: getenv("SOAK_MINUTES") != nil), arguments: FaultScene.all)
    func soak(_ scene: FaultScene) throws {
        let minutes = getenv("SOAK_MINUTES").flatMap { Int(String(cString: $0)) } ?? 60
        let end = ContinuousClock.now + .seconds(minutes * 60 / FaultScene.all.count)
        var random = SeededGenerator("faults in \(scene.testDescription)")
        let place = try FaultPlace(random)
        let calls = try begin(scene, place)
        while ContinuousClock.now < end {
            guard let call = calls.randomElement(using: &random) else { return }
            let faults = Fault.allCases.filter { $0.canMeet(call.name) }
            guard let fault = faults.randomElement(using: &random) else { continue }
            try check(scene, place, call, fault, random)
        }
    }

    /// Makes the place, and runs the command once without a fault.
    private func begin(_ scene: FaultScene, _ place: FaultPlace) throws -> [FaultTool.Call] {
        try scene.prepare(place)
        try place.keepOriginal()
        let (outcome, calls) = try place.runWithFaults([], scene.words(place))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        try scene.verify(place, outcome)
        #expect(calls.count > 50)
        return calls
    }

    private func isChosen(_ index: Int, of count: Int, _ random: inout SeededGenerator) -> Bool {
        if index < FaultTests.first || index >= count - FaultTests.last { return true }
        return random.below(count - FaultTests.first - FaultTests.last) < FaultTests.between
    }

    private func check(
        _ scene: FaultScene, _ place: FaultPlace, _ call: FaultTool.Call, _ fault: Fault, _ random: SeededGenerator
    ) throws {
        try place.putBack()
        let (outcome, calls) = try place.runWithFaults(
            ["--number", "\(call.number)"] + fault.words, scene.words(place))
        let what = Comment(
            rawValue:
                "\(fault.rawValue) at \(calls.first(where: \.isHit) ?? call); TEST_SEED=\(random.seed); "
                + "exit \(outcome.status), \(outcome.errorText)")
        // A signal that nobody sent, or a status that stands for nothing that can happen here.
        let killed = 128 + SIGKILL
        #expect([0, 1, 2, 3].contains(outcome.status) || (fault.isDeadly && outcome.status == killed), what)
        if outcome.status != 0, outcome.status != killed { #expect(!outcome.error.isEmpty, what) }
        do {
            try scene.verify(place, outcome.status == killed ? outcome.killed : outcome)
        } catch {
            Issue.record("\(error); \(what)")
        }
    }
}

extension ChildProcess.Outcome {
    /// The outcome of a program that could not say how it ended.
    var killed: ChildProcess.Outcome { ChildProcess.Outcome(status: -SIGKILL, output: output, error: error) }
}
