// What tests of observers share.

import Mementos
import Threading

/// What observers wrote down, in order.
final class Log<Item: Sendable>: Sendable {
    private let lines = Locked([Item]())

    func add(_ item: Item) { lines.withLock { $0.append(item) } }
    var items: [Item] { lines.withLock { $0 } }
    func removeAll() { lines.withLock { $0.removeAll() } }
}

/// Subscriptions that observers make and end themselves.
final class Keeper: Sendable {
    private let kept = Locked([Subscription]())

    func keep(_ subscription: Subscription) { kept.withLock { $0.append(subscription) } }
    func cancelAll() { kept.withLock { $0 }.forEach { $0.cancel() } }
    func dropAll() { kept.withLock { $0.removeAll() } }
}

/// An observer that writes down what it is told, and where it ends.
final class Listener<Item: Sendable>: Sendable {
    let log: Log<Item>
    private let ended: @Sendable () -> Void

    init(_ log: Log<Item> = Log(), ended: @escaping @Sendable () -> Void = {}) {
        self.log = log
        self.ended = ended
    }

    deinit { ended() }
}
