// Sends snapshots to the subscribers at a control socket.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Dispatch
internal import FileIO
internal import Threading
internal import WatchControl

/// One subscription: wakes the thread that writes to the subscriber.
///
/// The snapshots are read from the catalogue at the subscriber's pace: nothing is buffered for a slow one, nothing is
/// lost, and no capture waits.
final class ControlFeed: Sendable {
    private struct State {
        var isAwake = true
        var hasEnded = false
    }

    private let state = Locked(State())
    private let news = DispatchSemaphore(value: 0)

    /// How often to check whether the subscriber is still connected, and whether other processes have made snapshots.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// Wakes the thread because there is something new; never waits.
    func wake(andEnd hasEnded: Bool = false) {
        let isFirst = state.withLock { state in
            defer { state.isAwake = true }
            state.hasEnded = state.hasEnded || hasEnded
            return !state.isAwake
        }
        if isFirst { news.signal() }
    }

    /// Writes new snapshots, until the subscriber disconnects or watching ends.
    ///
    /// - Parameters:
    ///   - start: the last snapshot that the subscriber knows.
    ///   - next: returns some of the snapshots after a given one, in their order.
    func run(
        on connection: ControlServer.Connection, from start: ListedSnapshot?,
        _ next: (ListedSnapshot?) throws -> [ListedSnapshot]
    ) throws {
        var last = start
        var first = ControlNews(.subscribed)
        first.id = start?.id.hex
        guard connection.write(first) else { return }
        while true {
            let hasEnded = state.withLock { state in
                state.isAwake = false
                return state.hasEnded
            }
            while case let found = try next(last), !found.isEmpty {
                for snapshot in found { guard connection.write(ControlNews(snapshot)) else { return } }
                last = found.last
            }
            if hasEnded { return _ = connection.write(ControlNews(.stopped)) }
            _ = news.wait(timeout: .now() + ControlFeed.patience)
            guard connection.hasPeer else { return }
        }
    }
}

/// The subscriptions of one root.
final class ControlFeeds: Sendable {
    private struct State {
        var feeds: [ControlFeed] = []
        var hasEnded = false
    }

    private let state = Locked(State())

    /// The most subscribers: each takes a thread, and one of the server's connections.
    private static let limit = 32

    /// - Returns: nil if the limit is reached.
    func add() -> ControlFeed? {
        state.withLock { state in
            guard state.feeds.count < ControlFeeds.limit else { return nil }
            let feed = ControlFeed()
            if state.hasEnded { feed.wake(andEnd: true) }
            state.feeds.append(feed)
            return feed
        }
    }

    func remove(_ feed: ControlFeed) { state.withLock { $0.feeds.removeAll { $0 === feed } } }

    func wake(andEnd hasEnded: Bool = false) {
        let feeds = state.withLock { state in
            state.hasEnded = state.hasEnded || hasEnded
            return state.feeds
        }
        for feed in feeds { feed.wake(andEnd: hasEnded) }
    }
}
