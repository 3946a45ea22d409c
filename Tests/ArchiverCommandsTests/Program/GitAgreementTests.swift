// The history that archiver reports, compared with that of git for the same states.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct GitAgreementTests {
    private let work: Workplace
    private let history: GitHistory
    private var random: SeededGenerator

    /// Files that are edited, moved and removed; all lines are different, so that the changes are unambiguous.
    init() throws {
        work = try Workplace()
        history = try GitHistory(work, "tree")
        random = SeededGenerator("what archiver tells of a history is what git tells")
        var files: [String: [String]] = [:]
        var next = 0
        func lines(_ count: Int) -> [String] {
            defer { next += count }
            return (next..<(next + count)).map { "word\($0) and more" }
        }
        for number in 0..<5 {
            files["f\(number)"] = lines(20)
            try write("f\(number)", files["f\(number)"])
        }
        try history.commit()
        for step in 0..<40 {
            let name = try #require(files.keys.sorted().randomElement(using: &random))
            switch random.below(8) {
            case 0:
                // Moved unchanged, which both programs detect.
                let new = "d\(random.below(3))/f\(step)"
                files[new] = files.removeValue(forKey: name)
                try work.remove("tree/\(name)")
                try write(new, files[new])
            case 1 where files.count > 3:
                files[name] = nil
                try work.remove("tree/\(name)")
            case 2:
                files["f\(step)"] = lines(12)
                try write("f\(step)", files["f\(step)"])
            default:
                var text = files[name] ?? []
                let place = random.below(text.count - 3)
                let count = random.below(3)
                text.replaceSubrange(place..<(place + count), with: lines(1 + random.below(3)))
                files[name] = text
                try write(name, text)
            }
            try history.commit()
        }
    }

    private func write(_ name: String, _ lines: [String]?) throws {
        try work.write(name, (lines ?? []).map { $0 + "\n" }.joined())
    }

    private func run(_ words: String...) throws -> [String] {
        let outcome = try work.run(words.map { Array($0.utf8) }, in: work.root)
        #expect(outcome.status == 0, "\(words): \(outcome.errorText)")
        return outcome.lines
    }

    private var files: [String] {
        get throws { try history.git("ls-files", "f*", "d?/*").lines }
    }

    @Test("log names the versions that git log --follow names")
    func log() throws {
        for file in try files {
            let git = try history.git("log", "--follow", "--format=%H", "--", file).lines
            #expect(history.snapshots(try run("log", file)) == history.commits(git), "\(file)")
        }
    }

    @Test("blame agrees with git blame line by line")
    func blame() throws {
        for file in try files {
            let git = try history.git("blame", "--porcelain", file).lines
                .filter { $0.prefixMatch(of: /[0-9a-f]{40} \d+ \d+/) != nil }
            #expect(history.snapshots(try run("blame", file)) == history.commits(git), "\(file)")
        }
    }

    @Test("grep finds what git grep over all revisions finds")
    func grep() throws {
        var found: Set<String> = []
        for commit in history.commitIDs {
            for line in try history.git("grep", "-E", "word[0-9]*7 ", commit, "--", "f*", "d?/*").lines {
                let parts = line.split(separator: ":", maxSplits: 2).map(String.init)
                found.insert("\(parts[1]):\(parts[2])")
            }
        }
        let own = try run("grep", "word[0-9]*7 ").map { line in
            let cells = line.components(separatedBy: "\t")
            return "\(cells[0]):\(cells[6])"
        }
        #expect(!found.isEmpty && Set(own) == found)
    }
}
