// The Observer pattern for a value: whoever observes it is told of its changes.

internal import Threading

/// A value whose changes are observed.
///
/// - A change is atomic, whatever thread makes it: ``update(_:)`` reads, alters and writes while no other does.
/// - Observers get the changes in the order in which they were made, and all of them: the new value of one is the old
///   value of the next. No observer sees a value that is older than one it has seen.
/// - Setting an equatable value to an equal one is no change and no event. Whether values are equatable is settled where
///   the observable is made: `Observable(value)` must know it there.
/// - Events arrive as those of a ``Subject``: one at a time, on the thread of one that changes the value. An observer may
///   change it again, which is delivered after the present event has reached all observers.
///
/// A module that imports `Observation` too writes `Mementos.Observable`.
public final class Observable<Value: Sendable>: Sendable {
    /// Held by the one that changes the value; others read it meanwhile, and so does the one.
    private let changing = Locked(())
    private let current: Locked<(value: Value, changeCount: UInt64)>
    private let subject = Subject<Transition<Value>>()
    private let areEqual: (@Sendable (Value, Value) -> Bool)?

    /// Begins with a value that cannot be compared: setting it is always a change.
    public init(_ value: Value) {
        current = Locked((value, 0))
        areEqual = nil
    }

    /// Begins with a value; setting an equal one is no change.
    public init(_ value: Value) where Value: Equatable {
        current = Locked((value, 0))
        areEqual = { $0 == $1 }
    }

    /// The present value.
    ///
    /// Its event may be yet to come. While the value is updated, the one before.
    public var value: Value { current.withLock { $0.value } }

    /// How often the value has changed; a change that is counted can be read.
    package var changeCount: UInt64 { current.withLock { $0.changeCount } }

    /// Whether anybody observes the value.
    public var isObserved: Bool { subject.isObserved }

    /// How many entries were looked at or moved to keep the list of observers.
    package var steps: Int { subject.steps }

    // MARK: Changing

    /// Sets the value to one that does not depend on what it was; for one that does there is ``update(_:)``.
    public func set(_ value: Value) {
        update { $0 = value }
    }

    /// Changes the value while nobody else changes it.
    ///
    /// - Parameter body: alters the value in place; where it throws, the value stays as it was. Whoever reads the
    ///   observable meanwhile gets the value before. It must not change the observable itself: that ends the program.
    /// - Returns: what `body` returns.
    @discardableResult
    public func update<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try change(body)
        deliver()
        return result
    }

    /// Changes the value and queues the event; whoever does so while holding a lock lets go of it and then delivers.
    func change<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = try changing.withLockUnlessHeld { (_) throws(Failure) in
            let old = value
            var new = old
            let result = try body(&new)
            let isChange = areEqual?(old, new) != true
            current.withLock { current in
                current.value = new
                guard isChange else { return }
                current.changeCount += 1
                subject.enqueue(Transition(old: old, new: new))
            }
            return (result, old)
        }
        // One of the two changes would be lost, as where two accesses to a variable overlap.
        guard let (result, old) = outcome else {
            endProgram(
                because: "an observable was changed within its own update: alter the value that the update is given")
        }
        // A value may call back when it ends: the old one ends here, outside the lock.
        return withExtendedLifetime(old) { result }
    }

    func deliver() { subject.deliver() }

    // MARK: Observing

    /// Calls `handler` with every change from now on, until the subscription ends.
    ///
    /// - Parameters:
    ///   - options: what the observer wants to know.
    ///   - handler: called on the thread of one that changes the value; should be quick, as the next event waits for it.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func observe(
        _ options: ObservationOptions = .new, _ handler: @escaping @Sendable (Change<Value>) -> Void
    ) -> Subscription {
        register(Registration { handler(Change($0, options)) }, options)
    }

    /// Calls `handler` with every change from now on, until the subscription is cancelled or the observer is no more.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - options: what it wants to know.
    ///   - isAdditional: whether the observer's former registrations remain. Unless it is told so, this one replaces them
    ///     and comes behind all others; former ones get no event any more.
    ///   - handler: must not capture the observer, only use the one that it is given.
    /// - Returns: the subscription, which need not be kept.
    @discardableResult
    public func observe<Observer: AnyObject & Sendable>(
        _ observer: Observer, _ options: ObservationOptions = .new, isAdditional: Bool = false,
        _ handler: @escaping @Sendable (Observer, Change<Value>) -> Void
    ) -> Subscription {
        register(
            Registration(observer, of: PartPath<Value, Value>(\.self).identity) { handler($0, Change($1, options)) },
            options, isReplacing: !isAdditional)
    }

    /// Ends all registrations of an observer that is held weakly, for the value and for its parts; where it has none,
    /// nothing happens.
    ///
    /// The work is the same however many others observe.
    public func remove(_ observer: some AnyObject & Sendable) { subject.remove(observer) }

    /// The changes from now on as an asynchronous sequence for one consumer; it ends with the observable.
    ///
    /// - Parameters:
    ///   - options: what the consumer wants to know.
    ///   - policy: which events wait for a slow consumer; with a bound, those that do not fit are dropped.
    public func changes(
        _ options: ObservationOptions = .new,
        buffering policy: AsyncStream<Change<Value>>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<Change<Value>> {
        whole.changes(options, buffering: policy)
    }

    /// The present value and those that follow as an asynchronous sequence for one consumer; it ends with the observable.
    ///
    /// - Parameter policy: which values wait for a slow consumer. By default it is the latest one: a consumer misses
    ///   values that come while it is busy, but never the last.
    public func values(
        buffering policy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> AsyncStream<Value> {
        whole.values(buffering: policy)
    }

    // MARK: Parts

    /// The part at a key path; every change of the value counts as a change of it.
    public func observing<Part: Sendable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Value, Part> {
        whole.observing(part)
    }

    /// The part at a key path; only what makes it unequal to what it was counts as a change of it.
    public func observing<Part: Sendable & Equatable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Value, Part> {
        whole.observing(part)
    }

    /// The part that is all of the value.
    var whole: ObservablePart<Value, Value> { ObservablePart(whole: self, path: PartPath(\.self)) }

    /// Adds an observer and, where the options say so, queues and delivers the initial event for it.
    func register(
        _ registration: Registration<Transition<Value>>, _ options: ObservationOptions, isReplacing: Bool = false
    ) -> Subscription {
        subject.removeVanished()
        // Under the lock, so that no change comes between the initial event and those that follow.
        let added = current.withLock { current in
            let initial = options.contains(.initial) ? Transition(old: nil, new: current.value) : nil
            return subject.add(registration, isReplacing: isReplacing, first: initial)
        }
        deliver()
        return added.subscription
    }
}
