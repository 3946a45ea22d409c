// The guarantees of Subject, one by one.

import Dispatch
import Mementos
import Synchronization
import TestSupport
import Testing

@Suite struct SubjectTests {
    @Test("observers are called in the order of subscription") func order() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let subscriptions = ["a", "b", "c"].map { name in subject.subscribe { log.add("\(name)\($0)") } }
        subject.send(1)
        subject.send(2)
        #expect(log.items == ["a1", "b1", "c1", "a2", "b2", "c2"])
        withExtendedLifetime(subscriptions) {}
    }

    @Test("an observer gets the events between subscribing and cancelling") func subscribed() {
        let subject = Subject<Int>()
        let log = Log<Int>()
        subject.send(1)
        let subscription = subject.subscribe { log.add($0) }
        subject.send(2)
        subject.send(3)
        subscription.cancel()
        subject.send(4)
        subscription.cancel()
        #expect(log.items == [2, 3])
    }

    @Test("a subscription ends when it is released") func released() {
        let subject = Subject<Int>()
        let log = Log<Int>()
        var subscription: Subscription? = subject.subscribe { log.add($0) }
        subject.send(1)
        #expect(subject.isObserved)
        _ = subscription
        subscription = nil
        #expect(!subject.isObserved)
        subject.send(2)
        #expect(log.items == [1])
    }

    @Test("a nested event is delivered after the current one has reached all observers") func nested() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let first = subject.subscribe { event in
            log.add("a\(event)")
            if event == 1 {
                subject.send(2)
                subject.send(3)
                log.add("sent")
            }
        }
        let second = subject.subscribe { log.add("b\($0)") }
        subject.send(1)
        #expect(log.items == ["a1", "sent", "b1", "a2", "b2", "a3", "b3"])
        withExtendedLifetime((first, second)) {}
    }

    @Test("an observer that subscribes during an event gets only later events") func subscribingInEvent() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let keeper = Keeper()
        let first = subject.subscribe { event in
            log.add("a\(event)")
            guard event == 1 else { return }
            subject.send(2)
            keeper.keep(subject.subscribe { log.add("b\($0)") })
            subject.send(3)
        }
        subject.send(1)
        #expect(log.items == ["a1", "a2", "a3", "b3"])
        withExtendedLifetime(first) {}
        keeper.dropAll()
    }

    @Test("an observer cancelled during an event is not called for it") func cancellingInEvent() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let keeper = Keeper()
        keeper.keep(
            subject.subscribe { event in
                log.add("a\(event)")
                keeper.cancelAll()
            })
        keeper.keep(subject.subscribe { log.add("b\($0)") })
        let last = subject.subscribe { log.add("c\($0)") }
        subject.send(1)
        subject.send(2)
        #expect(log.items == ["a1", "c1", "c2"])
        keeper.dropAll()
        withExtendedLifetime(last) {}
    }

    @Test("objects owned by a handler may call back when they are deallocated") func callingBack() {
        final class Sender: Sendable {
            let subject: Subject<Int>
            init(_ subject: Subject<Int>) { self.subject = subject }
            deinit { subject.send(7) }
            func touch() {}
        }
        let subject = Subject<Int>()
        let log = Log<Int>()
        let other = subject.subscribe { log.add($0) }
        func subscribeSender() -> Subscription {
            let sender = Sender(subject)
            return subject.subscribe { _ in sender.touch() }
        }
        subscribeSender().cancel()
        #expect(log.items == [7])
        withExtendedLifetime(other) {}
    }

    @Test("all observers see the events of many threads in the same order") func manyThreads() {
        struct Message: Sendable, Hashable {
            let thread: Int
            let number: Int
        }
        let (threads, count) = (8, 500)
        let subject = Subject<Message>()
        let logs = [Log<Message>(), Log<Message>()]
        let subscriptions = logs.map { log in subject.subscribe { log.add($0) } }
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for number in 0..<count {
                // Other observers come and go at the same time.
                let passing = subject.subscribe { _ in }
                subject.send(Message(thread: thread, number: number))
                passing.cancel()
            }
        }
        #expect(logs[0].items == logs[1].items)
        #expect(logs[0].items.count == threads * count)
        for thread in 0..<threads {
            #expect(logs[0].items.filter { $0.thread == thread }.map(\.number) == Array(0..<count))
        }
        withExtendedLifetime(subscriptions) {}
    }

    @Test("the sequence buffers events, and ends with the subject") func sequence() async {
        var subject: Subject<Int>? = Subject()
        let events = subject?.events()
        for event in 1...100 { subject?.send(event) }
        subject = nil
        var seen = [Int]()
        if let events { for await event in events { seen.append(event) } }
        #expect(seen == Array(1...100))
    }

    @Test("a bounded sequence drops events according to its policy") func bounded() async {
        var subject: Subject<Int>? = Subject()
        let newest = subject?.events(buffering: .bufferingNewest(2))
        let oldest = subject?.events(buffering: .bufferingOldest(2))
        for event in 1...5 { subject?.send(event) }
        subject = nil
        var seen = [[Int](), []]
        if let newest { for await event in newest { seen[0].append(event) } }
        if let oldest { for await event in oldest { seen[1].append(event) } }
        #expect(seen == [[4, 5], [1, 2]])
    }

    @Test("a consumer that stops is unsubscribed") func stoppedConsumer() async {
        let subject = Subject<Int>()
        let events = subject.events()
        let consumer = Task {
            for await _ in events {}
        }
        #expect(subject.isObserved)
        consumer.cancel()
        await consumer.value
        #expect(!subject.isObserved)
    }

    @Test("a released sequence is unsubscribed") func unreadSequence() {
        let subject = Subject<Int>()
        var events: AsyncStream<Int>? = subject.events()
        #expect(subject.isObserved)
        _ = events
        events = nil
        #expect(!subject.isObserved)
    }

    @Test("many observers come and go in any order") func comingAndGoing() {
        var random = SeededGenerator("observers that come and go")
        let subject = Subject<Int>()
        let log = Log<Int>()
        var present: [(number: Int, subscription: Subscription)] = []
        for number in 0..<300 {
            present.append((number, subject.subscribe { _ in log.add(number) }))
            if !random.oneIn(3) { present.remove(at: random.below(present.count)).subscription.cancel() }
            log.removeAll()
            subject.send(number)
            #expect(log.items == present.map(\.number), "TEST_SEED=\(random.seed)")
        }
    }

    /// Threads leave their events to the delivering thread, so that deliveries never overlap.
    @Test("events are delivered one at a time") func oneAtATime() {
        let subject = Subject<Int>()
        let running = Atomic(0)
        let most = Atomic(0)
        let delivered = Atomic(0)
        let subscription = subject.subscribe { _ in
            most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            delivered.add(1, ordering: .relaxed)
            running.subtract(1, ordering: .relaxed)
        }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for event in 0..<2000 { subject.send(event) }
        }
        #expect(most.load(ordering: .relaxed) == 1)
        #expect(delivered.load(ordering: .relaxed) == 16_000)
        withExtendedLifetime(subscription) {}
    }

    @Test("an event without content is sent without an argument") func withoutContent() {
        let subject = Subject<Void>()
        let log = Log<Int>()
        let subscription = subject.subscribe { log.add(1) }
        subject.send()
        #expect(log.items == [1])
        withExtendedLifetime(subscription) {}
    }
}
