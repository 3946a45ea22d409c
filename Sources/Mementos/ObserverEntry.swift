// One observer in its subject's list.

internal import Synchronization

/// An observer in its subject's list.
final class ObserverEntry<Event: Sendable>: Sendable {
    /// The observer's number, counted in the order of subscription.
    let number: UInt64
    /// The number of the first event that the observer gets.
    let firstEvent: UInt64
    /// Passes an event to the observer; false if the observer has been deallocated.
    let receive: @Sendable (Event) -> Bool
    let identity: ObserverIdentity?
    /// Called when the subject ends.
    let subjectEnded: @Sendable () -> Void
    private let alive: (@Sendable () -> Bool)?
    private let subscriptionEnded: @Sendable () -> Void
    /// Atomic, so that a delivery needs no lock to read it.
    private let subscribed = Atomic(true)

    init(number: UInt64, firstEvent: UInt64, _ registration: Registration<Event>) {
        self.number = number
        self.firstEvent = firstEvent
        receive = registration.receive
        identity = registration.identity
        subjectEnded = registration.subjectEnded
        alive = registration.isAlive
        subscriptionEnded = registration.subscriptionEnded
    }

    var isSubscribed: Bool { subscribed.load(ordering: .acquiring) }

    /// Whether the observer still exists; true if it is not held weakly.
    var isAlive: Bool { alive?() ?? true }

    /// Called under the subject's lock.
    func end() {
        subscribed.store(false, ordering: .releasing)
        subscriptionEnded()
    }
}

/// What a subscriber passes to its subject.
struct Registration<Event: Sendable>: Sendable {
    /// Passes an event to the observer; false if the observer has been deallocated.
    let receive: @Sendable (Event) -> Bool
    /// Whether the observer still exists; nil if it is not held weakly, so that its subscription's lifetime decides.
    private(set) var isAlive: (@Sendable () -> Bool)?
    private(set) var identity: ObserverIdentity?
    private(set) var subjectEnded: @Sendable () -> Void = {}
    /// Called under the subject's lock when the subscription ends; must be quick, and neither call back nor release
    /// objects.
    private(set) var subscriptionEnded: @Sendable () -> Void = {}

    /// An observer that is only a handler; `subjectEnded` is called when the subject ends.
    init(
        _ handler: @escaping @Sendable (Event) -> Void, subjectEnded: @escaping @Sendable () -> Void = {},
        subscriptionEnded: @escaping @Sendable () -> Void = {}
    ) {
        receive = { event in
            handler(event)
            return true
        }
        self.subjectEnded = subjectEnded
        self.subscriptionEnded = subscriptionEnded
    }

    /// A weakly held observer.
    ///
    /// - Parameters:
    ///   - part: the part of the value that it observes.
    ///   - subscriptionEnded: called when the subscription ends.
    init<Observer: AnyObject & Sendable>(
        _ observer: Observer, of part: PartIdentity? = nil,
        subscriptionEnded: @escaping @Sendable () -> Void = {},
        _ handler: @escaping @Sendable (Observer, Event) -> Void
    ) {
        receive = { [weak observer] event in
            guard let observer else { return false }
            handler(observer, event)
            return true
        }
        isAlive = { [weak observer] in observer != nil }
        identity = ObserverIdentity(object: ObjectIdentifier(observer), part: part)
        self.subscriptionEnded = subscriptionEnded
    }
}

/// Identifies a weakly held observer and the part it observes, so that registering again replaces the earlier
/// registration.
///
/// After an object is deallocated, a new object may get the same identifier. That is harmless: it replaces a
/// registration that can receive nothing any more.
struct ObserverIdentity: Hashable, Sendable {
    let object: ObjectIdentifier
    /// Nil for all observers of a subject.
    let part: PartIdentity?
}
