// The tie between an observer and its subject.

/// An observer's subscription: ends when it is cancelled, or when nobody keeps it.
public final class Subscription: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }

    /// Ends the subscription; ending it twice does nothing.
    ///
    /// The observer is not called again, unless another thread has already begun to.
    public func cancel() { end() }
}
