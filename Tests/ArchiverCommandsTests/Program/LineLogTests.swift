// `archiver log -L`: follows lines through the versions of a file.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct LineLogTests {
    private func log(_ work: Workplace, _ words: String...) throws -> ChildProcess.Outcome {
        try work.run((["log"] + words).map { Array($0.utf8) }, in: work.root)
    }

    /// Captures the lines as versions of `text`.
    private func versions(_ work: Workplace, _ texts: [String]) throws -> [String] {
        try texts.map { text in
            try work.write("text", text.split(separator: " ").map { "\($0)\n" }.joined())
            return try work.capture()
        }
    }

    /// The numbers of the listed versions.
    private func found(_ outcome: ChildProcess.Outcome, _ ids: [String]) -> [Int] {
        outcome.lines.compactMap { line in ids.firstIndex { $0.hasPrefix(line.prefix(8)) } }
    }

    @Test("log -L lists the versions that changed the lines, wherever the lines were then")
    func lines() throws {
        let work = try Workplace()
        let ids = try versions(
            work,
            [
                "a b c d e", "a b C d e", "x y a b C d e", "x y a b C d E", "x y a C d E", "x y a C d E z",
                "x Y a C d E z",
            ])
        // In "a C d" of the last version, C is from version 1; b between a and C was removed in version 4.
        #expect(found(try log(work, "text", "-L", "3,5"), ids) == [4, 1, 0])
        #expect(found(try log(work, "text", "-L", "4,4"), ids) == [1, 0])
        #expect(found(try log(work, "text", "-L", "7,7"), ids) == [5])
        #expect(found(try log(work, "text", "-L", "1,2"), ids) == [6, 2])
        #expect(found(try log(work, "text", "-L", "6,9"), ids) == [5, 3, 0])
        #expect(found(try log(work, "text", "-L", "3,5", "-n", "1"), ids) == [4])
        let patch = try log(work, "text", "-L", "6,6", "-p")
        #expect(patch.lines.contains("-e") && patch.lines.contains("+E"), "\(patch.text)")
        #expect(!patch.lines.contains("+Y") && !patch.lines.contains("+C"), "\(patch.text)")
    }

    @Test("log -L follows renames; paths without such lines are refused")
    func refused() throws {
        let work = try Workplace()
        var ids = try versions(work, ["a b c", "a B c"])
        _ = try ChildProcess.run(
            "mv", [work.path("tree/text").string, work.path("tree/moved").string].map { Array($0.utf8) })
        ids.append(try work.capture())
        #expect(found(try log(work, "moved", "-L", "2,2"), ids) == [1, 0])
        for (words, text) in [
            (["moved", "-L", "4,5"], "has only 3 lines"), (["moved", "-L", "x"], "is not a range of lines"),
            (["data.bin", "-L", "1,2"], "is not a text file"), (["notes", "-L", "1,2"], "is a directory"),
            (["nowhere", "-L", "1,2"], "ever held nowhere"),
        ] {
            let outcome = try work.run((["log"] + words).map { Array($0.utf8) }, in: work.root)
            #expect(outcome.status != 0 && outcome.errorText.contains(text), "\(words): \(outcome.errorText)")
        }
    }

    @Test("lines of ten megabytes are followed and blamed like others")
    func long() throws {
        let work = try Workplace()
        let long = String(repeating: "x", count: 10_000_000)
        let ids = try versions(work, ["a b", "a \(long) b"])
        #expect(found(try log(work, "text", "-L", "2,3"), ids) == [1, 0])
        let blamed = try work.run(["blame", "text"].map { Array($0.utf8) }, in: work.root)
        #expect(found(blamed, ids) == [0, 1, 0])
    }

    @Test("log -L lists the same versions as git log -L", arguments: isThorough ? 1...3 : 1...1)
    func agreement(run: Int) throws {
        let work = try Workplace()
        var random = SeededGenerator("log -L gives the versions that git log -L gives, \(run)")
        let history = try GitHistory(work, "tree")
        var lines = (0..<30).map { "line \($0)" }
        var next = lines.count
        for _ in 0..<25 {
            // All lines are different, so that the changes are unambiguous.
            let place = random.below(lines.count - 3)
            let count = random.below(3)
            let new = (0..<(count == 0 ? 1 : random.below(4))).map { "line \(next + $0)" }
            next += new.count
            lines.replaceSubrange(place..<(place + count), with: new)
            try work.write("text", lines.map { $0 + "\n" }.joined())
            try history.commit()
        }
        for _ in 0..<12 {
            let first = 1 + random.below(lines.count)
            let last = min(lines.count, first + random.below(6))
            let git = try history.git("log", "-L", "\(first),\(last):text", "--format=%H", "-s").lines
            let own = try log(work, "text", "-L", "\(first),\(last)").lines
            #expect(history.snapshots(own) == history.commits(git), "lines \(first) to \(last)")
        }
    }
}
