// The Observer pattern for a value: observers are called with every change.

internal import Threading

/// A value whose changes are observed.
///
/// - A change is atomic: ``update(_:)`` reads, alters and writes the value while no other thread changes it.
/// - Observers get all changes, in the order in which they were made: the new value of one change is the old value of
///   the next. An observer never sees a value that is older than one it has already seen.
/// - Setting an equatable value to an equal one is not a change and sends no event. The initializer decides whether
///   values are equatable: the compiler must know it where `Observable(value)` is called.
/// - Events are delivered as those of a ``Subject``: one at a time, on a thread that changes the value. An observer may
///   change the value again; that event is delivered after the current one has reached all observers.
///
/// A module that also imports `Observation` must write `Mementos.Observable`.
public final class Observable<Value: Sendable>: Sendable {
    /// Held by the thread that changes the value.
    ///
    /// Reading the value does not need this lock.
    private let changing = Locked(())
    private let current: Locked<(value: Value, changeCount: UInt64)>
    private let subject = Subject<Transition<Value>>()
    private let areEqual: (@Sendable (Value, Value) -> Bool)?

    /// Creates an observable of a value that is not equatable: setting it is always a change.
    public init(_ value: Value) {
        current = Locked((value, 0))
        areEqual = nil
    }

    /// Creates an observable of an equatable value: setting an equal value is not a change.
    public init(_ value: Value) where Value: Equatable {
        current = Locked((value, 0))
        areEqual = { $0 == $1 }
    }

    /// The current value.
    ///
    /// The event of its last change may not have been delivered yet. During an update, this is the value before the
    /// update.
    public var value: Value { current.withLock { $0.value } }

    /// How often the value has changed.
    ///
    /// A change is counted when its new value can be read.
    package var changeCount: UInt64 { current.withLock { $0.changeCount } }

    /// Whether the value has observers.
    public var isObserved: Bool { subject.isObserved }

    /// How many entries of the observer list have been visited or moved so far; for tests.
    package var steps: Int { subject.steps }

    // MARK: Changing

    /// Sets the value.
    ///
    /// If the new value depends on the old one, use ``update(_:)``.
    public func set(_ value: Value) {
        update { $0 = value }
    }

    /// Changes the value atomically.
    ///
    /// - Parameter body: alters the value in place. If it throws, the value stays as it was. Until it returns, readers
    ///   get the old value. It must not change the observable itself: that ends the program.
    /// - Returns: what `body` returns.
    @discardableResult
    public func update<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try change(body)
        deliver()
        return result
    }

    /// Changes the value and queues the event.
    ///
    /// A caller that holds a lock must release it before it calls `deliver()`.
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
        // One of the two changes would be lost.
        guard let (result, old) = outcome else {
            endProgram(
                because: "an observable was changed within its own update: alter the value that the update is given")
        }
        // The old value's deinit may call back, so it is released here, outside the lock.
        return withExtendedLifetime(old) { result }
    }

    func deliver() { subject.deliver() }

    // MARK: Observing

    /// Calls `handler` with every later change, until the subscription ends.
    ///
    /// - Parameters:
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - handler: called on a thread that changes the value; should be quick, as it delays the next event.
    /// - Returns: the subscription, which ends when it is cancelled or released.
    public func observe(
        _ options: ObservationOptions = .new, _ handler: @escaping @Sendable (Change<Value>) -> Void
    ) -> Subscription {
        register(Registration { handler(Change($0, options)) }, options)
    }

    /// Calls `handler` with every later change, until the subscription is cancelled or the observer is deallocated.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - isAdditional: whether the observer's earlier registrations remain. By default, this one replaces them, and
    ///     is called after all other observers.
    ///   - handler: must not capture the observer, but use the one passed to it.
    /// - Returns: the subscription, which need not be stored.
    @discardableResult
    public func observe<Observer: AnyObject & Sendable>(
        _ observer: Observer, _ options: ObservationOptions = .new, isAdditional: Bool = false,
        _ handler: @escaping @Sendable (Observer, Change<Value>) -> Void
    ) -> Subscription {
        register(
            Registration(observer, of: PartPath<Value, Value>(\.self).identity) { handler($0, Change($1, options)) },
            options, isReplacing: !isAdditional)
    }

    /// Ends all registrations of a weakly held observer, for the value and for its parts; does nothing if it has none.
    ///
    /// The cost does not depend on the number of other observers.
    public func removeObserver(_ observer: some AnyObject & Sendable) { subject.removeObserver(observer) }

    /// Returns an asynchronous sequence of the later changes, for one consumer; it ends with the observable.
    ///
    /// - Parameters:
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - policy: which events are buffered for a slow consumer; a bounded buffer drops the rest.
    public func changes(
        _ options: ObservationOptions = .new,
        buffering policy: AsyncStream<Change<Value>>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<Change<Value>> {
        whole.changes(options, buffering: policy)
    }

    /// Returns an asynchronous sequence of the current and all later values, for one consumer; it ends with the
    /// observable.
    ///
    /// - Parameter policy: which values are buffered for a slow consumer. By default, the latest one: a consumer misses
    ///   values that arrive while it is busy, but never the last.
    public func values(
        buffering policy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> AsyncStream<Value> {
        whole.values(buffering: policy)
    }

    // MARK: Parts

    /// Returns the part at a key path.
    ///
    /// Every change of the value counts as a change of the part.
    public func observing<Part: Sendable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Value, Part> {
        whole.observing(part)
    }

    /// Returns the part at a key path.
    ///
    /// A change of the value counts only if the part's old and new values differ.
    public func observing<Part: Sendable & Equatable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Value, Part> {
        whole.observing(part)
    }

    /// Returns the part at a writable key path, through which it can be changed, too.
    ///
    /// Every change of the value counts as a change of the part.
    public func observing<Part: Sendable>(
        _ part: any WritableKeyPath<Value, Part> & Sendable
    ) -> WritablePart<Value, Part> {
        WritablePart(whole: self, appended: part)
    }

    /// Returns the part at a writable key path, through which it can be changed, too.
    ///
    /// A change of the value counts only if the part's old and new values differ.
    public func observing<Part: Sendable & Equatable>(
        _ part: any WritableKeyPath<Value, Part> & Sendable
    ) -> WritablePart<Value, Part> {
        WritablePart(whole: self, appended: part) { $0[keyPath: part] == $1[keyPath: part] }
    }

    /// The value as a part of itself.
    var whole: ObservablePart<Value, Value> { ObservablePart(whole: self, path: PartPath(\.self)) }

    /// Adds an observer.
    ///
    /// If the options contain `initial`, queues and delivers its initial event.
    func register(
        _ registration: Registration<Transition<Value>>, _ options: ObservationOptions, isReplacing: Bool = false
    ) -> Subscription {
        subject.removeVanished()
        // Under the lock, so that no change comes between the initial event and the next one.
        let added = current.withLock { current in
            let initial = options.contains(.initial) ? Transition(old: nil, new: current.value) : nil
            return subject.add(registration, isReplacing: isReplacing, first: initial)
        }
        deliver()
        return added.subscription
    }
}
