// Faults in programs that save states: all announced states are present, and at most one complete state more.

import Foundation
import SystemPackage
import TestSupport

extension FaultScene {
    static let states = [
        counting("a program saves its first state, which makes the archive", from: 0) { _ in },
        counting("a program saves one state after another", from: 2) { place in
            try place.capture()
            _ = try place.examples(counter(2))
        },
        counting("a program saves states, which seals segments", from: 30) { place in
            try place.capture()
            try place.fillSegments(at: 4_000)
            _ = try place.examples(counter(30))
        },
        FaultScene(
            "a program begins with a large state",
            prepare: { place in
                try place.capture()
                try Data(scores.utf8).write(to: URL(filePath: place.scores.string))
            },
            words: { program + $0.quiz },
            verify: { place, outcome in
                let before = try place.states("quiz")
                guard before.count == 1 || (before.isEmpty && !outcome.isDone) else {
                    throw FaultPlace.Wrong(description: "\(before.count) states, exit \(outcome.status)")
                }
                let again = try place.examples(place.quiz)
                guard again.text == answers, try place.states("quiz").count == 1 else {
                    throw FaultPlace.Wrong(description: "the program continued from \(again.text.count) bytes")
                }
                try place.checkArchive(states: [])
                try place.checkAfterwards()
            }),
    ]

    /// Makes three changes of a state after `count` earlier ones, each announced by a line.
    private static func counting(
        _ name: String, from count: Int, prepare: @escaping @Sendable (FaultPlace) throws -> Void
    ) -> FaultScene {
        FaultScene(
            name, prepare: prepare, words: { _ in program + counter(3) },
            verify: { place, outcome in
                let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                let announced = count + lines.count
                guard lines == lines.indices.map({ "counted to \(count + $0 + 1)" })[...] else {
                    throw FaultPlace.Wrong(description: "announced: \(outcome.text)")
                }
                if outcome.status == 0, announced != count + 3 {
                    throw FaultPlace.Wrong(description: "exit 0, and \(lines.count) of 3 announced")
                }
                let saved = try place.states("counter").compactMap { $0 as? Int }
                guard [announced, announced + 1].map({ Array(0..<$0).map { $0 + 1 } }).contains(saved) else {
                    throw FaultPlace.Wrong(description: "announced up to \(announced), saved are \(saved)")
                }
                guard try place.examples(counter(1)).text == "counted to \(saved.count + 1)\n" else {
                    throw FaultPlace.Wrong(description: "the next count is not \(saved.count + 1)")
                }
                if place.announced.isEmpty {
                    try place.checkSoundness()
                } else {
                    try place.checkArchive(states: [])
                    try place.checkAnnounced()
                }
                try place.checkAfterwards()
            })
    }

    private static let program = [FaultPlace.examples.string]
    private static func counter(_ times: Int) -> [String] { ["counter", "--times", "\(times)"] }

    private static let groups = (1_000..<5_000).map { "a group of questions by the name of \($0)" }
    /// About 280 kB.
    private static let scores =
        #"{"groups": {\#(groups.map { #""\#($0)": {"right": 1, "wrong": 2}"# }.joined(separator: ", "))}}"#
    private static let answers = groups.map { "\($0): 1 right, 2 wrong\n" }.joined()
}

extension FaultPlace {
    fileprivate static let examples = FilePath(BuiltProgram.path(of: "examples"))

    fileprivate var scores: FilePath { work.appending("scores.json") }
    fileprivate var quiz: [String] { ["quiz", "--defaults", scores.string] }

    fileprivate func examples(_ words: [String]) throws -> ChildProcess.Outcome {
        let outcome = try ChildProcess.run(
            FaultPlace.examples, words.map { Array($0.utf8) }, environment: environment)
        guard outcome.status == 0 else {
            throw Wrong(description: "\(words): exit \(outcome.status) \(outcome.errorText)")
        }
        return outcome
    }

    /// The contents of the states of `title`, the oldest first.
    fileprivate func states(_ title: String) throws -> [Any?] {
        guard FileManager.default.fileExists(atPath: archive.appending("archive.json").string) else { return [] }
        let list = try run("list", "--state", title, "--json")
        guard list.status == 0 else { throw Wrong(description: "list: exit \(list.status) \(list.errorText)") }
        return try JSON.array(list.output).map { row in
            let shown = try run("show", row["id"] as? String ?? "", "--json")
            guard shown.status == 0 else { throw Wrong(description: "show: \(shown.errorText)") }
            return try JSON.object(shown.output)["state"]
        }
    }
}
