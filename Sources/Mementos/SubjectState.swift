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
///
/// Adding an observer and ending its subscription cost the same however many others there are: an entry that is gone
/// leaves its place empty, and the list is made anew once most places are.
struct SubjectState<Event: Sendable>: Sendable {
    typealias Entry = ObserverEntry<Event>

    /// In the order of their numbers, which is that of subscription; nil where one has ended.
    private(set) var places: [Entry?] = []
    /// Where the entries are, by their numbers.
    private var indices: [UInt64: Int] = [:]
    /// The numbers of the entries of those who can register again.
    private var numbers: [ObserverIdentity: Set<UInt64>] = [:]
    /// What each object has registered as: once for each part that it observes.
    private var identities: [ObjectIdentifier: Set<ObserverIdentity>] = [:]
    private var nextObserver: UInt64 = 0
    /// Events that nobody has begun to deliver, the latest sent last.
    private var queue: [QueuedEvent<Event>] = []
    private var nextEvent: UInt64 = 0
    private(set) var isDelivering = false
    /// So many observers are worth a look for those that are no more.
    private var crowd = 16
    /// How many entries were looked at or moved to keep the list.
    private(set) var steps = 0

    /// How many observe.
    var count: Int { indices.count }

    // MARK: Observers

    mutating func add(_ registration: Registration<Event>) -> Entry {
        let entry = Entry(number: nextObserver, firstEvent: nextEvent, registration)
        nextObserver += 1
        indices[entry.number] = places.count
        if let identity = entry.identity {
            numbers[identity, default: []].insert(entry.number)
            identities[identity.object, default: []].insert(identity)
        }
        places.append(entry)
        steps += 1
        return entry
    }

    /// Ends an observer's subscription.
    ///
    /// - Returns: the entry, if it was there still; it must end outside the lock, as what it owns may call back.
    mutating func remove(_ number: UInt64) -> Entry? {
        guard let index = indices.removeValue(forKey: number), let entry = places[index] else { return nil }
        entry.end()
        places[index] = nil
        if let identity = entry.identity { forget(number, of: identity) }
        steps += 1
        if places.count > 16, 2 * count < places.count { closeGaps() }
        return entry
    }

    private mutating func forget(_ number: UInt64, of identity: ObserverIdentity) {
        numbers[identity]?.remove(number)
        guard numbers[identity]?.isEmpty == true else { return }
        numbers[identity] = nil
        identities[identity.object]?.remove(identity)
        if identities[identity.object]?.isEmpty == true { identities[identity.object] = nil }
    }

    private mutating func closeGaps() {
        steps += places.count
        places.removeAll { $0 == nil }
        for (index, entry) in places.enumerated() {
            if let entry { indices[entry.number] = index }
        }
    }

    /// Ends all subscriptions of that identity.
    ///
    /// - Returns: the entries, which must end outside the lock.
    mutating func remove(_ identity: ObserverIdentity) -> [Entry] {
        (numbers[identity] ?? []).compactMap { remove($0) }
    }

    /// Ends all subscriptions of an object.
    ///
    /// - Returns: the entries, which must end outside the lock.
    mutating func remove(_ object: ObjectIdentifier) -> [Entry] {
        (identities[object] ?? []).flatMap { remove($0) }
    }

    /// The observers, where they are so many more than at the last time that a look for those that are no more is due.
    mutating func takeCrowd() -> [Entry] {
        guard count >= crowd else { return [] }
        steps += places.count
        crowd = 2 * count
        return places.compactMap(\.self)
    }

    /// Records how many are left after a look for those that are no more.
    mutating func recordCrowd() {
        crowd = max(16, 2 * count)
    }

    // MARK: Events

    mutating func enqueue(_ event: Event, for recipient: Entry? = nil) {
        // Whoever subscribes later does not get it.
        guard count > 0 else { return }
        queue.append(QueuedEvent(number: nextEvent, event: event, recipient: recipient))
        nextEvent += 1
    }

    /// Takes what is queued in exchange for the empty `batch`, whose room serves the next events.
    ///
    /// - Returns: who observes now, for whoever subscribes later gets none of these; nobody where all events have
    ///   recipients of their own; nil if the queue is empty, which ends the delivery.
    mutating func takeQueue(into batch: inout [QueuedEvent<Event>]) -> [Entry?]? {
        swap(&queue, &batch)
        isDelivering = !batch.isEmpty
        guard isDelivering else { return nil }
        // The list is copied when it changes while somebody has it: one for whom nobody looks is not handed out.
        return batch.allSatisfy { $0.recipient != nil } ? [] : places
    }
}
