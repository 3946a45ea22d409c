// The state under a subject's lock: its observers and its queue of events.

/// An event waiting for delivery.
final class QueuedEvent<Event: Sendable>: Sendable {
    /// Events are numbered from 0 in the order in which they were sent.
    let number: UInt64
    let event: Event
    /// The only observer to get it; nil for all observers.
    let recipient: ObserverEntry<Event>?

    init(number: UInt64, event: Event, recipient: ObserverEntry<Event>?) {
        self.number = number
        self.event = event
        self.recipient = recipient
    }
}

/// The observers and the queue of a subject.
///
/// Adding an observer and ending its subscription take constant time on average: a removed entry leaves its place
/// empty, and the list is compacted when most places are empty.
struct SubjectState<Event: Sendable>: Sendable {
    typealias Entry = ObserverEntry<Event>

    /// The entries in the order of subscription, which is that of their numbers; nil for an ended subscription.
    private(set) var places: [Entry?] = []
    /// The places of the entries, by number.
    private var indices: [UInt64: Int] = [:]
    /// The numbers of the entries that have an identity, and so can be replaced.
    private var numbers: [ObserverIdentity: Set<UInt64>] = [:]
    /// The identities of each object: one for each part that it observes.
    private var identities: [ObjectIdentifier: Set<ObserverIdentity>] = [:]
    private var nextObserver: UInt64 = 0
    /// Events whose delivery has not begun, the latest last.
    private var queue: [QueuedEvent<Event>] = []
    private var nextEvent: UInt64 = 0
    private(set) var isDelivering = false
    /// The number of observers at which the next search for deallocated ones is due.
    private var crowd = 16
    /// How many entries have been visited or moved so far.
    private(set) var steps = 0

    /// The number of observers.
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
    /// - Returns: the entry, if it was still there; release it outside the lock, as objects that it owns may call back
    ///   when deallocated.
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

    /// Ends all subscriptions of an identity.
    ///
    /// - Returns: the entries; release them outside the lock.
    mutating func remove(_ identity: ObserverIdentity) -> [Entry] {
        (numbers[identity] ?? []).compactMap { remove($0) }
    }

    /// Ends all subscriptions of an object.
    ///
    /// - Returns: the entries; release them outside the lock.
    mutating func remove(_ object: ObjectIdentifier) -> [Entry] {
        (identities[object] ?? []).flatMap { remove($0) }
    }

    /// Returns the observers if their number has grown so far that a search for deallocated ones is due; else an empty
    /// array.
    mutating func takeCrowd() -> [Entry] {
        guard count >= crowd else { return [] }
        steps += places.count
        crowd = 2 * count
        return places.compactMap(\.self)
    }

    /// Sets when the next search is due, after the deallocated observers were removed.
    mutating func recordCrowd() {
        crowd = max(16, 2 * count)
    }

    // MARK: Events

    mutating func enqueue(_ event: Event, for recipient: Entry? = nil) {
        // Later subscribers do not get the event, so without observers it is dropped.
        guard count > 0 else { return }
        queue.append(QueuedEvent(number: nextEvent, event: event, recipient: recipient))
        nextEvent += 1
    }

    /// Swaps the queue with the empty `batch`, whose capacity is reused for the next events.
    ///
    /// - Returns: the current observers, as later ones get none of these events; an empty array if every event has its
    ///   own recipient; nil if the queue is empty, which ends the delivery.
    mutating func takeQueue(into batch: inout [QueuedEvent<Event>]) -> [Entry?]? {
        swap(&queue, &batch)
        isDelivering = !batch.isEmpty
        guard isDelivering else { return nil }
        // Changing the list while a caller holds it copies it, so it is returned only if it is needed.
        return batch.allSatisfy { $0.recipient != nil } ? [] : places
    }
}
