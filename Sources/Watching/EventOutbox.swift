// Events on their way to the observers: a queue with an end, and a thread that no capture waits for.

internal import Dispatch
internal import FileIO
internal import Mementos
internal import Threading

/// Delivers a service's events in order, on a thread of its own.
///
/// An observer may take as long as it likes, as a terminal does on which somebody has pressed Ctrl-S. Events that find no
/// room meanwhile are dropped and counted; in their place observers get `WatchService.Event.dropped`.
final class EventOutbox: Sendable {
    private struct State {
        var queue: [WatchService.Event] = []
        /// Events that were put into the queue, and those that all observers have got.
        var posted = 0
        var delivered = 0
        var hasEnded = false
    }

    private let subject: Subject<WatchService.Event>
    private let limit: Int
    private let state = Locked(State())
    private let hasNews = DispatchSemaphore(value: 0)
    private let deliveries = Milestones()

    /// - Parameter limit: events that wait at most; what tells of trouble finds room beyond that, as much again.
    init(_ subject: Subject<WatchService.Event>, limit: Int) {
        self.subject = subject
        self.limit = limit
    }

    /// Begins to deliver, until `finish`.
    ///
    /// - Throws: `FileError` where there can be no further thread.
    func start() throws(FileError) {
        try DetachedThread.start(for: "telling what happens") { [self] in
            while deliver() {}
        }
    }

    /// Puts an event into the queue; never waits.
    func post(_ event: WatchService.Event) {
        let isFirst = state.withLock { state in
            let isFirst = state.queue.isEmpty
            state.posted += state.queue.add(event, limit: limit) ? 1 : 0
            return isFirst
        }
        if isFirst { hasNews.signal() }
    }

    /// Waits until the observers have got everything so far.
    func delivered() async {
        await deliveries.wait(for: state.withLock { $0.posted })
    }

    /// Waits until the observers have got everything so far, but no longer than `limit`.
    func delivered(within limit: Duration) async {
        await FirstAnswer.isDone(within: limit) { await self.delivered() }
    }

    /// Delivers what is left, and ends the thread; waits no longer than `limit` for that.
    func finish(within limit: Duration) async {
        state.withLock { $0.hasEnded = true }
        hasNews.signal()
        await delivered(within: limit)
    }

    /// Waits for events and delivers them.
    ///
    /// - Returns: false when there will be no more.
    private func deliver() -> Bool {
        hasNews.wait()
        let (batch, isLast) = state.withLock { state in
            defer { state.queue = [] }
            return (state.queue, state.hasEnded)
        }
        for event in batch {
            subject.send(event)
            deliveries.reach(
                state.withLock { state in
                    state.delivered += 1
                    return state.delivered
                })
        }
        if isLast && batch.isEmpty { deliveries.end() } else if isLast { hasNews.signal() }
        return !(isLast && batch.isEmpty)
    }
}

extension [WatchService.Event] {
    /// Appends an event, or counts it as dropped where there are `limit` already.
    ///
    /// - Returns: whether there is one event more.
    fileprivate mutating func add(_ event: WatchService.Event, limit: Int) -> Bool {
        if count < (event.isTrouble ? 2 * limit : limit) {
            append(event)
            return true
        }
        if case .dropped(let events, let troubles) = last {
            self[count - 1] = .dropped(events: events + 1, troubles: troubles + (event.isTrouble ? 1 : 0))
            return false
        }
        append(.dropped(events: 1, troubles: event.isTrouble ? 1 : 0))
        return true
    }
}
