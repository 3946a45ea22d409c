// Unified diffs, checked with GNU patch.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TextDiff

@Suite(.blocking)
struct UnifiedDiffTests {
    /// Whether the program `patch` is available.
    private static let hasPatch = access("/usr/bin/patch", X_OK) == 0

    @Test("patch turns the old text into the new one", .enabled(if: hasPatch))
    func patch() throws {
        var random = SeededGenerator("patches")
        for _ in 0..<40 {
            let old = text(&random)
            let new = edited(old, &random)
            if old == new { continue }
            let directory = try TemporaryDirectory()
            try directory.write("file", old)
            let outcome = try apply(UnifiedDiff(path("file"), left: old, right: new), in: directory)
            #expect(outcome.status == 0, "seed \(random.seed): \(outcome.text)\(outcome.errorText)")
            // Fuzz and offsets mean that a hunk's numbers or context were wrong.
            #expect(outcome.text == "patching file file\n", "seed \(random.seed)")
            #expect(try directory.read("file") == new, "seed \(random.seed)")
        }
    }

    @Test(
        "patch finds files by their names", .enabled(if: hasPatch),
        arguments: ["with blank", "ünïcode", "back\\slash", "quo\"te", "line\nfeed", "a/b/c"])
    func names(name: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(name, "one\n")
        let diff = UnifiedDiff(path(name), left: Array("one\n".utf8), right: Array("two\n".utf8))
        let outcome = try apply(diff, in: directory)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
        #expect(try directory.read(name) == Array("two\n".utf8))
    }

    @Test("patch creates and removes files", .enabled(if: hasPatch))
    func wholeFiles() throws {
        let directory = try TemporaryDirectory()
        let text = Array("one\ntwo".utf8)
        #expect(try apply(UnifiedDiff(path("new"), left: nil, right: text), in: directory).status == 0)
        #expect(try directory.read("new") == text)
        #expect(try apply(UnifiedDiff(path("new"), left: text, right: nil), in: directory).status == 0)
        #expect(throws: FileError.self) { try directory.read("new") }
    }

    @Test("the format matches the manual")
    func form() {
        let old = Array("a\nb\nc\nd\ne\nf\ng\nh\n".utf8)
        let new = Array("a\nb\nc\nD\ne\nf\ng\nh".utf8)
        let lines = UnifiedDiff(path("x"), left: old, right: new).lines
        let texts = lines.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(
            texts == [
                "--- a/x", "+++ b/x", "@@ -1,8 +1,8 @@", " a", " b", " c", "-d", "+D", " e", " f", " g", "-h", "+h",
                "\\ No newline at end of file",
            ])
    }

    @Test("equal texts have an empty diff")
    func same() {
        #expect(UnifiedDiff(path("x"), left: Array("a".utf8), right: Array("a".utf8)).lines.isEmpty)
        #expect(UnifiedDiff(path("x"), left: nil, right: []).lines.isEmpty)
    }

    private func path(_ name: String) -> RelativePath { RelativePath(unchecked: Array(name.utf8)) }

    private func apply(_ diff: UnifiedDiff, in directory: TemporaryDirectory) throws -> ChildProcess.Outcome {
        let input = try TemporaryDirectory()
        let patch = try input.write("patch", diff.lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] })
        return try ChildProcess.run(
            "patch", [Array("-p1".utf8)], directory: directory.path, input: patch)
    }

    /// Lines of few words, sometimes without a final line feed.
    private func text(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = [UInt8]()
        for _ in 0..<Int.random(in: 1...60, using: &random) { bytes += line(&random) }
        if Bool.random(using: &random) { bytes.removeLast() }
        return bytes
    }

    private func line(_ random: inout SeededGenerator) -> [UInt8] {
        // Among them are lines that look like parts of a patch, and bytes that are not UTF-8.
        let lines = ["", "a", "b", "}", "-- x", "++ y", "@@ -1 +1 @@", "\\ No newline", "long line of words", "\t"]
        let line = Array(lines[Int.random(in: 0..<lines.count, using: &random)].utf8)
        return line + (Int.random(in: 0..<10, using: &random) == 0 ? [0xFF, 0x0A] : [0x0A])
    }

    private func edited(_ text: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) + [0x0A] }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let index = Int.random(in: 0..<max(1, lines.count), using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: lines.insert(line(&random), at: min(index, lines.count))
            case 1 where lines.count > 1: lines.remove(at: index)
            default: lines[min(index, lines.count - 1)] = line(&random)
            }
        }
        var bytes = lines.flatMap { $0 }
        if Bool.random(using: &random), bytes.count > 1 { bytes.removeLast() }
        return bytes
    }
}
