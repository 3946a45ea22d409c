// Several commands that are executed and undone as one.

import Mementos
import Testing

@Suite struct UndoGroupTests {
    private let numbers = Observable<[Int]>([])
    private let document = Document()

    @Test("a group is one step and one event") func oneStep() throws {
        let history = UndoHistory<Edit>(of: numbers)
        let log = Log<[Int]?>()
        let subscription = numbers.observe { log.add($0.new) }
        let sum = try history.group("Append three") { group in
            for number in 1...3 { try group.execute(.append(number)) }
            return group.state.reduce(0, +)
        }
        #expect(sum == 6)
        #expect(history.undoName.value == "Append three")
        #expect(try history.undo() == "Append three")
        #expect(try history.redo() == "Append three")
        #expect(log.items == [[1, 2, 3], [], [1, 2, 3]])
        withExtendedLifetime(subscription) {}
    }

    @Test("nested groups are undone with the outermost") func nested() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.group("Outer") { outer in
            try outer.execute(.append(1))
            try outer.group("Inner") { inner in
                try inner.execute(.append(2))
                try inner.group("Innermost") { try $0.execute(.remove(at: 0, removed: nil)) }
            }
            try outer.execute(.append(3))
        }
        #expect(numbers.value == [2, 3])
        #expect(try history.undo() == "Outer")
        #expect(numbers.value == [])
        #expect(!history.canUndo.value)
        try history.redo()
        #expect(numbers.value == [2, 3])
    }

    @Test("a group without commands leaves the history as it is") func empty() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        try history.undo()
        try history.group("Nothing") { _ in }
        #expect(!history.canUndo.value)
        #expect(history.redoName.value == "Append 1")
    }

    @Test("a group that fails leaves no changes") func failing() throws {
        struct SecondThoughts: Error {}
        let history = UndoHistory<Edit>(of: numbers)
        try history.execute(.append(1))
        let before = history.position
        let own = try #require(throws: CommandError.self) {
            try history.group("Group") { group in
                try group.execute(.append(2))
                throw SecondThoughts()
            }
        }
        #expect(own.name == "Group" && own.cause is SecondThoughts)
        let commands = try #require(throws: CommandError.self) {
            try history.group("Group") { group in
                try group.execute(.append(2))
                try group.execute(.fail(executing: true))
            }
        }
        #expect(commands.name == "Fail" && commands.cause is Edit.Refusal)
        #expect(numbers.value == [1])
        #expect(history.position == before)
    }

    @Test("a group may continue after a failure") func continuing() throws {
        let history = UndoHistory<Edit>(of: numbers)
        try history.group("Outer") { outer in
            try outer.execute(.append(1))
            #expect(throws: CommandError.self) { try outer.execute(.fail(executing: true)) }
            #expect(outer.state == [1])
            #expect(throws: CommandError.self) {
                try outer.group("Inner") { inner in
                    try inner.execute(.append(2))
                    try inner.execute(.fail(executing: true))
                }
            }
            #expect(outer.state == [1])
            try outer.execute(.append(3))
        }
        #expect(numbers.value == [1, 3])
        try history.undo()
        #expect(numbers.value == [])
    }

    // MARK: Objects, which only commands can roll back

    @Test("the commands of a failed group roll an object back") func objectInGroup() throws {
        let history = UndoHistory<Write>(of: Observable(document))
        let error = try #require(throws: CommandError.self) {
            try history.group("Group") { group in
                try group.execute(Write(word: "one "))
                try? group.group("Inner") { inner in
                    try inner.execute(Write(word: "two "))
                    try inner.execute(Write(word: "three ", failing: ["execute"]))
                }
                #expect(document.content == "one ")
                try group.execute(Write(word: "four "))
                try group.execute(Write(word: "five ", failing: ["execute"]))
            }
        }
        #expect(error.name == "Write five " && error.rollbackCause == nil)
        #expect(document.content == "")
        #expect(!history.canUndo.value)
    }

    @Test("an object is rolled back if undo fails midway") func objectInUndo() throws {
        let history = UndoHistory<Write>(of: Observable(document))
        try history.group("Group") { group in
            try group.execute(Write(word: "one ", failing: ["undo"]))
            try group.execute(Write(word: "two "))
            try group.execute(Write(word: "three "))
        }
        let error = try #require(throws: CommandError.self) { try history.undo() }
        #expect(error.action == .undo && error.rollbackCause == nil)
        #expect(document.content == "one two three ")
        #expect(history.undoName.value == "Group")
    }

    @Test("the error reports a failed rollback of an object") func failedRollback() throws {
        let history = UndoHistory<Write>(of: Observable(document))
        let error = try #require(throws: CommandError.self) {
            try history.group("Group") { group in
                try group.execute(Write(word: "one ", failing: ["undo"]))
                try group.execute(Write(word: "two ", failing: ["execute"]))
            }
        }
        #expect(error.cause is Edit.Refusal && error.rollbackCause is Edit.Refusal)
        #expect(error.description == "cannot execute 'Write two ': Refusal(); rolling back failed as well: Refusal()")
    }

    @Test("an object is rolled back if redo fails midway") func objectInRedo() throws {
        let words = Observable(document)
        let history = UndoHistory<WriteOnce>(of: words)
        try history.group("Group") { group in
            try group.execute(WriteOnce(word: "one ", limit: 2))
            try group.execute(WriteOnce(word: "two ", limit: 1))
        }
        try history.undo()
        let error = try #require(throws: CommandError.self) { try history.redo() }
        #expect(error.action == .redo && error.rollbackCause == nil)
        #expect(document.content == "")
        #expect(history.redoName.value == "Group")
    }
}

/// A command that fails after a number of executions.
private struct WriteOnce: Command {
    let word: String
    let limit: Int
    private var count = 0

    init(word: String, limit: Int) {
        self.word = word
        self.limit = limit
    }

    var name: String { "Write \(word)" }

    mutating func execute(on document: inout Document) throws {
        guard count < limit else { throw Edit.Refusal() }
        count += 1
        document.edit { $0 += word }
    }

    func undo(on document: inout Document) {
        document.edit { $0.removeLast(word.count) }
    }
}
