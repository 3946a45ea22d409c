// Shared helpers for tests of observers.

import Mementos
import Threading

/// A log of what observers recorded, in order.
final class Log<Item: Sendable>: Sendable {
    private let lines = Locked([Item]())

    func add(_ item: Item) { lines.withLock { $0.append(item) } }
    var items: [Item] { lines.withLock { $0 } }
    func removeAll() { lines.withLock { $0.removeAll() } }
}

/// A store for subscriptions that observers make and end themselves.
final class Keeper: Sendable {
    private let kept = Locked([Subscription]())

    func keep(_ subscription: Subscription) { kept.withLock { $0.append(subscription) } }
    func cancelAll() { kept.withLock { $0 }.forEach { $0.cancel() } }
    func dropAll() { kept.withLock { $0.removeAll() } }
}

/// An observer with a log, which reports its deallocation.
final class Listener<Item: Sendable>: Sendable {
    let log: Log<Item>
    private let ended: @Sendable () -> Void

    init(_ log: Log<Item> = Log(), ended: @escaping @Sendable () -> Void = {}) {
        self.log = log
        self.ended = ended
    }

    deinit { ended() }
}
