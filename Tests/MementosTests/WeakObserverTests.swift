// Observers that a subject holds weakly: they are removed after they are deallocated.

import Dispatch
import Mementos
import Synchronization
import TestSupport
import Testing
import Threading

@Suite struct WeakObserverTests {
    @Test("an observer's subscription need not be stored") func unstored() {
        let subject = Subject<Int>()
        let listener = Listener<Int>()
        subject.subscribe(listener) { $0.log.add($1) }
        subject.send(1)
        subject.send(2)
        #expect(listener.log.items == [1, 2])
    }

    @Test("a deallocated observer is no longer called") func deallocated() {
        let subject = Subject<Int>()
        let log = Log<Int>()
        var listener: Listener<Int>? = Listener(log)
        if let listener { subject.subscribe(listener) { $0.log.add($1) } }
        subject.send(1)
        #expect(subject.isObserved)
        listener = nil
        #expect(!subject.isObserved)
        subject.send(2)
        #expect(log.items == [1])
    }

    @Test("a weak observer's subscription can be cancelled") func cancelling() {
        let subject = Subject<Int>()
        let listener = Listener<Int>()
        let subscription = subject.subscribe(listener) { $0.log.add($1) }
        subject.send(1)
        subscription.cancel()
        subject.send(2)
        #expect(listener.log.items == [1])
        #expect(!subject.isObserved)
    }

    @Test("all observers are called in the order of subscription") func order() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let listeners = [Listener(log), Listener(log)]
        subject.subscribe(listeners[0]) { $0.log.add("a\($1)") }
        let strong = subject.subscribe { log.add("b\($0)") }
        subject.subscribe(listeners[1]) { $0.log.add("c\($1)") }
        subject.send(1)
        #expect(log.items == ["a1", "b1", "c1"])
        withExtendedLifetime((strong, listeners)) {}
    }

    @Test("an observer may be deallocated while another is called") func vanishing() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let second = Locked<Listener<String>?>(Listener(log) { log.add("b ended") })
        let first = subject.subscribe { event in
            log.add("a\(event)")
            let ended = second.withLock { $0.take() }
            withExtendedLifetime(ended) {}
        }
        if let listener = second.withLock({ $0 }) { subject.subscribe(listener) { $0.log.add("b\($1)") } }
        subject.send(1)
        #expect(log.items == ["a1", "b ended"])
        withExtendedLifetime(first) {}
    }

    @Test("an observer may send when it is deallocated") func sending() {
        let subject = Subject<Int>()
        let log = Log<Int>()
        let other = subject.subscribe { log.add($0) }
        subject.subscribe(Listener<Int> { subject.send(7) }) { $0.log.add($1) }
        #expect(log.items == [7])
        withExtendedLifetime(other) {}
    }

    /// Otherwise a subject that never sends would grow with every deallocated observer.
    @Test("the entries of deallocated observers are removed without any event") func cleaning() {
        final class Trace: Sendable {}
        let subject = Subject<Int>()
        let remaining = Log<WeakTrace>()
        struct WeakTrace: Sendable { weak let trace: Trace? }
        for _ in 0..<1000 {
            let trace = Trace()
            remaining.add(WeakTrace(trace: trace))
            subject.subscribe(Listener<Int>()) { _, _ in withExtendedLifetime(trace) {} }
        }
        #expect(remaining.items.count { $0.trace != nil } <= 16)
    }

    @Test("observers are deallocated on many threads while others send") func concurrent() {
        let subject = Subject<Int>()
        let alive = Atomic(0)
        final class Passer: Sendable {
            let ended: @Sendable () -> Void
            init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
            deinit { ended() }
        }
        let count = Log<Int>()
        let always = subject.subscribe { count.add($0) }
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 {
                alive.add(1, ordering: .relaxed)
                let passer = Passer { alive.subtract(1, ordering: .relaxed) }
                subject.subscribe(passer) { _, _ in }
                subject.send(thread * 1000 + number)
            }
        }
        #expect(alive.load(ordering: .relaxed) == 0)
        #expect(count.items.count == 4000)
        always.cancel()
        #expect(!subject.isObserved)
    }
}
