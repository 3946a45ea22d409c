// `archiver grep`: compared with a naive search of all snapshots.

import FileIO
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct GrepTests {
    private func grep(_ work: Workplace, _ words: String...) throws -> ChildProcess.Outcome {
        try grep(work, words)
    }

    private func grep(_ work: Workplace, _ words: [String]) throws -> ChildProcess.Outcome {
        try work.run((["grep"] + words).map { Array($0.utf8) }, in: work.root)
    }

    /// A line's path and number, and the indices of its first snapshot and the first snapshot without it.
    private func found(_ outcome: ChildProcess.Outcome, _ ids: [String]) -> [String] {
        outcome.lines.map { line in
            let cells = line.components(separatedBy: "\t")
            let index = { (id: String) in ids.firstIndex { $0.hasPrefix(id) && !id.isEmpty }.map(String.init) ?? "-" }
            return ([cells[0], cells[1], index(cells[4]), index(cells[5])] + cells[6...]).joined(separator: " ")
        }
    }

    @Test("a line is found in any version, with the times when it appeared and disappeared")
    func versions() throws {
        let work = try Workplace()
        var ids = [try work.capture()]
        try work.write("notes/todo.txt", "zero\none\ntwo\n")
        ids.append(try work.capture())
        try work.write("notes/todo.txt", "zero\ntwo\nTHREE")
        ids.append(try work.capture())
        try work.remove("tree/notes")
        ids.append(try work.capture())
        try work.write("other", "one\none\n")
        ids.append(try work.capture())
        #expect(
            found(try grep(work, "^(one|three)$"), ids) == ["notes/todo.txt 2 0 2 one", "other 1 4 - one"])
        #expect(
            found(try grep(work, "-i", "^three$"), ids) == ["notes/todo.txt 3 2 3 THREE"])
        #expect(found(try grep(work, "two", "notes"), ids) == ["notes/todo.txt 2 0 3 two"])
        #expect(found(try grep(work, "one", "--at", "\(ids[1])"), ids) == ["notes/todo.txt 2 1 - one"])
        #expect(try grep(work, "-l", "o").lines == ["notes/todo.txt", "other"])
        #expect(try grep(work, "o", "--print0").output == Array("notes/todo.txt\0other\0".utf8))
        let json = try JSON.array(grep(work, "--json", "THREE").output)
        #expect(json.first?["goneIn"] as? String == ids[3] && json.first?["text"] as? String == "THREE")
    }

    @Test("-F searches for literal text; bad patterns and empty results are reported")
    func patterns() throws {
        let work = try Workplace()
        try work.write("odd", "a.b*[c]\nabbc\n\n\u{fc}\n")
        _ = try work.capture()
        #expect(try grep(work, "-F", "a.b*[c]").lines.count == 1)
        #expect(try grep(work, "a.b+c").lines.count == 1)
        #expect(try grep(work, "^$", "odd").lines.count == 1)
        #expect(try grep(work, "\u{fc}").lines.count == 1)
        let wrong = try grep(work, "(")
        #expect(wrong.status == 64 && wrong.errorText.contains("is not a pattern for lines"), "\(wrong.errorText)")
        let none = try grep(work, "nowhere")
        #expect(none.status == 1 && none.text.isEmpty && none.errorText == "No line matches.\n")
        // Only text files are searched.
        #expect(try grep(work, "\u{1}").status == 1)
    }

    @Test("random patterns find the lines that grep(1) finds", arguments: ["-E", "-F", "-i", "-w"])
    func randomPatterns(option: String) throws {
        let work = try Workplace()
        var random = SeededGenerator("random patterns for grep \(option)")
        func text(_ alphabet: String, _ length: Int) -> String {
            String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "a" })
        }
        try work.write("text", (0..<300).map { _ in text("ab_ .", random.below(9)) + "\n" }.joined())
        _ = try work.capture()
        /// An expression in which every second part may be missing or repeated.
        func expression() -> String {
            let parts = (0...random.below(4)).map { _ in text("aab_.", 1) + (random.oneIn(2) ? text("*?+", 1) : "") }
            return (random.oneIn(6) ? "^" : "") + parts.joined() + (random.oneIn(6) ? "$" : "")
        }
        for _ in 0..<30 {
            // Whole words are texts here: grep(1) also tries other matches of an expression.
            let isExpression = option == "-E" || option == "-i"
            let pattern = isExpression ? expression() : text("aab._+*? ", 1 + random.below(5))
            let flags = option == "-E" ? ["-E"] : option == "-i" ? ["-E", "-i"] : ["-F", option]
            let words = ["grep", "-n"] + flags + ["-e", pattern, "text"]
            let expected = try ChildProcess.run(words, directory: work.root)
            let options = flags.filter { $0 != "-E" } + ["--at", "latest", "--json"]
            let found = try JSON.array(grep(work, options + ["--", pattern, "text"]).output)
            let lines = found.map { "\($0["line"] as? Int ?? 0):\($0["text"] as? String ?? "")" }
            #expect(lines == expected.lines, "\(flags) '\(pattern)', TEST_SEED=\(random.seed)")
        }
    }

    @Test("grep finds the same lines as a search of every snapshot, after random edits")
    func agreement() throws {
        let work = try Workplace()
        var random = SeededGenerator("grep finds what a search of every snapshot finds")
        var ids: [String] = []
        // The snapshots that contain each path and line.
        var present: [String: [Int]] = [:]
        var files: [String: [String]] = [:]
        for step in 0..<25 {
            for _ in 0...random.below(3) {
                let name = "f\(random.below(4))"
                if random.oneIn(5), files[name] != nil {
                    files[name] = nil
                    try work.remove("tree/\(name)")
                    continue
                }
                files[name] = (0..<random.below(6)).map { _ in "line \(random.below(12))" }
                try work.write(name, (files[name] ?? []).joined(separator: "\n"))
            }
            // Ensures that something changes.
            try work.write("step", "\(step)\n")
            ids.append(try work.capture())
            for (name, lines) in files {
                for line in Set(lines) { present["\(name)\t\(line)", default: []].append(step) }
            }
        }
        let rows = try grep(work, "^line 1?[0-9]$").lines.map { $0.components(separatedBy: "\t") }
        let found = rows.filter { $0[0] != "# missing" }
        // The spans without a line, as the first snapshots without it and with it again, follow the line.
        var gaps: [[String]] = []
        for cells in rows {
            if cells[0] != "# missing" {
                let steps = try #require(present["\(cells[0])\t\(cells[6])"])
                let breaks = zip(steps, steps.dropFirst()).filter { $0 + 1 < $1 }
                #expect(gaps.isEmpty, "\(gaps)")
                gaps = breaks.map { [String(ids[$0 + 1].prefix(8)), String(ids[$1].prefix(8))] }
            } else {
                #expect(gaps.first == Array(cells[4...5]), "\(cells) \(gaps)")
                gaps = Array(gaps.dropFirst())
            }
        }
        #expect(gaps.isEmpty)
        #expect(Set(found.map { "\($0[0])\t\($0[6])" }) == Set(present.keys))
        for cells in found {
            let steps = try #require(present["\(cells[0])\t\(cells[6])"])
            #expect(ids[steps[0]].hasPrefix(cells[4]), "\(cells) \(steps)")
            let gone = steps[steps.count - 1] + 1
            #expect(gone < ids.count ? ids[gone].hasPrefix(cells[5]) : cells[5].isEmpty, "\(cells) \(steps)")
        }
    }

    @Test("lines of ten megabytes and files of many chunks are searched completely")
    func long() throws {
        let work = try Workplace()
        let long = String(repeating: "x", count: 10_000_000)
        try work.write("long", "a\n" + long + " needle\nb\nneedle at the end")
        _ = try work.capture()
        #expect(try grep(work, "-c", "needle").status == 64)
        let lines = try grep(work, "--json", "needle$|needle at")
        let numbers = try JSON.array(lines.output).compactMap { $0["line"] as? Int }
        #expect(numbers == [2, 4])
    }
}
