// The Observer pattern: a subject tells any number of observers about events and knows none of them.

internal import Threading

/// Tells observers about events.
///
/// - An observer gets exactly the events sent after it subscribed and before its subscription ended.
/// - All observers get all events in one order, and each event in the order in which they subscribed.
/// - An observer may subscribe others, cancel itself and others, and send: what it sends is delivered after the present
///   event has reached all observers.
/// - Any thread may use a subject. Events are delivered one at a time, on the thread of a sender: one that sends while
///   another delivers leaves its event to that one and goes on, so that `send` may return before its event has arrived.
///
/// Delivering to an observer takes no lock and allocates nothing.
public final class Subject<Event: Sendable>: Sendable {
    private let state = Locked(SubjectState<Event>())

    /// Makes a subject that nobody observes yet.
    public init() {}

    deinit {
        for observer in state.withLock({ $0.places }) { observer?.subjectEnded() }
    }

    /// Whether anybody observes the subject; where nobody does, an event need not even be made.
    public var isObserved: Bool {
        // Outside the lock: whoever looks at an observer may be the last to hold it, and its end may call back.
        state.withLock { $0.count > 0 ? $0.places : [] }.contains { $0?.isAlive == true }
    }

    /// How many entries were looked at or moved to keep the list of observers: tests see by it that the work is linear.
    package var steps: Int { state.withLock { $0.steps } }

    /// Calls `handler` with every event sent from now on, until the subscription ends.
    ///
    /// - Parameter handler: called on the thread of a sender; should be quick, as the next event waits for it.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func subscribe(_ handler: @escaping @Sendable (Event) -> Void) -> Subscription {
        removeVanished()
        return add(Registration(handler)).subscription
    }

    /// Calls `handler` with every event sent from now on, until the subscription is cancelled or the observer is no more.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs; may vanish at any time, on any thread.
    ///   - isAdditional: whether the observer's former registrations remain. Unless it is told so, this one replaces them
    ///     and comes behind all others; former ones get no event any more.
    ///   - handler: called with the observer and the event on the thread of a sender. It is kept as long as the observer
    ///     is subscribed, so it must not capture the observer, only use the one that it is given.
    /// - Returns: the subscription, which need not be kept.
    @discardableResult
    public func subscribe<Observer: AnyObject & Sendable>(
        _ observer: Observer, isAdditional: Bool = false, _ handler: @escaping @Sendable (Observer, Event) -> Void
    ) -> Subscription {
        removeVanished()
        return add(Registration(observer, handler), isReplacing: !isAdditional).subscription
    }

    /// Ends all subscriptions of an observer that is held weakly; where it has none, nothing happens.
    ///
    /// The work is the same however many others observe.
    public func remove(_ observer: some AnyObject & Sendable) {
        // What their handlers own may call back when it ends: the entries must end outside the lock.
        _ = state.withLock { $0.remove(ObjectIdentifier(observer)) }
    }

    /// Delivers `event` to all observers, or leaves that to the thread that is delivering another one.
    public func send(_ event: Event) {
        enqueue(event)
        deliver()
    }

    // MARK: Observers

    /// Adds an observer behind the others.
    ///
    /// - Parameters:
    ///   - isReplacing: whether the former registrations of the same identity end.
    ///   - first: an event for this observer alone, which is queued.
    /// - Returns: the subscription, and the entries that it replaces. What their handlers own may call back when it ends:
    ///   they must end outside any lock.
    func add(
        _ registration: Registration<Event>, isReplacing: Bool = false, first: Event? = nil
    ) -> (subscription: Subscription, replaced: [ObserverEntry<Event>]) {
        let (number, replaced) = state.withLock { state in
            let former = isReplacing ? registration.identity : nil
            let replaced = former.map { state.remove($0) } ?? []
            let entry = state.add(registration)
            if let first { state.enqueue(first, for: entry) }
            return (entry.number, replaced)
        }
        let subscription = Subscription(endsUnlessKept: registration.isAlive == nil) { [weak self] in
            self?.remove(number)
        }
        return (subscription, replaced)
    }

    private func remove(_ number: UInt64) {
        // What its handler owns may call back when it ends: the entry must end outside the lock.
        _ = state.withLock { $0.remove(number) }
    }

    /// Removes those that were held weakly and are no more, now and then: for each new observer, the work is constant.
    ///
    /// Looking at an observer may end it, which may call back: not under a lock.
    func removeVanished() {
        let crowd = state.withLock { $0.takeCrowd() }
        guard !crowd.isEmpty else { return }
        for observer in crowd where !observer.isAlive { remove(observer.number) }
        state.withLock { $0.recordCrowd() }
    }

    // MARK: Delivery

    /// Queues an event; whoever does so while holding a lock lets go of it and then delivers.
    func enqueue(_ event: Event) {
        state.withLock { $0.enqueue(event) }
    }

    /// Delivers what is queued, unless another does so already.
    func deliver() {
        var batch: [QueuedEvent<Event>] = []
        var observers = state.withLock { $0.isDelivering ? nil : $0.takeQueue(into: &batch) }
        while let present = observers {
            for queued in batch {
                if let recipient = queued.recipient {
                    deliver(queued.event, to: recipient)
                } else {
                    // Whoever came after the event comes after all those who did not.
                    for case let observer? in present {
                        guard observer.firstEvent <= queued.number else { break }
                        deliver(queued.event, to: observer)
                    }
                }
            }
            batch.removeAll(keepingCapacity: true)
            observers = state.withLock { $0.takeQueue(into: &batch) }
        }
    }

    private func deliver(_ event: Event, to observer: ObserverEntry<Event>) {
        if observer.isSubscribed, !observer.receive(event) { remove(observer.number) }
    }
}

extension Subject {
    /// The events sent from now on as an asynchronous sequence for one consumer.
    ///
    /// The sequence ends with the subject, and the subscription ends when the consumer stops.
    ///
    /// - Parameter policy: which events wait for a slow consumer. `.unbounded` keeps all of them; with a bound, those
    ///   that do not fit are dropped, and the consumer is not told.
    public func events(
        buffering policy: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: policy) { continuation in
            let subscription = add(
                Registration({ continuation.yield($0) }, subjectEnded: { continuation.finish() })
            ).subscription
            continuation.onTermination = { _ in subscription.cancel() }
        }
    }
}
