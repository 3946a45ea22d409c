// `archiver pick`: the list and its keys, and the program on a terminal.

import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverCommands

@Suite(.blocking)
struct PickTests {
    private func screen() -> PickScreen {
        PickScreen(title: "title", (0..<100).map { "moment \($0)\($0 % 10 == 3 ? " Three" : "")" })
    }

    @Test("keys move through the list, and letters narrow it")
    func keys() {
        var screen = screen()
        _ = screen.lines(rows: 23, columns: 40, .plain, preview: [])
        #expect(screen.current == 0)
        #expect(screen.press(.up) == nil && screen.current == 0)
        #expect(screen.press(.down) == nil && screen.current == 1)
        #expect(screen.press(.pageDown) == nil && screen.current == 11)
        #expect(screen.press(.end) == nil && screen.current == 99)
        #expect(screen.press(.home) == nil && screen.current == 0)
        for letter in ["t", "h", "r", " ", "4"] { #expect(screen.press(.text(letter)) == nil) }
        #expect(screen.current == 43)
        #expect(screen.press(.text("x")) == nil && screen.current == nil)
        #expect(screen.press(.enter) == nil)
        #expect(screen.press(.backspace) == nil && screen.current == 43)
        #expect(screen.press(.escape) == nil && screen.current == 43)
        #expect(screen.press(.enter) == .chosen(43))
        #expect(screen.press(.escape) == .givenUp)
    }

    @Test(
        "moments are read as the cursor approaches, as a filter needs them, and all of them after End")
    func pages() {
        let total = 60
        func texts(_ range: Range<Int>) -> [String] { range.map { "moment \($0)" } }
        var screen = PickScreen(title: "title", texts(0..<20), isWhole: false)
        _ = screen.lines(rows: 9, columns: 40, .plain, preview: [])
        var known = 20
        func read() {
            while screen.wantsMore {
                screen.add(texts(known..<known + 10), isWhole: known + 10 == total)
                known += 10
            }
        }
        read()
        #expect(known == 20)
        #expect(screen.lines(rows: 9, columns: 40, .plain, preview: [])[1].hasSuffix("20 of 20+"))
        for _ in 0..<16 { _ = screen.press(.down) }
        read()
        #expect(known == 30 && screen.current == 16)
        for letter in ["4", "3"] { _ = screen.press(.text(letter)) }
        #expect(screen.current == nil)
        #expect(screen.lines(rows: 9, columns: 40, .plain, preview: []).contains("  none yet; searching further back"))
        screen.add(texts(30..<50), isWhole: false)
        known = 50
        #expect(screen.current == 43 && screen.wantsMore, "there may be others")
        _ = screen.press(.escape)
        #expect(screen.current == 43 && !screen.wantsMore)
        _ = screen.press(.home)
        _ = screen.press(.end)
        #expect(screen.current == 49)
        read()
        #expect(known == total && screen.current == 59 && !screen.wantsMore)
        #expect(screen.press(.up) == nil && screen.current == 58)
    }

    @Test("the screen fits the terminal, however small")
    func size() {
        for (rows, columns) in [(24, 80), (10, 20), (4, 5), (200, 300)] {
            var screen = screen()
            for _ in 0..<30 { _ = screen.press(.down) }
            let preview = (0..<50).map { "+ line \($0) that is longer than a narrow terminal" }
            let lines = screen.lines(rows: rows, columns: columns, .plain, preview: preview)
            #expect(
                lines.count <= max(rows, 4) && lines.allSatisfy { DisplayWidth.of($0) <= max(columns, 20) }, "\(rows)")
            #expect(lines.contains { $0.hasPrefix("▸") })
        }
        var empty = PickScreen(title: "", [])
        #expect(empty.press(.down) == nil && empty.press(.enter) == nil)
        #expect(!empty.lines(rows: 24, columns: 80, .plain, preview: []).isEmpty)
    }

    @Test("on a terminal, the chosen version is printed; Escape prints nothing", .enabled(if: Workplace.hasTerminals))
    func terminal() throws {
        let work = try Workplace()
        let first = String(try work.capture().prefix(8))
        try work.write("notes/todo.txt", "one\nthree\n")
        _ = try work.capture()
        try work.write("keys", "\u{1B}[B\r")
        let words = ["pick", "notes/todo.txt", "--root", work.root.string, "--no-color"]
        let chosen = try work.startOnTerminal(words, keys: work.path("tree/keys")).finish()
        #expect(chosen.status == 0)
        #expect(chosen.text.hasSuffix("\(first):notes/todo.txt\r\n"), "\(chosen.text)")
        #expect(chosen.text.contains("+three") && chosen.text.contains("▸ \(first)"), "\(chosen.text)")
        try work.write("keys", "\u{1B}")
        let none = try work.startOnTerminal(words, keys: work.path("tree/keys")).finish()
        #expect(none.status == 130)
        let unknown = try work.run("pick", "nowhere", "--root", work.root.string)
        #expect(unknown.status == 1 && unknown.errorText.contains("nowhere"), "\(unknown.errorText)")
    }
}
