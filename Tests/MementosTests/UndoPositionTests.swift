// Histories that continue from a stored position.

import Foundation
import Mementos
import Testing

@Suite struct UndoPositionTests {
    private func stored(_ position: UndoPosition<Edit>) throws -> UndoPosition<Edit> {
        try JSONDecoder().decode(UndoPosition<Edit>.self, from: JSONEncoder().encode(position))
    }

    @Test("a stored position is restored") func restart() throws {
        let first = UndoHistory<Edit>(of: Observable([]))
        for number in 1...3 { try first.execute(.append(number)) }
        try first.group("Remove two") { group in
            try group.execute(.remove(at: 0, removed: nil))
            try group.execute(.remove(at: 1, removed: nil))
        }
        try first.execute(.append(4))
        try first.undo()
        let (state, position) = first.snapshot()
        #expect(state == [2])

        let second = UndoHistory<Edit>(of: Observable(state), position: try stored(position))
        #expect(second.position == position)
        #expect(second.undoName.value == "Remove two" && second.redoName.value == "Append 4")
        try second.undo()
        #expect(second.state.value == [1, 2, 3])
        try second.redo()
        try second.redo()
        #expect(second.state.value == [2, 4])
        while try second.undo() != nil {}
        #expect(second.state.value == [])
    }

    @Test("a position is cut to the depth") func cut() throws {
        let first = UndoHistory<Edit>(of: Observable([]))
        for number in 1...6 { try first.execute(.append(number)) }
        for _ in 0..<3 { try first.undo() }
        let (state, position) = first.snapshot()
        let second = UndoHistory<Edit>(of: Observable(state), position: position, depth: 2)
        #expect(second.position.done.map(\.name) == ["Append 2", "Append 3"])
        #expect(second.position.undone.map(\.name) == ["Append 5", "Append 4"])
        while try second.redo() != nil {}
        #expect(second.state.value == [1, 2, 3, 4, 5])
        second.restore(state, position: position)
        #expect(second.position.done.map(\.name) == ["Append 2", "Append 3"])
        #expect(second.position.undone.map(\.name) == ["Append 5", "Append 4"])
    }

    @Test("a history in use can be restored") func restore() throws {
        let numbers = Observable<[Int]>([])
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        let (state, position) = history.snapshot()
        try history.execute(.append(2))
        try history.undo()
        try history.undo()
        let log = Log<String>()
        let subscriptions = [
            numbers.observe { log.add("\($0.new ?? [])") }, history.canUndo.observe { log.add("\($0.new ?? false)") },
        ]
        history.restore(state, position: position)
        #expect(log.items == ["[1]", "true"])
        #expect(history.position == position)
        #expect(!history.canRedo.value)
        history.restore([7])
        #expect(numbers.value == [7])
        #expect(try history.undo() == nil)
        withExtendedLifetime(subscriptions) {}
    }

    @Test("decoding an invalid position throws") func unreadable() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(UndoPosition<Edit>.self, from: Data(#"{"done":[{"name":"a"}],"undone":[]}"#.utf8))
        }
    }
}
