// One observer in its subject's list.

internal import Synchronization

/// An observer as its subject knows it: something that takes events.
final class ObserverEntry<Event: Sendable>: Sendable {
    /// Counts a subject's observers in the order of subscription.
    let number: UInt64
    /// The number of the first event that the observer gets.
    let firstEvent: UInt64
    /// Takes an event; false where the observer is no more.
    let receive: @Sendable (Event) -> Bool
    let identity: ObserverIdentity?
    /// Called when there is nothing more to come.
    let subjectEnded: @Sendable () -> Void
    private let alive: (@Sendable () -> Bool)?
    private let subscriptionEnded: @Sendable () -> Void
    /// Read at every delivery, so that a delivery needs no lock.
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

    /// Whether the observer still is; one that is not held weakly always is.
    var isAlive: Bool { alive?() ?? true }

    /// Called under the subject's lock.
    func end() {
        subscribed.store(false, ordering: .releasing)
        subscriptionEnded()
    }
}

/// What a subscriber hands over.
struct Registration<Event: Sendable>: Sendable {
    /// Takes an event; false where the observer is no more.
    let receive: @Sendable (Event) -> Bool
    /// Whether the observer still is; nil where it is not held weakly, and its subscription decides.
    private(set) var isAlive: (@Sendable () -> Bool)?
    private(set) var identity: ObserverIdentity?
    private(set) var subjectEnded: @Sendable () -> Void = {}
    /// Called when the observer is to get no more events; must be quick, and neither call back nor let go of anything.
    private(set) var subscriptionEnded: @Sendable () -> Void = {}

    /// An observer that is a handler; `subjectEnded` is called when there is nothing more to come.
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

    /// An observer that is held weakly.
    ///
    /// - Parameters:
    ///   - part: what of the value it observes.
    ///   - subscriptionEnded: called when the observer is to get no more events.
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

/// An observer that is held weakly, and what it observes: one that registers again replaces its former registration.
///
/// The identifier may have become that of another object once the first is no more, whose registration is as good as gone.
struct ObserverIdentity: Hashable, Sendable {
    let object: ObjectIdentifier
    /// Nil for all observers of a subject.
    let part: PartIdentity?
}
