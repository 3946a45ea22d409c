// The guarantees of UndoHistory: executing, undoing, redoing, failing, notifying.

import Dispatch
import Mementos
import TestSupport
import Testing

@Suite struct UndoHistoryTests {
    private let numbers = Observable<[Int]>([])

    @Test("undone commands can be redone") func redo() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        try history.execute(.append(2))
        try history.execute(.remove(at: 0, removed: nil))
        #expect(numbers.value == [2])
        #expect(try history.undo() == "Remove at 0")
        #expect(numbers.value == [1, 2])
        #expect(try history.undo() == "Append 2")
        #expect(try history.undo() == "Append 1")
        #expect(numbers.value == [])
        #expect(try history.undo() == nil)
        #expect(try history.redo() == "Append 1")
        #expect(try history.redo() == "Append 2")
        #expect(try history.redo() == "Remove at 0")
        #expect(numbers.value == [2])
        #expect(try history.redo() == nil)
    }

    @Test("a new command discards the redo steps") func newCommand() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        try history.undo()
        #expect(history.redoName.value == "Append 1")
        try history.execute(.append(2))
        #expect(!history.canRedo.value)
        #expect(try history.redo() == nil)
        #expect(numbers.value == [2])
    }

    @Test("steps beyond the depth are forgotten", arguments: [0, 1, 3, -1]) func depth(depth: Int) throws {
        let history = UndoHistory<Edit>(of: numbers, depth: depth)
        for number in 1...5 { try history.execute(.append(number)) }
        var undone: [String] = []
        while let name = try history.undo() { undone.append(name) }
        #expect(undone == (0..<max(0, depth)).map { "Append \(5 - $0)" })
        #expect(numbers.value == Array(1...5).dropLast(max(0, depth)))
    }

    // MARK: Failures

    @Test("a command that fails leaves the state and the history as they were") func failingCommand() throws {
        let history = UndoHistory<Edit>(of: numbers)
        let log = Log<[Int]?>()
        try history.execute(.append(1))
        try history.execute(.append(2))
        try history.undo()
        let before = history.position
        let subscription = numbers.observe { log.add($0.new) }
        let error = try #require(throws: CommandError.self) { try history.execute(.fail(executing: true)) }
        #expect(error.action == .execute && error.name == "Fail" && error.cause is Edit.Refusal)
        #expect(error.rollbackCause == nil)
        #expect(error.description == "cannot execute 'Fail': Refusal()")
        #expect(numbers.value == [1])
        #expect(history.position == before)
        #expect(history.redoName.value == "Append 2")
        #expect(log.items.isEmpty)
        withExtendedLifetime(subscription) {}
    }

    @Test("an undo that fails leaves the state and the history as they were") func failingUndo() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        try history.group("Group") { group in
            try group.execute(.append(2))
            try group.execute(.fail(executing: false))
            try group.execute(.remove(at: 0, removed: nil))
        }
        let before = history.position
        let error = try #require(throws: CommandError.self) { try history.undo() }
        #expect(error.action == .undo && error.name == "Group" && error.cause is Edit.Refusal)
        #expect(error.rollbackCause == nil, "a list that has been spoilt must not meet any more commands")
        #expect(numbers.value == [2])
        #expect(history.position == before)
        #expect(history.undoName.value == "Group")
    }

    @Test("a redo that fails leaves the state and the history as they were") func failingRedo() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        try history.execute(.remove(at: 0, removed: nil))
        try history.undo()
        numbers.set([])
        let before = history.position
        let error = try #require(throws: CommandError.self) { try history.redo() }
        #expect(error.action == .redo && error.name == "Remove at 0")
        #expect(numbers.value == [])
        #expect(history.position == before)
    }

    // MARK: Notifying

    @Test("observers get every change of the status") func status() throws {
        let history = UndoHistory<Edit>(of: numbers)
        let log = Log<String>()
        let subscriptions = [
            history.canUndo.observe { log.add("canUndo \($0.new ?? false)") },
            history.canRedo.observe { log.add("canRedo \($0.new ?? false)") },
            history.undoName.observe { log.add("undo \(($0.new ?? nil) ?? "-")") },
            history.redoName.observe { log.add("redo \(($0.new ?? nil) ?? "-")") },
            numbers.observe { log.add("\($0.new ?? [])") },
        ]
        let steps: [(step: () throws -> Void, reported: [String])] = [
            ({ try history.execute(.append(1)) }, ["[1]", "canUndo true", "undo Append 1"]),
            ({ try history.execute(.append(2)) }, ["[1, 2]", "undo Append 2"]),
            ({ try history.undo() }, ["[1]", "canRedo true", "undo Append 1", "redo Append 2"]),
            ({ try history.undo() }, ["[]", "canUndo false", "undo -", "redo Append 1"]),
            ({ try history.undo() }, []),
            ({ try history.redo() }, ["[1]", "canUndo true", "undo Append 1", "redo Append 2"]),
            ({ try history.execute(.append(3)) }, ["[1, 3]", "canRedo false", "undo Append 3", "redo -"]),
            ({ try? history.execute(.fail(executing: true)) }, []),
        ]
        for (step, reported) in steps {
            log.removeAll()
            try step()
            #expect(log.items == reported)
        }
        #expect(history.status.value.undoName == "Append 3" && history.status.value.changeCount == 6)
        withExtendedLifetime(subscriptions) {}
    }

    @Test("observers may use the history") func observers() throws {
        let history = UndoHistory<Edit>(of: numbers)
        let subscription = numbers.observe { change in
            if change.new == [1] { #expect(throws: Never.self) { try history.undo() } }
        }
        try history.execute(.append(1))
        #expect(numbers.value == [])
        #expect(history.canRedo.value)
        withExtendedLifetime(subscription) {}
    }

    @Test("a forgotten command may use the history when it is deallocated") func forgotten() throws {
        let text = Observable("")
        let history = UndoHistory<AnyCommand<String>>(of: text, depth: 1)
        let log = Log<String?>()
        func executeOwning(_ owned: Listener<Int>) throws {
            try history.execute("Own", { _ in withExtendedLifetime(owned) {} }, undo: { _ in })
        }
        try executeOwning(Listener { log.add(history.undoName.value) })
        try history.execute("Add", { $0 += "a" }, undo: { $0.removeLast() })
        #expect(log.items == ["Add"])
    }

    // MARK: Kinds of commands and states

    @Test("closures and commands of any kind share a history") func anyCommands() throws {
        let history = UndoHistory<AnyCommand<[Int]>>(of: numbers)
        try history.execute("Append 1", { $0.append(1) }, undo: { $0.removeLast() })
        try history.execute(Edit.append(2))
        try history.execute(Edit.remove(at: 0, removed: nil))
        #expect(numbers.value == [2])
        #expect(try history.undo() == "Remove at 0")
        #expect(try history.undo() == "Append 2")
        #expect(try history.undo() == "Append 1")
        #expect(numbers.value == [])
        while try history.redo() != nil {}
        #expect(numbers.value == [2])
    }

    @Test("the state may be an object") func object() throws {
        let document = Document()
        let history = UndoHistory<Write>(of: Observable(document))
        try history.execute(Write(word: "one "))
        try history.execute(Write(word: "two"))
        #expect(document.content == "one two")
        try history.undo()
        #expect(document.content == "one ")
        #expect(throws: CommandError.self) { try history.execute(Write(word: "three", failing: ["execute"])) }
        #expect(document.content == "one ")
        try history.redo()
        #expect(document.content == "one two")
    }

    /// For example, a command that exchanges two values.
    @Test("a command keeps the data that it stores when it is undone") func storingInUndo() throws {
        struct Exchange: Command {
            var other: [Int]
            var name: String { "Exchange" }
            mutating func execute(on numbers: inout [Int]) { swap(&numbers, &other) }
            mutating func undo(on numbers: inout [Int]) { swap(&numbers, &other) }
        }
        let history = UndoHistory<Exchange>(of: numbers)
        try history.execute(Exchange(other: [1]))
        for _ in 0..<2 {
            #expect(numbers.value == [1])
            try history.undo()
            #expect(numbers.value == [])
            try history.redo()
        }
    }

    // MARK: Threads and random steps

    /// Each command knows its place only because commands run one at a time.
    @Test("commands of many threads enter the history in the order of their effects") func manyThreads() throws {
        let history = UndoHistory<Edit>(of: numbers, depth: .max)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<200 {
                #expect(throws: Never.self) {
                    try history.execute(.append(thread * 1000 + number))
                    if number % 5 == 0 { try history.undo() }
                    if number % 10 == 0 { try history.redo() }
                    let (state, position) = history.snapshot()
                    #expect(state == appended(position.done))
                }
            }
        }
        #expect(numbers.value == appended(history.position.done))
        while try history.undo() != nil {}
        #expect(numbers.value.isEmpty)
    }

    private func appended(_ steps: [UndoStep<Edit>]) -> [Int] {
        steps.flatMap(\.commands).compactMap { if case .append(let number) = $0 { number } else { nil } }
    }

    /// The model holds all states, and undo and redo move between them.
    @Test("random steps agree with a model that holds all states") func random() throws {
        var random = SeededGenerator("history against its model")
        for _ in 0..<20 {
            let numbers = Observable<[Int]>([])
            let depth = random.below(12)
            let history = UndoHistory<Edit>(of: numbers, depth: depth)
            var states: [[Int]] = [[]]
            var present = 0
            for number in 0..<200 {
                switch random.below(8) {
                case 0, 1, 2, 3:
                    let isDone = executeAnything(number, on: history, &random)
                    guard isDone else { break }
                    states = Array((states.prefix(present + 1) + [numbers.value]).suffix(depth + 1))
                    present = states.count - 1
                case 4, 5, 6:
                    #expect((try history.undo() != nil) == (present > 0))
                    present = max(0, present - 1)
                default:
                    #expect((try history.redo() != nil) == (present < states.count - 1))
                    present = min(states.count - 1, present + 1)
                }
                try #require(numbers.value == states[present], "TEST_SEED=\(random.seed)")
                #expect(history.canUndo.value == (present > 0))
                #expect(history.canRedo.value == (present < states.count - 1))
            }
        }
    }

    /// Executes a command or a group with nested groups; some of them fail.
    private func executeAnything(
        _ number: Int, on history: UndoHistory<Edit>, _ random: inout SeededGenerator
    ) -> Bool {
        let edits = (0...random.below(4)).map { anyEdit(number * 10 + $0, &random) }
        do {
            if edits.count == 1 {
                try history.execute(edits[0])
            } else {
                try history.group("Group") { group in
                    try group.execute(.append(number))
                    try? group.group("Inner") { inner in for edit in edits { try inner.execute(edit) } }
                    if random.oneIn(3) { try group.execute(.fail(executing: true)) }
                }
            }
            return true
        } catch {
            return false
        }
    }

    private func anyEdit(_ number: Int, _ random: inout SeededGenerator) -> Edit {
        switch random.below(6) {
        case 0: .fail(executing: true)
        case 1, 2: .remove(at: random.below(6), removed: nil)
        default: .append(number)
        }
    }
}
