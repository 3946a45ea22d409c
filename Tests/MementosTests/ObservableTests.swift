// The guarantees of Observable: options, order, registration, atomic changes.

import Dispatch
import Mementos
import Testing

/// A change as an observer got it, in a comparable form.
struct ReportedChange: Equatable, CustomStringConvertible {
    var old: Int?
    var new: Int?
    var isInitial = false

    var description: String {
        "\(isInitial ? "initial " : "")\(old.map(String.init) ?? "-")→\(new.map(String.init) ?? "-")"
    }
}

extension ReportedChange {
    init(_ change: Change<Int>) {
        self.init(old: change.old, new: change.new, isInitial: change.isInitial)
    }
}

private struct OptionsCase: CustomTestStringConvertible {
    let options: ObservationOptions
    let reported: String
    var testDescription: String { reported }
}

/// A value that is not equatable.
private struct Opaque: Sendable {
    var number: Int
}

@Suite struct ObservableTests {
    private static let cases: [OptionsCase] = [
        .init(options: [], reported: "-→- -→-"),
        .init(options: .new, reported: "-→2 -→3"),
        .init(options: .old, reported: "1→- 2→-"),
        .init(options: [.old, .new], reported: "1→2 2→3"),
        .init(options: .initial, reported: "initial -→- -→- -→-"),
        .init(options: [.initial, .new], reported: "initial -→1 -→2 -→3"),
        .init(options: [.initial, .old], reported: "initial -→- 1→- 2→-"),
        .init(options: [.initial, .old, .new], reported: "initial -→1 1→2 2→3"),
    ]

    @Test("a change has the value after it, whatever the observer asked for")
    func value() {
        let number = Observable(1)
        let log = Log<Int>()
        let kept = number.observe([.initial, .old]) { log.add($0.value) }
        number.update { $0 = 2 }
        #expect(log.items == [1, 2])
        withExtendedLifetime(kept) {}
    }

    @Test("events contain what the options ask for", arguments: cases) fileprivate func options(_ test: OptionsCase) {
        let (log, weakLog, partLog, weakPartLog) = (
            Log<ReportedChange>(), Log<ReportedChange>(), Log<ReportedChange>(), Log<ReportedChange>()
        )
        let value = Observable(1)
        let listener = Listener(weakLog)
        let partListener = Listener(weakPartLog)
        let whole = value.observe(test.options) { log.add(ReportedChange($0)) }
        let part = value.observing(\.self).observe(test.options) { partLog.add(ReportedChange($0)) }
        value.observe(listener, test.options) { $0.log.add(ReportedChange($1)) }
        value.observing(\.self).observe(partListener, test.options) { $0.log.add(ReportedChange($1)) }
        value.set(2)
        value.update { $0 += 1 }
        for log in [log, weakLog, partLog, weakPartLog] {
            #expect(log.items.map(\.description).joined(separator: " ") == test.reported)
        }
        withExtendedLifetime((whole, part, listener, partListener)) {}
    }

    @Test("setting an equal value is not a change") func equalValue() {
        let value = Observable([1, 2])
        let log = Log<[Int]?>()
        let subscription = value.observe { log.add($0.new) }
        value.set([1, 2])
        value.update { $0.sort() }
        #expect(log.items.isEmpty)
        value.update { $0.append(3) }
        #expect(log.items == [[1, 2, 3]])
        withExtendedLifetime(subscription) {}
    }

    @Test("setting a value that is not equatable is always a change") func notEquatable() {
        let value = Observable(Opaque(number: 1))
        let log = Log<Int?>()
        let subscription = value.observe { log.add($0.new?.number) }
        value.set(Opaque(number: 1))
        #expect(log.items == [1])
        withExtendedLifetime(subscription) {}
    }

    @Test("an optional value can become nil") func optional() {
        let value = Observable<Int?>(1)
        let log = Log<Int??>()
        let subscription = value.observe([.initial, .new]) { log.add($0.new) }
        value.set(nil)
        value.set(nil)
        value.set(2)
        #expect(log.items == [.some(1), .some(nil), .some(2)])
        withExtendedLifetime(subscription) {}
    }

    @Test("update returns the result of its closure") func result() {
        final class Box {
            let number: Int
            init(_ number: Int) { self.number = number }
        }
        let value = Observable([1, 2])
        let box = value.update { Box($0.removeLast()) }
        #expect(box.number == 2)
        #expect(value.value == [1])
    }

    @Test("an update that throws changes nothing") func throwing() {
        struct Refusal: Error {}
        let value = Observable([1])
        let log = Log<[Int]?>()
        let subscription = value.observe { log.add($0.new) }
        #expect(throws: Refusal.self) {
            try value.update { (numbers) throws(Refusal) in
                numbers.append(2)
                throw Refusal()
            }
        }
        #expect(value.value == [1])
        #expect(log.items.isEmpty)
        let last = value.update { $0.popLast() }
        #expect(last == 1)
        #expect(log.items == [[]])
        withExtendedLifetime(subscription) {}
    }

    // MARK: Registration

    @Test("an observer that registers again replaces its registration") func registeringAgain() {
        let value = Observable(0)
        let log = Log<String>()
        let listener = Listener(log)
        value.observe(listener) { $0.log.add("first \($1.new ?? -1)") }
        let other = value.observe { log.add("other \($0.new ?? -1)") }
        value.observe(listener) { $0.log.add("second \($1.new ?? -1)") }
        value.set(1)
        #expect(log.items == ["other 1", "second 1"])
        withExtendedLifetime(other) {}
    }

    @Test("an additional registration replaces none") func additional() {
        let value = Observable(0)
        let listener = Listener<String>()
        value.observe(listener) { $0.log.add("first \($1.new ?? -1)") }
        value.observe(listener, isAdditional: true) { $0.log.add("second \($1.new ?? -1)") }
        value.set(1)
        #expect(listener.log.items == ["first 1", "second 1"])
        value.observe(listener) { $0.log.add("third \($1.new ?? -1)") }
        value.set(2)
        #expect(listener.log.items == ["first 1", "second 1", "third 2"])
    }

    @Test("a replaced subscription has no effect, and the new one works") func replaced() {
        let value = Observable(0)
        let listener = Listener<Int?>()
        let former = value.observe(listener) { $0.log.add($1.new) }
        let present = value.observe(listener) { $0.log.add($1.new) }
        former.cancel()
        value.set(1)
        present.cancel()
        value.set(2)
        #expect(listener.log.items == [1])
        #expect(!value.isObserved)
    }

    @Test("an object owned by a replaced handler may use the value when it is deallocated") func replacedHandler() {
        let value = Observable(0)
        let listener = Listener<Int?>()
        func observeOwning(_ owned: Listener<Int>) {
            value.observe(listener) { _, _ in withExtendedLifetime(owned) {} }
        }
        observeOwning(Listener { value.set(5) })
        value.observe(listener) { $0.log.add($1.new) }
        #expect(listener.log.items == [5])
    }

    @Test("an old value may use its observable when it is deallocated") func oldValue() {
        let log = Log<Int>()
        let value = Observable<Listener<Int>?>(nil)
        let count = Observable(0)
        value.set(Listener { log.add(value.value == nil ? 1 : 0) })
        value.set(nil)
        #expect(log.items == [1])
        #expect(count.value == 0)
    }

    @Test("deallocated observers are removed") func vanishing() {
        let value = Observable(0)
        let log = Log<Int?>()
        var listener: Listener<Int?>? = Listener(log)
        if let listener { value.observe(listener) { $0.log.add($1.new) } }
        value.set(1)
        listener = nil
        #expect(!value.isObserved)
        value.set(2)
        #expect(log.items == [1])
    }

    // MARK: Order

    @Test("an observer may change the value") func changing() {
        let value = Observable(1)
        let log = Log<String>()
        let first = value.observe([.old, .new]) { change in
            log.add("a \(ReportedChange(change))")
            if let new = change.new, new < 3 { value.set(new + 1) }
        }
        let second = value.observe([.old, .new]) { log.add("b \(ReportedChange($0))") }
        value.set(2)
        #expect(log.items == ["a 1→2", "b 1→2", "a 2→3", "b 2→3"])
        withExtendedLifetime((first, second)) {}
    }

    @Test("an observer that registers during an event starts with the current value") func subscribingInEvent() {
        let value = Observable(1)
        let log = Log<String>()
        let keeper = Keeper()
        let first = value.observe { change in
            guard change.new == 2 else { return }
            value.set(3)
            keeper.keep(value.observe([.initial, .old, .new]) { log.add("\(ReportedChange($0))") })
            value.set(4)
        }
        value.set(2)
        #expect(log.items == ["initial -→3", "3→4"])
        withExtendedLifetime(first) {}
        keeper.dropAll()
    }

    @Test("changes by many threads form one chain") func chain() {
        let value = Observable(0)
        let log = Log<ReportedChange>()
        let subscription = value.observe([.old, .new]) { log.add(ReportedChange($0)) }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1000 { value.update { $0 += 1 } }
        }
        #expect(value.value == 8000)
        #expect(log.items == (0..<8000).map { ReportedChange(old: $0, new: $0 + 1) })
        withExtendedLifetime(subscription) {}
    }

    /// Each observer starts with some value and sees all later ones.
    @Test("an observer that registers during changes misses none") func concurrent() {
        let value = Observable(0)
        let logs = (0..<200).map { _ in Log<ReportedChange>() }
        let keeper = Keeper()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<1000 {
                value.update { $0 += 1 }
                guard number % 40 == 0 else { continue }
                let log = logs[thread * 25 + number / 40]
                keeper.keep(value.observe([.initial, .old, .new]) { log.add(ReportedChange($0)) })
            }
        }
        for log in logs {
            let first = log.items.first?.new ?? -1
            #expect(log.items.first == ReportedChange(new: first, isInitial: true))
            #expect(log.items.dropFirst().elementsEqual((first..<8000).map { ReportedChange(old: $0, new: $0 + 1) }))
        }
        keeper.dropAll()
    }

    // MARK: Sequences

    @Test("the changes form an asynchronous sequence") func changes() async {
        var value: Observable<Int>? = Observable(1)
        let changes = value?.changes([.initial, .old, .new])
        value?.set(2)
        value?.set(3)
        value = nil
        var reported: [String] = []
        if let changes { for await change in changes { reported.append(ReportedChange(change).description) } }
        #expect(reported == ["initial -→1", "1→2", "2→3"])
    }

    @Test("a slow consumer of the values gets the latest") func slowConsumer() async {
        var value: Observable<Int>? = Observable(0)
        let (latest, all) = (value?.values(), value?.values(buffering: .unbounded))
        for number in 1...100 { value?.set(number) }
        value = nil
        var seen: [[Int]] = [[], []]
        if let latest { for await number in latest { seen[0].append(number) } }
        if let all { for await number in all { seen[1].append(number) } }
        #expect(seen == [[100], Array(0...100)])
    }

    @Test("a consumer of values that stops is unsubscribed") func stoppedConsumer() async {
        let value = Observable(0)
        for await number in value.values() {
            if number == 3 { break }
            value.set(number + 1)
        }
        #expect(!value.isObserved)
    }
}
