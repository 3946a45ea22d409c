// The work of managing the list of observers, counted: it grows linearly with the observers.

import Mementos
import Testing

@Suite("Cost of registering observers")
struct ObserverWorkTests {
    private let count = 10_000

    @Test("registering objects and cancelling them in any order takes a bounded number of steps each")
    func objects() {
        let value = Observable(0)
        let listeners = (0..<count).map { _ in Listener<Int>() }
        let subscriptions = listeners.map { listener in
            value.observe(listener) { listener, change in listener.log.add(change.new ?? 0) }
        }
        #expect(value.steps <= 8 * count, "\(value.steps) steps to register \(count) objects")
        value.set(1)
        #expect(listeners.allSatisfy { $0.log.items == [1] })
        for subscription in subscriptions.shuffled() { subscription.cancel() }
        #expect(value.steps <= 16 * count, "\(value.steps) steps to register and cancel \(count) objects")
        #expect(!value.isObserved)
    }

    @Test("registering again replaces the earlier registration in a bounded number of steps")
    func replacing() {
        let value = Observable(0)
        let listeners = (0..<count).map { _ in Listener<Int>() }
        for round in 1...3 {
            for listener in listeners {
                value.observe(listener) { listener, change in listener.log.add(round * (change.new ?? 0)) }
            }
        }
        #expect(value.steps <= 24 * count, "\(value.steps) steps for \(3 * count) registrations")
        value.set(1)
        #expect(listeners.allSatisfy { $0.log.items == [3] })
    }

    @Test("cancelling handlers in the order of subscription or in reverse costs the same")
    func handlers() {
        for isReversed in [false, true] {
            let subject = Subject<Int>()
            let subscriptions = (0..<count).map { _ in subject.subscribe { _ in } }
            for subscription in isReversed ? subscriptions.reversed() : subscriptions { subscription.cancel() }
            #expect(subject.steps <= 8 * count, "\(subject.steps) steps to cancel \(count) handlers")
            #expect(!subject.isObserved)
        }
    }

    @Test("one object can end many additional registrations one by one")
    func additional() {
        let value = Observable(0)
        let listener = Listener<Int>()
        let subscriptions = (0..<count).map { _ in
            value.observe(listener, isAdditional: true) { listener, _ in listener.log.add(1) }
        }
        for subscription in subscriptions.dropFirst() { subscription.cancel() }
        value.set(1)
        #expect(listener.log.items == [1])
        #expect(value.steps <= 16 * count, "\(value.steps) steps for \(count) additional registrations")
    }

    @Test("observers keep their order when others end")
    func order() {
        let subject = Subject<Int>()
        let log = Log<Int>()
        let subscriptions = (0..<200).map { number in subject.subscribe { _ in log.add(number) } }
        for (number, subscription) in subscriptions.enumerated() where number % 7 != 0 { subscription.cancel() }
        let later = subject.subscribe { _ in log.add(1_000) }
        subject.send(1)
        #expect(log.items == Array(stride(from: 0, to: 200, by: 7)) + [1_000])
        later.cancel()
    }
}
