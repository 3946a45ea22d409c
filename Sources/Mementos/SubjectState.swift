// What a subject keeps under its lock: who observes, and the events that wait.

/// An event that waits for its delivery.
final class QueuedEvent<Event: Sendable>: Sendable {
    /// Events are numbered from 0 in the order in which they were sent.
    let number: UInt64
    let event: Event
    /// The only one to get it; nil for all.
    let recipient: ObserverEntry<Event>?

    init(number: UInt64, event: Event, recipient: ObserverEntry<Event>?) {
        self.number = number
        self.event = event
        self.recipient = recipient
    }
}

/// The observers and the queue of a subject.
struct SubjectState<Event: Sendable>: Sendable {
    typealias Entry = ObserverEntry<Event>

    /// In the order of their numbers, which is that of subscription.
    private(set) var observers: [Entry] = []
    private var nextObserver: UInt64 = 0
    /// Events that nobody has begun to deliver, the latest sent last.
    private var queue: [QueuedEvent<Event>] = []
    private var nextEvent: UInt64 = 0
    private(set) var isDelivering = false
    /// So many observers are worth a look for those that are no more.
    var crowd = 16

    mutating func add(_ registration: Registration<Event>) -> Entry {
        let entry = Entry(number: nextObserver, firstEvent: nextEvent, registration)
        nextObserver += 1
        observers.append(entry)
        return entry
    }

    /// Ends an observer's subscription.
    ///
    /// - Returns: the entry, if it was there still; it must end outside the lock, as what it owns may call back.
    mutating func remove(_ number: UInt64) -> Entry? {
        var range = observers.startIndex..<observers.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let entry = observers[middle]
            if entry.number == number {
                entry.end()
                return observers.remove(at: middle)
            }
            range = entry.number < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Ends all subscriptions of that identity.
    ///
    /// - Returns: the entries, which must end outside the lock.
    mutating func remove(_ identity: ObserverIdentity) -> [Entry] {
        let removed = observers.filter { $0.identity == identity }
        for entry in removed { entry.end() }
        if !removed.isEmpty { observers.removeAll { !$0.isSubscribed } }
        return removed
    }

    mutating func enqueue(_ event: Event, for recipient: Entry? = nil) {
        // Whoever subscribes later does not get it.
        guard !observers.isEmpty else { return }
        queue.append(QueuedEvent(number: nextEvent, event: event, recipient: recipient))
        nextEvent += 1
    }

    /// Takes what is queued in exchange for the empty `batch`, whose room serves the next events.
    ///
    /// - Returns: who observes now, for whoever subscribes later gets none of these; nil if the queue is empty, which ends
    ///   the delivery.
    mutating func takeQueue(into batch: inout [QueuedEvent<Event>]) -> [Entry]? {
        swap(&queue, &batch)
        isDelivering = !batch.isEmpty
        return isDelivering ? observers : nil
    }
}
