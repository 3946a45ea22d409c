// System calls of a command fail, one per run: nothing announced may be lost, and no failure may be silent.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite("Faults", .enabled(if: FaultTool.isUsable), .blocking) struct FaultTests {
    /// The numbers of first, last and random middle calls that fail in a thorough run.
    private static let first = 60
    private static let last = 30
    private static let between = 20
    /// In a thorough run, one in so many of the calls that only look fails.
    private static let looking = 3
    /// In a short run, a class of calls that another command has met already meets one command in so many: calls that
    /// change something, and others.
    private static let changing = 8
    private static let reading = 40
    private static let met = Locked(Set<CallClass>())
    /// Whether TEST_SEED repeats a run: then a call of every class fails, because the run's commands met them in any order.
    private static let isRepeated = getenv("TEST_SEED") != nil
    /// In a short run, so many random calls fail besides, for each command.
    private static let random = 1

    @Test("if any system call fails, nothing announced is lost", arguments: FaultScene.all)
    func anyCall(_ scene: FaultScene) throws {
        var random = SeededGenerator("faults")
        let place = try FaultPlace(random)
        let calls = try begin(scene, place)
        let chosen =
            isThorough
            ? calls.indices.filter { isChosen($0, of: calls.count, &random) } : FaultTests.different(calls, &random)
        for call in chosen {
            if isThorough, Fault.onlyLooks(calls[call].name), !random.oneIn(FaultTests.looking) { continue }
            let faults = Fault.allCases.filter { $0.canMeet(calls[call].name) }
            var own = SeededGenerator(seed: random.seed &+ UInt64(call))
            guard let fault = faults.randomElement(using: &own) else { continue }
            try check(scene, place, calls[call], fault, random)
        }
    }

    /// Commands that must write; the second one only the catalogue.
    private static let writing = [FaultScene.captures[1], FaultScene.catalogues[3], FaultScene.prunes[0]]

    @Test(
        "a quota that is used up is a full disk: each command ends as on one, and nothing is lost", arguments: writing)
    func quota(_ scene: FaultScene) throws {
        let place = try FaultPlace(SeededGenerator("faults"))
        _ = try begin(scene, place)
        var failures = 0
        for name in ["pwrite64", "write"] {
            for file in [".segment", "catalogue.sqlite"] {
                let ends = try ["ENOSPC", "EDQUOT"].map { error in
                    try place.putBack()
                    let options = ["--only", name, "--matching", file, "--number", "1", "--fault", error, "--lasting"]
                    let (outcome, _) = try place.runWithFaults(options, scene.words(place))
                    try scene.verify(place, outcome)
                    let code = outcome.errorText.firstMatch(of: /"code": ?"(\w+)"/).map { String($0.1) }
                    return "exit \(outcome.status) \(code ?? "")"
                }
                #expect(ends[0] == ends[1], "\(name) of \(file)")
                if !ends[1].hasPrefix("exit 0 ") { failures += 1 }
            }
        }
        #expect(failures > 0)
    }

    @Test(
        "a command that only reads writes no file of the archive and waits for no disk",
        arguments: [["list"], ["log", "text"], ["cat", "latest:text"], ["diff", "oldest"], ["deleted"]])
    func reading(_ words: [String]) throws {
        let place = try FaultPlace(SeededGenerator("faults"))
        try place.prepareHistory()
        let program = [Workplace.program.string] + words.prefix(1) + ["--root", place.tree.string]
        let (outcome, calls) = try place.runWithFaults([], program + words.dropFirst())
        #expect(outcome.errorText.isEmpty)
        #expect(calls.contains { $0.path.hasSuffix("catalogue.sqlite") })
        let syncs = calls.filter { $0.name.hasSuffix("sync") || $0.name == "write" }
        #expect(syncs.isEmpty, "\(syncs)")
        // The index of SQLite's log is memory that processes share; it is rebuilt by the first of them.
        let written = calls.filter { $0.name.hasPrefix("pwrite") && !$0.path.hasSuffix("-shm") }
        #expect(written.isEmpty, "\(written)")
    }

    @Test(
        "random faults lose nothing announced, for SOAK_MINUTES", .enabled(if: getenv("SOAK_MINUTES") != nil),
        arguments: FaultScene.all)
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

    /// Prepares the place and runs the command once without a fault.
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

    /// What distinguishes one call from another: its name, the kind of its file, and for a call that changes something,
    /// its position in the commit.
    private struct CallClass: Hashable {
        enum Position { case beforeSyncs, betweenSyncs, afterSyncs }

        let name: String
        let file: String
        let position: Position?
    }

    /// The kind of the file at `path`: its name in an archive without what differs from run to run; the user's files are
    /// all of one kind.
    private static func kind(of path: String) -> String {
        if path.contains("/work/archive") { return path.split(separator: "/").last?.filter { !$0.isHexDigit } ?? "" }
        return path.contains("/.archiver-") ? "temporary file" : "file"
    }

    /// Returns a random call of each class that no other command has met, of some other classes, and some random ones.
    private static func different(_ calls: [FaultTool.Call], _ random: inout SeededGenerator) -> [Int] {
        let syncs = calls.count { $0.name.hasSuffix("sync") }
        var done = 0
        var classes: [CallClass: [Int]] = [:]
        for (index, call) in calls.enumerated() {
            let position: CallClass.Position =
                done == 0 ? .beforeSyncs : done < syncs ? .betweenSyncs : .afterSyncs
            let place = CallClass(
                name: call.name, file: kind(of: call.path), position: Fault.isChange(call.name) ? position : nil)
            classes[place, default: []].append(index)
            if call.name.hasSuffix("sync") { done += 1 }
        }
        var chosen: Set<Int> = []
        for (place, members) in classes.sorted(by: { $0.value[0] < $1.value[0] }) {
            // What is drawn does not depend on what other commands have met, so that TEST_SEED repeats it.
            let isDrawn = random.oneIn(place.position != nil ? changing : reading)
            let call = members.randomElement(using: &random)
            let isNew = met.withLock { $0.insert(place).inserted }
            if isNew || isDrawn || isRepeated, let call { chosen.insert(call) }
        }
        for _ in 0..<Self.random { chosen.insert(random.below(calls.count)) }
        return chosen.sorted()
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
        // The program must not end with an unexpected signal or status; 12 says that a key cannot be used.
        let killed = 128 + SIGKILL
        #expect([0, 1, 2, 3, 12].contains(outcome.status) || (fault.isDeadly && outcome.status == killed), what)
        if outcome.status != 0, outcome.status != killed { #expect(!outcome.error.isEmpty, what) }
        do {
            try scene.verify(place, outcome.status == killed ? outcome.killed : outcome)
        } catch {
            Issue.record("\(error); \(what)")
        }
    }
}

extension ChildProcess.Outcome {
    /// The outcome with the status of a killed program.
    var killed: ChildProcess.Outcome { ChildProcess.Outcome(status: -SIGKILL, output: output, error: error) }
}
