// A part of an observable value, seen through a key path.

/// A part of an ``Observable`` that is observed for itself.
///
/// Observers get the changes of the whole that change the part; where the part is equatable, those that make it unequal
/// to what it was. The part is only to be read: to change it, update the whole.
///
/// A part keeps its whole; the observers of a part do not.
public struct ObservablePart<Whole: Sendable, Value: Sendable>: Sendable {
    private let whole: Observable<Whole>
    private let keyPath: any KeyPath<Whole, Value> & Sendable
    private let areEqual: (@Sendable (Value, Value) -> Bool)?

    init(
        whole: Observable<Whole>, keyPath: any KeyPath<Whole, Value> & Sendable,
        areEqual: (@Sendable (Value, Value) -> Bool)?
    ) {
        self.whole = whole
        self.keyPath = keyPath
        self.areEqual = areEqual
    }

    /// The present value of the part.
    public var value: Value { whole.value[keyPath: keyPath] }

    /// Calls `handler` with every change from now on, until the subscription ends.
    ///
    /// - Parameters:
    ///   - options: what the observer wants to know.
    ///   - handler: called on the thread of one that changes the value; should be quick, as the next event waits for it.
    /// - Returns: the subscription, which ends when it is cancelled or no longer kept.
    public func observe(
        _ options: ObservationOptions = .new, _ handler: @escaping @Sendable (Change<Value>) -> Void
    ) -> Subscription {
        let part = transition
        return whole.register(
            Registration { if let change = part($0) { handler(Change(change, options)) } }, options)
    }

    /// Calls `handler` with every change from now on, until the subscription is cancelled or the observer is no more.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - options: what it wants to know.
    ///   - isAdditional: whether the observer's former registrations for this part remain. Unless it is told so, this one
    ///     replaces them.
    ///   - handler: must not capture the observer, only use the one that it is given.
    /// - Returns: the subscription, which need not be kept.
    @discardableResult
    public func observe<Observer: AnyObject & Sendable>(
        _ observer: Observer, _ options: ObservationOptions = .new, isAdditional: Bool = false,
        _ handler: @escaping @Sendable (Observer, Change<Value>) -> Void
    ) -> Subscription {
        let part = transition
        return whole.register(
            Registration(observer, of: keyPath) { if let change = part($1) { handler($0, Change(change, options)) } },
            options, isReplacing: !isAdditional)
    }

    /// The changes from now on as an asynchronous sequence for one consumer; it ends with the observable.
    ///
    /// - Parameters:
    ///   - options: what the consumer wants to know.
    ///   - policy: which events wait for a slow consumer; with a bound, those that do not fit are dropped.
    public func changes(
        _ options: ObservationOptions = .new,
        buffering policy: AsyncStream<Change<Value>>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<Change<Value>> {
        stream(options, policy) { Change($0, options) }
    }

    /// The present value and those that follow as an asynchronous sequence for one consumer; it ends with the observable.
    ///
    /// - Parameter policy: which values wait for a slow consumer. By default it is the latest one: a consumer misses
    ///   values that come while it is busy, but never the last.
    public func values(
        buffering policy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> AsyncStream<Value> {
        stream(.initial, policy) { $0.new }
    }

    private func stream<Element: Sendable>(
        _ options: ObservationOptions, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        _ element: @escaping @Sendable (Transition<Value>) -> Element
    ) -> AsyncStream<Element> {
        let part = transition
        return AsyncStream(bufferingPolicy: policy) { continuation in
            let registration = Registration<Transition<Whole>>(
                { if let change = part($0) { continuation.yield(element(change)) } },
                subjectEnded: { continuation.finish() })
            let subscription = whole.register(registration, options)
            continuation.onTermination = { _ in subscription.cancel() }
        }
    }

    /// What a transition of the whole means for the part; nil where the part remains as it is.
    ///
    /// Observers hold this rather than the part, which keeps the whole.
    private var transition: @Sendable (Transition<Whole>) -> Transition<Value>? {
        { [keyPath, areEqual] whole in
            let new = whole.new[keyPath: keyPath]
            guard let old = whole.old?[keyPath: keyPath] else { return Transition(old: nil, new: new) }
            return areEqual?(old, new) == true ? nil : Transition(old: old, new: new)
        }
    }
}
