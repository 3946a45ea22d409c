// The tie between an observer and its subject.

/// An observer's subscription: ends when it is cancelled, or when nobody keeps it.
///
/// The subscription of an observer that the subject holds weakly need not be kept: it ends with the observer.
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
    /// The observer is not called again, unless another thread has already begun to. One that is called on the main actor
    /// is never called again where the subscription is cancelled there.
    public func cancel() { end() }

    // MARK: Keeping

    /// Keeps the subscription in a set, and so as long as the set's owner: `store(in: &subscriptions)`.
    public func store(in subscriptions: inout Set<Subscription>) { subscriptions.insert(self) }

    /// Keeps the subscription in an array, or another collection that grows at its end.
    public func store(in subscriptions: inout some RangeReplaceableCollection<Subscription>) {
        subscriptions.append(self)
    }
}

extension Subscription: Hashable {
    /// Whether both are the same subscription.
    public static func == (one: Subscription, other: Subscription) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
