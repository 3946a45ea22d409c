// Registering twice, removing an object's registrations, and storing subscriptions.

import Mementos
import Testing

private struct Account: Sendable, Equatable {
    struct Address: Sendable, Equatable {
        var town = "Ulm"
        var street = "Weg"
        var mark = Mark()
    }
    /// Equatable, but not known to be so in generic code.
    struct Mark: Sendable, Equatable {}

    var name = "Ada"
    var address = Address()
}

@Suite("Registering")
struct RegisteringTests {
    @Test("an object that registers again replaces its earlier registration, with a subject and with an observable")
    func again() {
        let subject = Subject<Int>()
        let listener = Listener<String>()
        subject.subscribe(listener) { $0.log.add("former \($1)") }
        let other = subject.subscribe { listener.log.add("other \($0)") }
        subject.subscribe(listener) { $0.log.add("again \($1)") }
        subject.send(1)
        #expect(listener.log.items == ["other 1", "again 1"])
        listener.log.removeAll()
        subject.subscribe(listener, isAdditional: true) { $0.log.add("more \($1)") }
        subject.send(2)
        #expect(listener.log.items == ["other 2", "again 2", "more 2"])
        other.cancel()
    }

    @Test("an object is removed with all its registrations, for the value and for parts")
    func removing() {
        let account = Observable(Account())
        let (listener, other) = (Listener<String>(), Listener<String>())
        account.observe(listener) { listener, _ in listener.log.add("whole") }
        account.observe(listener, isAdditional: true) { listener, _ in listener.log.add("more") }
        account.observing(\.name).observe(listener) { listener, _ in listener.log.add("name") }
        account.observing(\.name).observe(other) { other, _ in other.log.add("other") }
        account.removeObserver(listener)
        account.removeObserver(listener)
        account.update { $0.name = "Eve" }
        #expect(listener.log.items.isEmpty)
        #expect(other.log.items == ["other"])
        account.removeObserver(other)
        #expect(!account.isObserved)
    }

    @Test("removing an object takes as many steps with 10,000 observers as with ten")
    func work() {
        let steps = [10, 10_000].map { count in
            let subject = Subject<Int>()
            let listeners = (0..<count).map { _ in Listener<Int>() }
            for listener in listeners { subject.subscribe(listener) { $0.log.add($1) } }
            let before = subject.steps
            subject.removeObserver(listeners[count / 2])
            subject.send(1)
            #expect(listeners.count { $0.log.items == [1] } == count - 1)
            return subject.steps - before
        }
        #expect(steps[0] == steps[1], "\(steps)")
    }

    @Test("subscriptions can be stored in sets and arrays, and end with them")
    func storing() {
        let subject = Subject<Int>()
        let log = Log<String>()
        var kept: Set<Subscription> = []
        var list: [Subscription] = []
        subject.subscribe { log.add("a\($0)") }.store(in: &kept)
        subject.subscribe { log.add("b\($0)") }.store(in: &list)
        subject.subscribe { log.add("c\($0)") }.store(in: &kept)
        #expect(kept.count == 2 && list.count == 1 && !kept.contains(list[0]))
        subject.send(1)
        kept.removeAll()
        subject.send(2)
        list.removeAll()
        subject.send(3)
        #expect(log.items == ["a1", "b1", "c1", "b2"])
    }

    @Test("a part of a part is the part at the longer path")
    func partOfPart() {
        let account = Observable(Account())
        let listener = Listener<String>()
        let town = account.observing(\.address).observing(\.town)
        #expect(town.value == "Ulm")
        account.observing(\.address.town).observe(listener) { $0.log.add("former \($1)") }
        town.observe(listener, [.old, .new]) { $0.log.add("\($1)") }
        account.update { $0.name = "Eve" }
        account.update { $0.address.street = "Gasse" }
        account.update { $0.address.town = "Bonn" }
        #expect(listener.log.items == ["Ulm → Bonn"])
    }

    @Test("a part that is not equatable changes with its enclosing part")
    func incomparablePart() {
        struct Box: Sendable, Equatable {
            var label = "a"
            let content: @Sendable () -> Int = { 1 }
            static func == (one: Box, other: Box) -> Bool { one.label == other.label }
        }
        struct Shelf: Sendable {
            var box = Box()
            var height = 1
        }
        let shelf = Observable(Shelf())
        let log = Log<Int>()
        let kept = shelf.observing(\.box).observing(\.content).observe { log.add($0.new?() ?? 0) }
        shelf.update { $0.height = 2 }
        #expect(log.items.isEmpty)
        shelf.update { $0.box.label = "b" }
        #expect(log.items == [1])
        kept.cancel()
    }

    @Test("a change prints the values that the observer asked for")
    func printing() {
        let value = Observable(5)
        let log = Log<String>()
        let kept = [[.initial, .old, .new], [.initial, .new], .old, .initial].map { (options: ObservationOptions) in
            value.observe(options) { log.add("\($0)") }
        }
        #expect(log.items == ["initially 5", "initially 5", "initially"])
        log.removeAll()
        value.set(6)
        #expect(log.items == ["5 → 6", "→ 6", "5 →", "→"])
        kept.forEach { $0.cancel() }
    }
}
