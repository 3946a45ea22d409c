// Snapshots on their way to those who have subscribed to them at a control socket.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Dispatch
internal import FileIO
internal import Threading
internal import WatchControl

/// One subscription: wakes the thread that writes to the subscriber.
///
/// What is written comes from the catalogue, at the pace of the subscriber: nothing is kept for one who is slow, nothing
/// gets lost, and no capture waits.
final class ControlFeed: Sendable {
    private struct State {
        var isAwake = true
        var hasEnded = false
    }

    private let state = Locked(State())
    private let news = DispatchSemaphore(value: 0)

    /// How long until it is looked whether the subscriber is still there, and for snapshots that others have made.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// Says that there is something new; never waits.
    func wake(andEnd hasEnded: Bool = false) {
        let isFirst = state.withLock { state in
            defer { state.isAwake = true }
            state.hasEnded = state.hasEnded || hasEnded
            return !state.isAwake
        }
        if isFirst { news.signal() }
    }

    /// Writes snapshots as they come, until the subscriber is gone or the watching has ended.
    ///
    /// - Parameters:
    ///   - start: the last snapshot that the subscriber knows.
    ///   - next: some of the snapshots behind one, in their order.
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

    /// Subscribers at once: each has a thread, and one of the server's connections.
    private static let limit = 32

    /// - Returns: nil where there are as many as there may be.
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
