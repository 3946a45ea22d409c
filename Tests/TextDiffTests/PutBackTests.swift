// Single hunks of an older text, put back into a text that has changed since.

import Testing

@testable import TextDiff

@Suite struct PutBackTests {
    private static func text(_ lines: [String]) -> TextLines {
        TextLines(Array((lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n")).utf8))
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n")).utf8)
    }

    private static let filler = (1...20).map { "line \($0)" }
    private static let older = filler + ["the storm", "broke"] + filler.reversed() + ["the end"]
    private static let newer = filler + filler.reversed() + ["an end"]

    @Test("a removed paragraph returns to its place, and other changes of that time and later ones stay")
    func putsBackParagraph() {
        let hunks = PutBack(older: PutBackTests.text(PutBackTests.older), newer: PutBackTests.text(PutBackTests.newer))
        #expect(hunks.hunkCount == 2)
        let present = ["a title"] + PutBackTests.newer + ["a postscript"]
        let wanted =
            ["a title"] + PutBackTests.filler + ["the storm", "broke"] + PutBackTests.filler.reversed()
            + ["an end", "a postscript"]
        #expect(hunks.apply([0], to: PutBackTests.text(present)) == .text(PutBackTests.bytes(wanted)))
    }

    @Test("both hunks restore the older text, once")
    func putsBackAll() {
        let hunks = PutBack(older: PutBackTests.text(PutBackTests.older), newer: PutBackTests.text(PutBackTests.newer))
        let older = PutBackTests.bytes(PutBackTests.older)
        #expect(hunks.apply([0, 1], to: PutBackTests.text(PutBackTests.newer)) == .text(older))
        #expect(hunks.apply([0, 1], to: TextLines(older)) == .isThere)
        #expect(hunks.apply([7], to: TextLines(older)) == .isThere)
    }

    @Test("lines that have changed since are not overwritten")
    func leavesChangedLines() {
        let hunks = PutBack(older: PutBackTests.text(PutBackTests.older), newer: PutBackTests.text(PutBackTests.newer))
        let other = PutBackTests.newer.dropLast() + ["another end"]
        #expect(hunks.apply([1], to: PutBackTests.text(Array(other))) == .hasChanged)
        #expect(hunks.apply([0], to: PutBackTests.text(["something", "else"])) == .hasChanged)
    }

    @Test("a last line without a line feed keeps its form")
    func keepsEnd() {
        let (older, newer) = (TextLines(Array("a\nb".utf8)), TextLines(Array("a\n".utf8)))
        #expect(PutBack(older: older, newer: newer).apply([0], to: newer) == .text(Array("a\nb".utf8)))
        #expect(PutBack(older: newer, newer: older).apply([0], to: older) == .text(Array("a\n".utf8)))
        #expect(PutBack(older: newer, newer: TextLines([])).apply([0], to: TextLines([])) == .text(Array("a\n".utf8)))
    }
}
