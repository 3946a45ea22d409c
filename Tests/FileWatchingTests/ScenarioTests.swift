// Runs the scripts of fixtures/watch on the watcher alone: every change is covered, and no watch is left over.

import FileIO
import FileWatching
import SystemPackage
import TestTraits
import Testing
import TreeScripts

/// A script on the watcher alone.
struct WatcherScenario: CustomTestStringConvertible {
    let script: Script

    var testDescription: String { "\(script.name): \(script.title)" }

    /// The scripts that only change the contents of the root while it is watched, with names that are valid UTF-8.
    static let all = Script.all
        .filter { script in
            script.requirements.isEmpty && !script.uses("stop", "until", "chain", "audit", "left-out")
                && !asksTheCapture(script)
                && !script.lines.contains { isAboutRoot($0) || !isText($0) }
        }
        .map { WatcherScenario(script: $0) }

    private static func isAboutRoot(_ line: Script.Line) -> Bool {
        line.words.contains(Array("../root".utf8)) || line.description == "watch meanwhile"
    }

    private static func isText(_ line: Script.Line) -> Bool {
        line.words.allSatisfy { String(validating: $0, as: UTF8.self) != nil }
    }

    /// Whether the script causes events with names that no longer exist, which only a capture can resolve.
    private static func asksTheCapture(_ script: Script) -> Bool {
        ["nameless-file-gets-a-name", "written-through-a-removed-name"].contains(script.name)
    }
}

@Suite(.blocking) struct ScenarioTests {
    /// Limits the number of watchers, because a user has few inotify instances.
    private static let gate = Gate(width: 4)

    @Test("batches cover every change of a scenario", arguments: WatcherScenario.all)
    func scenario(_ scenario: WatcherScenario) async throws {
        try await ScenarioTests.gate.pass { try await run(scenario) }
    }

    private func run(_ scenario: WatcherScenario) async throws {
        let place = try TemporaryTree()
        let tree = ScriptTree(base: FilePath(place.base))
        let lines = scenario.script.lines
        let start = try #require(lines.firstIndex { $0.command == "watch" })
        for line in lines[..<start] { _ = try tree.run(line) }
        let watched = try await WatchedTree(tree: place)
        for line in lines[start...] where try !tree.run(line) && line.command == "settle" {
            try await check(watched, "\(scenario.script.name):\(line.number)")
        }
        try await check(watched, "\(scenario.script.name), the end")
        // The watcher must still report changes after the script.
        try watched.run("write later 1\nmkdir -p later-a/b\nwrite later-a/b/c 1")
        try await check(watched, "\(scenario.script.name), after the end")
    }

    private func check(_ watched: WatchedTree, _ comment: String) async throws {
        try await watched.check(comment)
        #expect(
            watched.kernelWatches == watched.directories,
            "\(comment): every directory has a watch, and nothing else has")
    }
}
