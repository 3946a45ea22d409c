// The scripts of fixtures/watch on the watcher alone: does each batch lead to every difference, and is no watch left over?

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

    /// Those that only change what is in the root while it is watched, under names that a listing of texts can hold.
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

    /// Where events bear a name that is not there any more, it is the capture that looks further.
    private static func asksTheCapture(_ script: Script) -> Bool {
        ["nameless-file-gets-a-name", "written-through-a-removed-name"].contains(script.name)
    }
}

@Suite(.blocking) struct ScenarioTests {
    /// A user has few inotify instances.
    private static let gate = Gate(width: 4)

    @Test(arguments: WatcherScenario.all)
    func everyDifferenceIsCovered(_ scenario: WatcherScenario) async throws {
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
        // What the script left behind must not make the watcher deaf.
        try watched.run("write later 1\nmkdir -p later-a/b\nwrite later-a/b/c 1")
        try await check(watched, "\(scenario.script.name), after the end")
    }

    private func check(_ watched: WatchedTree, _ comment: String) async throws {
        try await watched.check(comment)
        #expect(
            watched.kernelWatches == watched.directories,
            "\(comment): every directory has its watch, nothing else has")
    }
}
