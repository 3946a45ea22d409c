// Every script of fixtures/watch, run against a live watcher.

import ArchiverKit
import Testing
import TreeScripts

/// A script and how its tree is watched.
struct Scenario: Sendable, CustomTestStringConvertible {
    let script: Script
    let manner: Manner

    var testDescription: String { "\(script.name): \(script.title) (\(manner))" }

    static let all: [Scenario] = Script.all.filter { $0.requirements.subtracting(["events"]).isSubset(of: possible) }
        .flatMap { script in
            Manner.all.filter { !script.requirements.contains("events") || $0.backend != .poll }.map {
                Scenario(script: script, manner: $0)
            }
        }

    /// What can be had in this process.
    private static let possible: Set<String> = isRoot ? ["root"] : ["user"]
}

/// The time limit only ends a scenario whose barrier never comes.
@Suite("Scenarios", .timeLimit(.minutes(10))) struct ScenarioTests {
    /// A user has few inotify instances, and a machine few cores.
    private static let gate = Gate(width: 4)

    @Test("After the barrier the latest snapshot is the tree on disk", arguments: Scenario.all)
    func run(_ scenario: Scenario) async throws {
        try await ScenarioTests.gate.pass {
            try await ScenarioRunner(scenario.script, scenario.manner).run()
        }
    }

    @Test("Every script has a title of its own, a name, and says when watching begins")
    func areWellFormed() {
        for script in Script.all {
            #expect(!script.title.isEmpty && !script.title.hasPrefix("#"), "\(script.name)")
            #expect(script.name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }, "\(script.name)")
            #expect(script.uses("watch"), "\(script.name)")
        }
        #expect(Script.all.count >= 45)
        #expect(Set(Script.all.map(\.title)).count == Script.all.count)
    }
}
