// The Observer pattern: a subject tells any number of observers about events and knows none of them.

internal import Synchronization

/// Tells observers about events.
///
/// - An observer gets exactly the events sent after it subscribed and before it cancelled.
/// - All observers get all events in one order, and each event in the order in which they subscribed.
/// - An observer may subscribe others, cancel itself and others, and send: what it sends is delivered after the present
///   event has reached all observers.
/// - Any thread may use a subject. Events are delivered one at a time, on the thread of a sender: one that sends while
///   another delivers leaves its event to that one and goes on, so that `send` may return before its event has arrived.
public final class Subject<Event: Sendable>: Sendable {
    private struct Observer {
        let number: UInt64
        /// The first event it gets.
        let firstEvent: UInt64
        let handler: @Sendable (Event) -> Void
        let subjectEnded: @Sendable () -> Void
    }

    private struct State {
        /// In the order of their numbers, which is that of subscription.
        var observers: [Observer] = []
        var nextObserver: UInt64 = 0
        /// Events that nobody has begun to deliver, the latest sent last.
        var queue: [Event] = []
        /// Events ever sent; they are numbered from 0.
        var sentCount: UInt64 = 0
        var isDelivering = false
    }

    private let state = Mutex(State())

    /// Makes a subject that nobody observes yet.
    public init() {}

    deinit {
        for observer in state.withLock({ $0.observers }) { observer.subjectEnded() }
    }

    /// Whether anybody observes the subject; where nobody does, an event need not even be made.
    public var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Calls `handler` with every event sent from now on, until the subscription ends.
    ///
    /// - Parameter handler: called on the thread of a sender; should be quick, as the next event waits for it.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func subscribe(_ handler: @escaping @Sendable (Event) -> Void) -> Subscription {
        subscribe(handler, subjectEnded: {})
    }

    private func subscribe(
        _ handler: @escaping @Sendable (Event) -> Void, subjectEnded: @escaping @Sendable () -> Void
    ) -> Subscription {
        let number = state.withLock { state in
            let number = state.nextObserver
            state.nextObserver += 1
            state.observers.append(
                Observer(number: number, firstEvent: state.sentCount, handler: handler, subjectEnded: subjectEnded))
            return number
        }
        return Subscription { [weak self] in self?.removeObserver(number) }
    }

    /// Delivers `event` to all observers, or leaves that to the thread that is delivering another one.
    public func send(_ event: Event) {
        let isFirst = state.withLock { state in
            state.queue.append(event)
            state.sentCount += 1
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isFirst else { return }
        while let (firstNumber, events, observers) = takeQueue() {
            for (number, event) in zip(firstNumber..., events) {
                for observer in observers where observer.firstEvent <= number && isSubscribed(observer) {
                    observer.handler(event)
                }
            }
        }
    }

    /// Empties the queue, or ends the delivery where it is empty.
    ///
    /// - Returns: the number of the first event, the events, and who observes now (whoever subscribes later gets none).
    private func takeQueue() -> (UInt64, [Event], [Observer])? {
        state.withLock { state in
            if state.queue.isEmpty {
                state.isDelivering = false
                return nil
            }
            let events = state.queue
            state.queue = []
            return (state.sentCount - UInt64(events.count), events, state.observers)
        }
    }

    private func isSubscribed(_ observer: Observer) -> Bool {
        state.withLock { $0.observers.contains { $0.number == observer.number } }
    }

    private func removeObserver(_ number: UInt64) {
        // The handler may own what calls back when it ends: it must end outside the lock.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.number == number }.map { state.observers.remove(at: $0) }
        }
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
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: policy)
        let subscription = subscribe({ continuation.yield($0) }, subjectEnded: { continuation.finish() })
        continuation.onTermination = { _ in subscription.cancel() }
        return stream
    }
}
