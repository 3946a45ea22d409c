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
    /// The observer is not called again, unless another thread has already begun to.
    public func cancel() { end() }
}
