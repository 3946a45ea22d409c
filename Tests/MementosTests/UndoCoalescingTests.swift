// Commands that coalesce into one step, and clearing a history.

import Mementos
import Testing

/// Types letters; the letters of one word are undone as one.
private struct Typing: Command, Codable, Equatable {
    var text: String
    var name: String { "Type \(text)" }

    func execute(on state: inout String) throws {
        struct Refused: Error {}
        if text == "!" { throw Refused() }
        state += text
    }

    func undo(on state: inout String) { state.removeLast(text.count) }

    func coalesced(with next: Typing) -> Typing? {
        text.hasSuffix(" ") ? nil : Typing(text: text + next.text)
    }
}

@Suite("Coalescing and clearing")
struct UndoCoalescingTests {
    private let history = UndoHistory<Typing>(of: Observable(""))
    private var names: [String] { history.position.done.map(\.name) }

    private func type(_ text: String) throws {
        for letter in text { try history.execute(Typing(text: String(letter))) }
    }

    @Test("commands that coalesce are undone and redone as one")
    func words() throws {
        try type("so be it")
        #expect(names == ["Type so ", "Type be ", "Type it"])
        #expect(history.undoName.value == "Type it")
        try history.undo()
        try history.undo()
        #expect(history.state.value == "so ")
        try history.redo()
        #expect(history.state.value == "so be ")
    }

    @Test("undo, redo, groups and the end of a step separate commands; a failing command does not")
    func separating() throws {
        try type("ab")
        try history.undo()
        try history.redo()
        try type("cd")
        #expect(names == ["Type ab", "Type cd"])
        history.endStep()
        try type("ef")
        try history.group("Group") { group in try group.execute(Typing(text: "g")) }
        try type("h")
        #expect(throws: CommandError.self) { try type("!") }
        try type("i")
        #expect(names == ["Type ab", "Type cd", "Type ef", "Group", "Type hi"])
        while try history.undo() != nil {}
        #expect(history.state.value == "")
    }

    @Test("a history continued after a restart begins a new step")
    func restart() throws {
        try type("ab")
        let (text, position) = history.snapshot()
        let next = UndoHistory<Typing>(of: Observable(text), position: position)
        try next.execute(Typing(text: "c"))
        #expect(next.position.done.map(\.name) == ["Type ab", "Type c"])
    }

    @Test("commands of one kind coalesce in a history of any commands")
    func anyCommands() throws {
        let history = UndoHistory<AnyCommand<String>>(of: Observable(""))
        try history.execute(Typing(text: "a"))
        try history.execute(Typing(text: "b"))
        try history.execute("Add", { $0 += "c" }, undo: { $0.removeLast() })
        try history.execute("Add", { $0 += "d" }, undo: { $0.removeLast() })
        try history.execute(Typing(text: "e"))
        #expect(history.position.done.map(\.name) == ["Type ab", "Add", "Add", "Type e"])
    }

    @Test("clearing forgets all steps, and leaves the state as it is")
    func clearing() throws {
        let log = Log<String>()
        let kept = history.undoName.observe { log.add(($0.new ?? nil) ?? "nothing") }
        try type("so be")
        try history.undo()
        history.clear()
        #expect(history.state.value == "so ")
        #expect(!history.canUndo.value && !history.canRedo.value)
        #expect(log.items.last == "nothing")
        #expect(try history.undo() == nil)
        try type("it")
        #expect(names == ["Type it"])
        kept.cancel()
    }
}
