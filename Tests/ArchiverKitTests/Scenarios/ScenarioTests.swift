// Every script of fixtures/watch, run against a live watcher.

import ArchiverKit
import TestSupport
import TestTraits
import Testing
import TreeScripts

/// A script and the way its tree is watched.
struct Scenario: Sendable, CustomTestStringConvertible {
    let script: Script
    let manner: Manner

    var testDescription: String { "\(script.name): \(script.title) (\(manner))" }

    /// The scenarios for a watcher in this process; in a short run, each script is run in one random manner.
    static let inProcess = isThorough ? all { !$0.contains("program") } : oneManner(all { !$0.contains("program") })
    /// The scenarios for the program that need no special rights.
    static let ofProgram = all { $0.contains("program") && !$0.contains("userns") }
    /// The scenarios for the program that need a namespace, for limits and mounts.
    static let inNamespace = all { $0.contains("userns") }

    private static func oneManner(_ all: [Scenario]) -> [Scenario] {
        var random = SeededGenerator("manners of watching")
        return Dictionary(grouping: all) { $0.script.name }.sorted { $0.key < $1.key }
            .compactMap { $0.value.randomElement(using: &random) }
    }

    /// The scenarios of the scripts whose requirements are met here and for which `isWanted` is true.
    private static func all(_ isWanted: (Set<String>) -> Bool) -> [Scenario] {
        let missing: Set = [isRoot ? "user" : "root"]
        return Script.all.filter { isWanted($0.requirements) && $0.requirements.isDisjoint(with: missing) }
            .flatMap { script in Manner.all(for: script).map { Scenario(script: script, manner: $0) } }
    }
}

/// The time limit is only for a scenario whose barrier never comes.
@Suite("Scenarios", .timeLimit(.minutes(60)), .blocking) struct ScenarioTests {
    /// A user has few inotify instances, and a machine few cores.
    private static let gate = Gate(width: 4)

    @Test("after a barrier the latest snapshot equals the tree on disk", arguments: Scenario.inProcess)
    func run(_ scenario: Scenario) async throws {
        try await ScenarioTests.gate.pass {
            try await ScenarioRunner(scenario.script, scenario.manner, .service).run()
        }
    }

    @Test("after a barrier the latest snapshot equals the tree that the program watches", arguments: Scenario.ofProgram)
    func runProgram(_ scenario: Scenario) async throws {
        try await ScenarioTests.gate.pass {
            try await ScenarioRunner(scenario.script, scenario.manner, .program).run()
        }
    }

    @Test(
        "after a barrier the latest snapshot equals the tree, with mounts and few watches in a user namespace",
        .enabled(if: Namespace.isPossible, "user namespaces are not available here"), arguments: Scenario.inNamespace)
    func runInNamespace(_ scenario: Scenario) async throws {
        try await ScenarioTests.gate.pass {
            try await ScenarioRunner(scenario.script, scenario.manner, .namespace(Namespace())).run()
        }
    }

    @Test("every script has a unique title, a valid name and a watch line")
    func areWellFormed() {
        let words: Set = ["root", "user", "events", "program", "userns"]
        for script in Script.all {
            #expect(!script.title.isEmpty && !script.title.hasPrefix("#"), "\(script.name)")
            #expect(script.name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }, "\(script.name)")
            #expect(script.uses("watch"), "\(script.name)")
            #expect(script.requirements.isSubset(of: words), "\(script.name)")
        }
        #expect(Script.all.count >= 45)
        #expect(Set(Script.all.map(\.title)).count == Script.all.count)
    }
}
