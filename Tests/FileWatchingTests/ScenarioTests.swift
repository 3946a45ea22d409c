// Little scripts and the one question: does the batch lead to every difference?

import FileIO
import FileWatching
import Testing

/// A script that is run on a watched tree; a line `check` compares in between.
struct Scenario: CustomTestStringConvertible {
    let name: String
    var setup = ""
    let script: String

    var testDescription: String { name }
}

@Suite struct ScenarioTests {
    @Test(arguments: Scenario.all)
    func everyDifferenceIsCovered(_ scenario: Scenario) async throws {
        let watched = try await WatchedTree(scenario.setup)
        for part in scenario.script.split(separator: "check\n", omittingEmptySubsequences: false) {
            try watched.run(String(part))
            try await watched.check(scenario.name)
            #expect(watched.kernelWatches == watched.directories, "every directory has its watch, nothing else has")
        }
        // What the first changes left behind must not make the watcher deaf for later ones.
        try watched.run("write later 1\nmkdir -p later-a/b\nwrite later-a/b/c 1")
        try await watched.check(scenario.name)
    }
}
