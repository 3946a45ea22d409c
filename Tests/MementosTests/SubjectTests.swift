// What Subject promises its observers, sentence by sentence.

import Dispatch
import Mementos
import Synchronization
import TestSupport
import Testing

@Suite struct SubjectTests {
    @Test func observersAreCalledInOrderOfSubscription() {
        let subject = Subject<Int>()
        let log = Log<String>()
        let subscriptions = ["a", "b", "c"].map { name in subject.subscribe { log.add("\(name)\($0)") } }
        subject.send(1)
        subject.send(2)
        #expect(log.items == ["a1", "b1", "c1", "a2", "b2", "c2"])
        withExtendedLifetime(subscriptions) {}
    }

    @Test func anObserverGetsWhatIsSentBetweenSubscribingAndCancelling() {
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

    @Test func aSubscriptionEndsWhenNobodyKeepsIt() {
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

    @Test func nestedEventsComeAfterThePresentOneForAll() {
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

    @Test func whoSubscribesDuringAnEventGetsWhatIsSentAfterwards() {
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

    @Test func whoIsCancelledDuringAnEventIsNotCalledForIt() {
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

    @Test func anObserversOwnValuesMayCallBackWhenTheyEnd() {
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

    @Test func allObserversSeeTheEventsOfManyThreadsInOneOrder() {
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
                // Others come and go meanwhile.
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

    @Test func theSequenceHoldsEventsUntilTheyAreTakenAndEndsWithTheSubject() async {
        var subject: Subject<Int>? = Subject()
        let events = subject?.events()
        for event in 1...100 { subject?.send(event) }
        subject = nil
        var seen = [Int]()
        if let events { for await event in events { seen.append(event) } }
        #expect(seen == Array(1...100))
    }

    @Test func aBoundedSequenceDropsWhatItsPolicySays() async {
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

    @Test func aConsumerThatStopsIsNoLongerSubscribed() async {
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

    @Test func aSequenceThatNobodyReadsIsNoLongerSubscribed() {
        let subject = Subject<Int>()
        var events: AsyncStream<Int>? = subject.events()
        #expect(subject.isObserved)
        _ = events
        events = nil
        #expect(!subject.isObserved)
    }

    @Test func manyComeAndGoInAnyOrder() {
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

    /// Threads leave their events to the one that delivers: no event is delivered while another still is.
    @Test func eventsAreDeliveredOneAtATime() {
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
}
