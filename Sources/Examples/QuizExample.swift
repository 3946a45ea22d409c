// The first start loads a file shipped with the program; after that, every change is saved automatically.

import ArchiverKit
import ArgumentParser
import Foundation
import Mementos
import Synchronization

/// How often the questions of each group were answered right and wrong.
struct Scores: Codable, Sendable, Equatable {
    struct Score: Codable, Sendable, Equatable {
        var right = 0
        var wrong = 0
    }

    var groups: [String: Score]
}

struct QuizExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiz", abstract: "Show the scores of a quiz, and answer its questions.")

    @Option(help: "The JSON file with the scores for the first start.")
    var defaults: String

    @Option(name: .customLong("answer"), help: "Answer a question of this group.")
    var answered: String?

    @Flag(inversion: .prefixedNo, help: "Whether the answers are right.")
    var right = true

    @Option(help: "How many questions to answer.")
    var times = 1

    @Option(help: "Seconds of quiet before the scores are saved.")
    var quiet = 0.1

    enum Ending: String, ExpressibleByArgument, CaseIterable { case end, main, exit }

    @Option(help: "How to end: end the autosave, or only return from main, or only call exit(0).")
    var ending = Ending.end

    @Flag(help: "Keep running until a signal arrives.")
    var stay = false

    /// The autosave of the scores, held as long as the program runs.
    private static let kept = Mutex<Autosave?>(nil)

    func run() throws {
        let archive = try Archive.forExamples()
        let scores = Observable(
            try archive.load(Scores.self, as: "quiz", startingFrom: URL(filePath: defaults)))
        let autosave = archive.autosave(scores, as: "quiz", settle: .seconds(quiet), maxDelay: .seconds(10 * quiet))
        let saved = autosave.saved.subscribe { _ in QuizExample.report("saved") }
        if let answered {
            for _ in 0..<times { answer(answered, scores) }
        }
        if stay {
            QuizExample.report("playing")
            while true { pause() }
        }
        saved.cancel()
        QuizExample.kept.withLock { $0 = autosave }
        switch ending {
        case .end: try autosave.end()
        case .main: return
        case .exit: Foundation.exit(0)
        }
        for (group, score) in scores.value.groups.sorted(by: { $0.key < $1.key }) {
            print("\(group): \(score.right) right, \(score.wrong) wrong")
        }
    }

    /// Prints unbuffered, so that a reader of a pipe sees it immediately.
    private static func report(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    private func answer(_ group: String, _ scores: Observable<Scores>) {
        scores.update { scores in
            if right {
                scores.groups[group, default: .init()].right += 1
            } else {
                scores.groups[group, default: .init()].wrong += 1
            }
        }
    }
}
