// Delivery on the main actor, for observers that are isolated to it, as in user interfaces.

internal import Threading

/// Accepts events on any thread and passes them to a handler on the main actor, in order, all waiting ones in one turn.
final class MainActorDelivery<Event: Sendable>: Sendable {
    private struct Waiting {
        var events: [Event] = []
        /// Whether a turn of the main actor is scheduled for them.
        var isScheduled = false
        var isEnded = false
    }

    private let waiting = Locked(Waiting())
    /// Merges a waiting event with the next; nil if each event is delivered on its own.
    private let merge: (@Sendable (Event, Event) -> Event)?
    private let handler: @MainActor (Event) -> Void

    init(merge: (@Sendable (Event, Event) -> Event)? = nil, _ handler: @escaping @MainActor (Event) -> Void) {
        self.merge = merge
        self.handler = handler
    }

    func post(_ event: Event) {
        let isFirst = waiting.withLock { waiting in
            guard !waiting.isEnded else { return false }
            if let merge, let last = waiting.events.popLast() {
                waiting.events.append(merge(last, event))
            } else {
                waiting.events.append(event)
            }
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if isFirst { Task { @MainActor in deliver() } }
    }

    /// Drops the waiting events and all later ones.
    func end() {
        waiting.withLock { $0.isEnded = true }
    }

    /// Runs one turn.
    ///
    /// Events that arrive during it wait for the next turn, so that other work gets its turns in between.
    @MainActor private func deliver() {
        let events = waiting.withLock { waiting in
            waiting.isScheduled = false
            return exchange(&waiting.events, with: [])
        }
        for event in events where !waiting.withLock({ $0.isEnded }) { handler(event) }
    }
}

extension Subject {
    /// Calls `handler` on the main actor with every later event, until the subscription ends.
    ///
    /// Events arrive in a later turn of the main actor, in the order in which they were sent, whichever thread sends
    /// them. The main actor must run: a program without an asynchronous main must call `dispatchMain()` or run a
    /// `RunLoop`.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - handler: isolated to the main actor; should be quick.
    /// - Returns: the subscription, which ends when it is cancelled or released.
    public func subscribe(
        on actor: MainActor, _ handler: @escaping @MainActor (Event) -> Void
    ) -> Subscription {
        removeVanished()
        let delivery = MainActorDelivery(handler)
        return add(Registration({ delivery.post($0) }, subscriptionEnded: { delivery.end() })).subscription
    }

    /// Calls `handler` on the main actor with every later event, until the subscription is cancelled or the observer is
    /// deallocated.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - actor: `MainActor.shared`.
    ///   - isAdditional: whether the observer's earlier registrations remain. By default, this one replaces them.
    ///   - handler: must not capture the observer, but use the one passed to it.
    /// - Returns: the subscription, which need not be stored.
    @discardableResult
    public func subscribe<Observer: AnyObject & Sendable>(
        _ observer: Observer, on actor: MainActor, isAdditional: Bool = false,
        _ handler: @escaping @MainActor (Observer, Event) -> Void
    ) -> Subscription {
        removeVanished()
        let delivery = MainActorDelivery<Event> { [weak observer] event in
            if let observer { handler(observer, event) }
        }
        let registration = Registration<Event>(observer, subscriptionEnded: { delivery.end() }) { delivery.post($1) }
        return add(registration, isReplacing: !isAdditional).subscription
    }
}

extension Observable {
    /// Calls `handler` on the main actor with every later change, until the subscription ends.
    ///
    /// Changes, and the initial event, arrive in a later turn of the main actor, in the order in which they were made,
    /// whichever thread makes them. The main actor must run: a program without an asynchronous main must call
    /// `dispatchMain()` or run a `RunLoop`.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - isCoalescing: whether changes that wait for the main actor are merged into one, from the oldest value to the
    ///     newest.
    ///   - handler: isolated to the main actor; should be quick.
    /// - Returns: the subscription, which ends when it is cancelled or released.
    public func observe(
        on actor: MainActor, _ options: ObservationOptions = .new, coalescing isCoalescing: Bool = false,
        _ handler: @escaping @MainActor (Change<Value>) -> Void
    ) -> Subscription {
        whole.observe(on: actor, options, coalescing: isCoalescing, handler)
    }

    /// Calls `handler` on the main actor with every later change, until the subscription is cancelled or the observer
    /// is deallocated.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - actor: `MainActor.shared`.
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - isAdditional: whether the observer's earlier registrations remain. By default, this one replaces them.
    ///   - isCoalescing: whether changes that wait for the main actor are merged into one, from the oldest value to the
    ///     newest.
    ///   - handler: must not capture the observer, but use the one passed to it.
    /// - Returns: the subscription, which need not be stored.
    @discardableResult
    public func observe<Observer: AnyObject & Sendable>(
        _ observer: Observer, on actor: MainActor, _ options: ObservationOptions = .new, isAdditional: Bool = false,
        coalescing isCoalescing: Bool = false, _ handler: @escaping @MainActor (Observer, Change<Value>) -> Void
    ) -> Subscription {
        whole.observe(
            observer, on: actor, options, isAdditional: isAdditional, coalescing: isCoalescing, handler)
    }
}

extension ObservablePart {
    /// Calls `handler` on the main actor with every later change, until the subscription ends.
    ///
    /// Changes, and the initial event, arrive in a later turn of the main actor, in the order in which they were made.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - isCoalescing: whether changes that wait for the main actor are merged into one, from the oldest value to the
    ///     newest.
    ///   - handler: isolated to the main actor; should be quick.
    /// - Returns: the subscription, which ends when it is cancelled or released.
    public func observe(
        on actor: MainActor, _ options: ObservationOptions = .new, coalescing isCoalescing: Bool = false,
        _ handler: @escaping @MainActor (Change<Value>) -> Void
    ) -> Subscription {
        let delivery = MainActorDelivery<Transition<Value>>(merge: isCoalescing ? Transition<Value>.merge : nil) {
            handler(Change($0, options))
        }
        return register(options, subscriptionEnded: { delivery.end() }) { delivery.post($0) }
    }

    /// Calls `handler` on the main actor with every later change, until the subscription is cancelled or the observer
    /// is deallocated.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - actor: `MainActor.shared`.
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - isAdditional: whether the observer's earlier registrations for this part remain. By default, this one
    ///     replaces them.
    ///   - isCoalescing: whether changes that wait for the main actor are merged into one, from the oldest value to the
    ///     newest.
    ///   - handler: must not capture the observer, but use the one passed to it.
    /// - Returns: the subscription, which need not be stored.
    @discardableResult
    public func observe<Observer: AnyObject & Sendable>(
        _ observer: Observer, on actor: MainActor, _ options: ObservationOptions = .new, isAdditional: Bool = false,
        coalescing isCoalescing: Bool = false, _ handler: @escaping @MainActor (Observer, Change<Value>) -> Void
    ) -> Subscription {
        let delivery = MainActorDelivery<Transition<Value>>(
            merge: isCoalescing ? Transition<Value>.merge : nil
        ) { [weak observer] transition in
            if let observer { handler(observer, Change(transition, options)) }
        }
        return register(
            observer, options, isAdditional: isAdditional, subscriptionEnded: { delivery.end() }
        ) { delivery.post($1) }
    }
}
