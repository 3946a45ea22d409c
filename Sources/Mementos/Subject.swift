// The Observer pattern: a subject sends events to any number of observers without knowing them.

internal import Threading

/// Sends events to observers.
///
/// - An observer gets exactly the events that are sent after it subscribed and before its subscription ends.
/// - All observers get the events in the same order. Each event reaches them in the order in which they subscribed.
/// - An observer may subscribe others, cancel itself and others, and send. An event that it sends is delivered after
///   the current one has reached all observers.
/// - Any thread may use a subject. Events are delivered one at a time, on the thread of a sender. A thread that sends
///   while another delivers leaves its event to that thread: `send` may return before its event is delivered.
///
/// Delivering to an observer takes no lock and allocates nothing.
public final class Subject<Event: Sendable>: Sendable {
    private let state = Locked(SubjectState<Event>())

    /// Creates a subject without observers.
    public init() {}

    deinit {
        for observer in state.withLock({ $0.places }) { observer?.subjectEnded() }
    }

    /// Whether the subject has observers; if not, the caller need not even create an event.
    public var isObserved: Bool {
        // Outside the lock: checking a weak observer holds it briefly and may release it last, and its deinit may call
        // back.
        state.withLock { $0.count > 0 ? $0.places : [] }.contains { $0?.isAlive == true }
    }

    /// How many entries of the observer list have been visited or moved so far, with which tests check that the work is
    /// linear.
    package var steps: Int { state.withLock { $0.steps } }

    /// Calls `handler` with every later event, until the subscription ends.
    ///
    /// - Parameter handler: called on the thread of a sender; should be quick, as it delays the next event.
    /// - Returns: the subscription, which ends when it is cancelled or released.
    public func subscribe(_ handler: @escaping @Sendable (Event) -> Void) -> Subscription {
        removeVanished()
        return add(Registration(handler)).subscription
    }

    /// Calls `handler` with every later event, until the subscription is cancelled or the observer is deallocated.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs; may be deallocated at any time, on any thread.
    ///   - isAdditional: whether the observer's earlier registrations remain. By default, this one replaces them, and
    ///     is called after all other observers.
    ///   - handler: called with the observer and the event on the thread of a sender. It lives as long as the
    ///     subscription, so it must not capture the observer, but use the one passed to it.
    /// - Returns: the subscription, which need not be stored.
    @discardableResult
    public func subscribe<Observer: AnyObject & Sendable>(
        _ observer: Observer, isAdditional: Bool = false, _ handler: @escaping @Sendable (Observer, Event) -> Void
    ) -> Subscription {
        removeVanished()
        return add(Registration(observer, handler), isReplacing: !isAdditional).subscription
    }

    /// Ends all subscriptions of a weakly held observer; does nothing if it has none.
    ///
    /// The cost does not depend on the number of other observers.
    public func removeObserver(_ observer: some AnyObject & Sendable) {
        // Objects that the handlers own may call back when deallocated, so the entries are released outside the lock.
        _ = state.withLock { $0.remove(ObjectIdentifier(observer)) }
    }

    /// Delivers `event` to all observers, or leaves that to a thread that is already delivering.
    public func send(_ event: Event) {
        enqueue(event)
        deliver()
    }

    // MARK: Observers

    /// Adds an observer after the others.
    ///
    /// - Parameters:
    ///   - isReplacing: whether the earlier registrations of the same identity end.
    ///   - first: an event to queue for this observer alone.
    /// - Returns: the subscription, and the entries that it replaces. Objects that their handlers own may call back
    ///   when deallocated: release the entries outside any lock.
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
        // Objects that the handler owns may call back when deallocated, so the entry is released outside the lock.
        _ = state.withLock { $0.remove(number) }
    }

    /// Occasionally removes the entries of deallocated observers; the work per new observer is constant on average.
    ///
    /// Must not run under a lock: checking a weak observer may release it last, and its deinit may call back.
    func removeVanished() {
        let crowd = state.withLock { $0.takeCrowd() }
        guard !crowd.isEmpty else { return }
        for observer in crowd where !observer.isAlive { remove(observer.number) }
        state.withLock { $0.recordCrowd() }
    }

    // MARK: Delivery

    /// Queues an event.
    ///
    /// A caller that holds a lock must release it before it calls `deliver()`.
    func enqueue(_ event: Event) {
        state.withLock { $0.enqueue(event) }
    }

    /// Delivers the queued events, unless another thread is already delivering.
    func deliver() {
        var batch: [QueuedEvent<Event>] = []
        var observers = state.withLock { $0.isDelivering ? nil : $0.takeQueue(into: &batch) }
        while let present = observers {
            for queued in batch {
                if let recipient = queued.recipient {
                    deliver(queued.event, to: recipient)
                } else {
                    // Observers are in the order of subscription: all after this one subscribed after the event, too.
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
    /// Returns an asynchronous sequence of the later events, for one consumer.
    ///
    /// The sequence ends with the subject, and the subscription ends when the consumer stops.
    ///
    /// - Parameter policy: which events are buffered for a slow consumer. `.unbounded` buffers all of them; a bounded
    ///   buffer drops the rest without notice.
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

extension Subject where Event == Void {
    /// Sends an event without content to all observers.
    public func send() { send(()) }
}
