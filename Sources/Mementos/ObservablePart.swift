// A part of an observable value, seen through a key path.

/// A part of an ``Observable`` that is observed for itself.
///
/// Observers get the changes of the whole that change the part; where the part is equatable, those that make it unequal
/// to what it was. The part is only to be read: to change it, update the whole.
///
/// A part keeps its whole; the observers of a part do not.
public struct ObservablePart<Whole: Sendable, Value: Sendable>: Sendable {
    private let whole: Observable<Whole>
    private let path: PartPath<Whole, Value>
    /// Whether the part is the same in both; nil where every change of the whole counts.
    private let isSame: (@Sendable (Whole, Whole) -> Bool)?

    init(
        whole: Observable<Whole>, path: PartPath<Whole, Value>, isSame: (@Sendable (Whole, Whole) -> Bool)? = nil
    ) {
        self.whole = whole
        self.path = path
        self.isSame = isSame
    }

    /// The present value of the part.
    public var value: Value { path.value(in: whole.value) }

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
        register(options) { handler(Change($0, options)) }
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
        register(observer, options, isAdditional: isAdditional) { handler($0, Change($1, options)) }
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

    // MARK: Parts

    /// The part of this part at a key path; every change of this part counts as a change of it.
    public func observing<Part: Sendable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Whole, Part> {
        ObservablePart<Whole, Part>(whole: whole, path: path.appending(part), isSame: isSame)
    }

    /// The part of this part at a key path; only what makes it unequal to what it was counts as a change of it.
    public func observing<Part: Sendable & Equatable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Whole, Part> {
        ObservablePart<Whole, Part>(whole: whole, equatablePath: path.appending(part))
    }

    // MARK: Registering

    /// Registers a handler for the transitions of the part.
    func register(
        _ options: ObservationOptions, subjectEnded: @escaping @Sendable () -> Void = {},
        subscriptionEnded: @escaping @Sendable () -> Void = {},
        _ receive: @escaping @Sendable (Transition<Value>) -> Void
    ) -> Subscription {
        let part = transition
        return whole.register(
            Registration(
                { if let change = part($0) { receive(change) } }, subjectEnded: subjectEnded,
                subscriptionEnded: subscriptionEnded), options)
    }

    /// Registers an observer that is held weakly for the transitions of the part.
    func register<Observer: AnyObject & Sendable>(
        _ observer: Observer, _ options: ObservationOptions, isAdditional: Bool,
        subscriptionEnded: @escaping @Sendable () -> Void = {},
        _ receive: @escaping @Sendable (Observer, Transition<Value>) -> Void
    ) -> Subscription {
        let part = transition
        return whole.register(
            Registration(observer, of: path.identity, subscriptionEnded: subscriptionEnded) {
                if let change = part($1) { receive($0, change) }
            }, options, isReplacing: !isAdditional)
    }

    private func stream<Element: Sendable>(
        _ options: ObservationOptions, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        _ element: @escaping @Sendable (Transition<Value>) -> Element
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: policy) { continuation in
            let subscription = register(options, subjectEnded: { continuation.finish() }) {
                continuation.yield(element($0))
            }
            continuation.onTermination = { _ in subscription.cancel() }
        }
    }

    /// What a transition of the whole means for the part; nil where the part remains as it is.
    ///
    /// Observers hold this rather than the part, which keeps the whole.
    private var transition: @Sendable (Transition<Whole>) -> Transition<Value>? {
        { [path, isSame] whole in
            if let old = whole.old, let isSame, isSame(old, whole.new) { return nil }
            return Transition(old: whole.old.map { path.value(in: $0) }, new: path.value(in: whole.new))
        }
    }
}

extension ObservablePart where Value: Equatable {
    /// The part at `path`, of which only what makes it unequal to what it was is a change.
    init(whole: Observable<Whole>, equatablePath path: PartPath<Whole, Value>) {
        self.init(whole: whole, path: path) { path.value(in: $0) == path.value(in: $1) }
    }
}
