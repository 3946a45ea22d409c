// The tie between an observer and its subject.

/// An observer's subscription, which ends when it is cancelled or when its last reference is released.
///
/// If the subject holds the observer weakly, the subscription need not be stored: it ends with the observer.
public final class Subscription: Sendable {
    private let end: @Sendable () -> Void
    private let endsUnlessKept: Bool

    init(endsUnlessKept: Bool, end: @escaping @Sendable () -> Void) {
        self.endsUnlessKept = endsUnlessKept
        self.end = end
    }

    deinit {
        if endsUnlessKept { end() }
    }

    /// Ends the subscription; ending it twice does nothing.
    ///
    /// The observer is not called again, unless another thread has already started the call. A handler on the main
    /// actor is never called again after its subscription is cancelled on the main actor.
    public func cancel() { end() }

    // MARK: Keeping

    /// Stores the subscription in a set, so that it lives as long as the set: `store(in: &subscriptions)`.
    public func store(in subscriptions: inout Set<Subscription>) { subscriptions.insert(self) }

    /// Appends the subscription to an array, or to another collection that can append.
    public func store(in subscriptions: inout some RangeReplaceableCollection<Subscription>) {
        subscriptions.append(self)
    }
}

extension Subscription: Hashable {
    /// Whether both are the same subscription.
    public static func == (one: Subscription, other: Subscription) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
