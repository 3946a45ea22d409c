// Delivery on the main actor: for observers that are bound to it, as those of user interfaces are.

internal import Threading

/// Takes events on any thread and hands them to a handler on the main actor, in order and each turn all that wait.
final class MainActorDelivery<Event: Sendable>: Sendable {
    private struct Waiting {
        var events: [Event] = []
        /// Whether a turn of the main actor will come for them.
        var isScheduled = false
        var isEnded = false
    }

    private let waiting = Locked(Waiting())
    /// Makes one event of one that waits and the next; nil where each is delivered by itself.
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

    /// What waits is not delivered any more.
    func end() {
        waiting.withLock { $0.isEnded = true }
    }

    /// One turn: what comes meanwhile waits for the next, so that others get their turns in between.
    @MainActor private func deliver() {
        let events = waiting.withLock { waiting in
            waiting.isScheduled = false
            return exchange(&waiting.events, with: [])
        }
        for event in events where !waiting.withLock({ $0.isEnded }) { handler(event) }
    }
}

extension Subject {
    /// Calls `handler` on the main actor with every event sent from now on, until the subscription ends.
    ///
    /// Events arrive in a later turn of the main actor, in the order in which they were sent, whatever thread sends. The
    /// main actor must have turns: in a program without an asynchronous main, `dispatchMain()` gives them.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - handler: may use whatever is bound to the main actor; should be quick.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func subscribe(
        on actor: MainActor, _ handler: @escaping @MainActor (Event) -> Void
    ) -> Subscription {
        removeVanished()
        let delivery = MainActorDelivery(handler)
        return add(Registration({ delivery.post($0) }, subscriptionEnded: { delivery.end() })).subscription
    }

    /// Calls `handler` on the main actor with every event sent from now on, until the subscription is cancelled or the
    /// observer is no more.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - actor: `MainActor.shared`.
    ///   - isAdditional: whether the observer's former registrations remain. Unless it is told so, this one replaces them.
    ///   - handler: must not capture the observer, only use the one that it is given.
    /// - Returns: the subscription, which need not be kept.
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
    /// Calls `handler` on the main actor with every change from now on, until the subscription ends.
    ///
    /// Changes arrive in a later turn of the main actor, in the order in which they were made, whatever thread makes
    /// them; so does the initial event. The main actor must have turns: in a program without an asynchronous main,
    /// `dispatchMain()` gives them.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - options: what the observer wants to know.
    ///   - isCoalescing: whether changes that wait for the main actor become one, from the oldest value to the newest.
    ///   - handler: may use whatever is bound to the main actor; should be quick.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func observe(
        on actor: MainActor, _ options: ObservationOptions = .new, coalescing isCoalescing: Bool = false,
        _ handler: @escaping @MainActor (Change<Value>) -> Void
    ) -> Subscription {
        whole.observe(on: actor, options, coalescing: isCoalescing, handler)
    }

    /// Calls `handler` on the main actor with every change from now on, until the subscription is cancelled or the
    /// observer is no more.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - actor: `MainActor.shared`.
    ///   - options: what it wants to know.
    ///   - isAdditional: whether the observer's former registrations remain. Unless it is told so, this one replaces them.
    ///   - isCoalescing: whether changes that wait for the main actor become one, from the oldest value to the newest.
    ///   - handler: must not capture the observer, only use the one that it is given.
    /// - Returns: the subscription, which need not be kept.
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
    /// Calls `handler` on the main actor with every change from now on, until the subscription ends.
    ///
    /// Changes arrive in a later turn of the main actor, in the order in which they were made; so does the initial event.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.shared`.
    ///   - options: what the observer wants to know.
    ///   - isCoalescing: whether changes that wait for the main actor become one, from the oldest value to the newest.
    ///   - handler: may use whatever is bound to the main actor; should be quick.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func observe(
        on actor: MainActor, _ options: ObservationOptions = .new, coalescing isCoalescing: Bool = false,
        _ handler: @escaping @MainActor (Change<Value>) -> Void
    ) -> Subscription {
        let delivery = MainActorDelivery<Transition<Value>>(merge: isCoalescing ? Transition<Value>.merge : nil) {
            handler(Change($0, options))
        }
        return register(options, subscriptionEnded: { delivery.end() }) { delivery.post($0) }
    }

    /// Calls `handler` on the main actor with every change from now on, until the subscription is cancelled or the
    /// observer is no more.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - actor: `MainActor.shared`.
    ///   - options: what it wants to know.
    ///   - isAdditional: whether the observer's former registrations for this part remain. Unless it is told so, this one
    ///     replaces them.
    ///   - isCoalescing: whether changes that wait for the main actor become one, from the oldest value to the newest.
    ///   - handler: must not capture the observer, only use the one that it is given.
    /// - Returns: the subscription, which need not be kept.
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
