// Using an observable or a history from within its own change.

import Mementos
import Testing
import Threading

/// A command that uses its own history.
private struct Meddle: Command {
    let holder: Holder
    let action: @Sendable (UndoHistory<Meddle>) throws -> Void
    var name: String { "Meddle" }

    func execute(on state: inout Int) throws {
        state += 1
        if let history = holder.history { try action(history) }
    }

    func undo(on state: inout Int) throws { state -= 1 }
}

/// Gives commands access to their history.
private final class Holder: Sendable {
    private let held = Locked<UndoHistory<Meddle>?>(nil)

    var history: UndoHistory<Meddle>? { held.withLock { $0 } }
    func hold(_ history: UndoHistory<Meddle>) { held.withLock { $0 = history } }
}

@Suite("Reentrant changes")
struct ReentrancyTests {
    @Test("a value read within its own update is the old one")
    func reading() async {
        await #expect(processExitsWith: .success) {
            let value = Observable(1)
            let seen = value.update { new in
                new = 2
                return value.value
            }
            precondition(seen == 1 && value.value == 2)
        }
    }

    @Test("an observer that registers within an update gets the old value, and then the change")
    func registering() async {
        await #expect(processExitsWith: .success) {
            let value = Observable(1)
            let log = Log<Int>()
            let keeper = Keeper()
            value.update { new in
                new = 2
                keeper.keep(value.observe([.initial, .new]) { log.add($0.new ?? 0) })
            }
            precondition(log.items == [1, 2])
        }
    }

    @Test("an update within an update of the same value prints an error and ends the program")
    func nesting() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let value = Observable(1)
            value.update { _ in value.set(3) }
        }
        let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(words.contains("an observable was changed within its own update"), "\(words.prefix(300))")
    }

    @Test("handlers of a value, a subject and a history may change all of them")
    func handlers() throws {
        let subject = Subject<Int>()
        let value = Observable(0)
        let history = UndoHistory<Edit>(of: Observable([]))
        let sent = subject.subscribe { number in value.set(number) }
        let changed = value.observe { change in try? history.execute(.append(change.new ?? 0)) }
        let log = Log<[Int]>()
        let done = history.state.observe { change in
            log.add(change.new ?? [])
            if let last = change.new?.last, last < 3 { subject.send(last + 1) }
        }
        subject.send(1)
        #expect(log.items == [[1], [1, 2], [1, 2, 3]])
        for subscription in [sent, changed, done] { subscription.cancel() }
    }

    @Test("a command that uses its own history fails with an error, and everything is as before")
    func commands() async {
        await #expect(processExitsWith: .success) {
            let actions: [@Sendable (UndoHistory<Meddle>, Holder) throws -> Void] = [
                { history, holder in try history.execute(Meddle(holder: holder) { _ in }) },
                { history, _ in try history.undo() }, { history, _ in try history.redo() },
                { history, _ in try history.group("Group") { _ in } },
            ]
            for action in actions {
                let holder = Holder()
                let history = UndoHistory<Meddle>(of: Observable(5))
                try history.execute(Meddle(holder: holder) { _ in })
                holder.hold(history)
                let error = #expect(throws: CommandError.self) {
                    try history.execute(Meddle(holder: holder) { try action($0, holder) })
                }
                precondition(error?.name == "Meddle" && "\(error as Any)".contains("history"), "\(error as Any)")
                precondition(history.state.value == 6 && history.position.done.count == 1)
                try history.undo()
                precondition(history.state.value == 5)
            }
        }
    }

    @Test("a command may read its own history, and sees it as it was before")
    func looking() async {
        await #expect(processExitsWith: .success) {
            let holder = Holder()
            let log = Log<String>()
            let history = UndoHistory<Meddle>(of: Observable(5))
            holder.hold(history)
            try history.execute(
                Meddle(holder: holder) { history in
                    let (state, position) = history.snapshot()
                    log.add("\(history.state.value) \(state) \(history.position.done.count) \(position.done.count)")
                })
            precondition(log.items == ["5 5 0 0"] && history.state.value == 6)
        }
    }
}
