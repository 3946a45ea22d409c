// A part of an observable value, seen through a key path.

/// A part of an ``Observable`` with observers of its own.
///
/// Observers get the changes of the whole that may have changed the part. If the part is equatable, they get only the
/// changes after which it is unequal to what it was. A ``WritablePart`` can be changed, too.
///
/// A part holds its whole strongly; the observers of a part do not.
// Unchecked: the class is not final, but it and its only subclass have only constants that are Sendable.
public class ObservablePart<Whole: Sendable, Value: Sendable>: @unchecked Sendable {
    fileprivate let whole: Observable<Whole>
    private let path: PartPath<Whole, Value>
    /// Whether the part is the same in both values; nil if every change of the whole counts.
    fileprivate let isSame: (@Sendable (Whole, Whole) -> Bool)?

    init(
        whole: Observable<Whole>, path: PartPath<Whole, Value>, isSame: (@Sendable (Whole, Whole) -> Bool)? = nil
    ) {
        self.whole = whole
        self.path = path
        self.isSame = isSame
    }

    /// The current value of the part.
    public var value: Value { path.value(in: whole.value) }

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
        register(options) { handler(Change($0, options)) }
    }

    /// Calls `handler` with every later change, until the subscription is cancelled or the observer is deallocated.
    ///
    /// - Parameters:
    ///   - observer: held weakly except while its handler runs.
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - isAdditional: whether the observer's earlier registrations for this part remain. By default, this one
    ///     replaces them.
    ///   - handler: must not capture the observer, but use the one passed to it.
    /// - Returns: the subscription, which need not be stored.
    @discardableResult
    public func observe<Observer: AnyObject & Sendable>(
        _ observer: Observer, _ options: ObservationOptions = .new, isAdditional: Bool = false,
        _ handler: @escaping @Sendable (Observer, Change<Value>) -> Void
    ) -> Subscription {
        register(observer, options, isAdditional: isAdditional) { handler($0, Change($1, options)) }
    }

    /// Returns an asynchronous sequence of the later changes, for one consumer; it ends with the observable.
    ///
    /// - Parameters:
    ///   - options: what the events contain, and whether an initial event is sent.
    ///   - policy: which events are buffered for a slow consumer; a bounded buffer drops the rest.
    public func changes(
        _ options: ObservationOptions = .new,
        buffering policy: AsyncStream<Change<Value>>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<Change<Value>> {
        stream(options, policy) { Change($0, options) }
    }

    /// Returns an asynchronous sequence of the current and all later values, for one consumer; it ends with the
    /// observable.
    ///
    /// - Parameter policy: which values are buffered for a slow consumer. By default, the latest one: a consumer misses
    ///   values that arrive while it is busy, but never the last.
    public func values(
        buffering policy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> AsyncStream<Value> {
        stream(.initial, policy) { $0.new }
    }

    // MARK: Parts

    /// Returns the part of this part at a key path.
    ///
    /// Every change of this part counts as a change of it.
    public func observing<Part: Sendable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Whole, Part> {
        ObservablePart<Whole, Part>(whole: whole, path: path.appending(part), isSame: isSame)
    }

    /// Returns the part of this part at a key path.
    ///
    /// A change counts only if that part's old and new values differ.
    public func observing<Part: Sendable & Equatable>(
        _ part: any KeyPath<Value, Part> & Sendable
    ) -> ObservablePart<Whole, Part> {
        let path = path.appending(part)
        return ObservablePart<Whole, Part>(whole: whole, path: path) { path.value(in: $0) == path.value(in: $1) }
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

    /// Registers a weakly held observer for the transitions of the part.
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

/// A part of an ``Observable`` that can be changed: by itself, without knowing the whole.
///
/// A writable key path leads to it, such as that of a stored property. Changes are changes of the whole: they are atomic,
/// and the observers of the whole and of its other parts get them.
// Unchecked: it is built from Sendable key paths only, as `PartPath` is.
public final class WritablePart<Whole: Sendable, Value: Sendable>: ObservablePart<Whole, Value>, @unchecked Sendable {
    private let keyPath: WritableKeyPath<Whole, Value>

    /// - Parameter keyPath: made of Sendable key paths only.
    init(
        whole: Observable<Whole>, appended keyPath: WritableKeyPath<Whole, Value>,
        isSame: (@Sendable (Whole, Whole) -> Bool)? = nil
    ) {
        self.keyPath = keyPath
        super.init(whole: whole, path: PartPath(appended: keyPath), isSame: isSame)
    }

    /// Sets the part.
    ///
    /// If the new value depends on the old one, use ``update(_:)``.
    public func set(_ value: Value) {
        update { $0 = value }
    }

    /// Changes the part atomically; see ``Observable/update(_:)``.
    ///
    /// - Parameter body: alters the part in place. If it throws, the part stays as it was.
    /// - Returns: what `body` returns.
    /// - Throws: any error of `body`.
    @discardableResult
    public func update<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try whole.update { (whole) throws(Failure) in try body(&whole[keyPath: keyPath]) }
    }

    /// Returns the part of this part at a key path.
    ///
    /// Every change of this part counts as a change of it.
    public func observing<Part: Sendable>(
        _ part: any WritableKeyPath<Value, Part> & Sendable
    ) -> WritablePart<Whole, Part> {
        WritablePart<Whole, Part>(whole: whole, appended: keyPath.appending(path: part), isSame: isSame)
    }

    /// Returns the part of this part at a key path.
    ///
    /// A change counts only if that part's old and new values differ.
    public func observing<Part: Sendable & Equatable>(
        _ part: any WritableKeyPath<Value, Part> & Sendable
    ) -> WritablePart<Whole, Part> {
        let path = PartPath(appended: keyPath.appending(path: part))
        return WritablePart<Whole, Part>(whole: whole, appended: keyPath.appending(path: part)) {
            path.value(in: $0) == path.value(in: $1)
        }
    }
}
