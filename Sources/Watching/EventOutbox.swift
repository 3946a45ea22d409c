// The queue of events for observers: bounded, with a delivery thread that no capture waits for.

internal import Dispatch
internal import FileIO
internal import Mementos
internal import Threading

/// Delivers a service's events in order, on a thread of its own.
///
/// An observer may block for any time, such as a terminal after Ctrl-S. When the queue is full, further events are
/// dropped and counted; observers get `WatchService.Event.dropped` in their place.
final class EventOutbox: Sendable {
    private struct State {
        var queue: [WatchService.Event] = []
        /// The number of events queued so far, and of those delivered to all observers.
        var posted = 0
        var delivered = 0
        var hasEnded = false
    }

    private let subject: Subject<WatchService.Event>
    private let limit: Int
    private let state = Locked(State())
    private let hasNews = DispatchSemaphore(value: 0)
    private let deliveries = Milestones()

    /// - Parameter limit: the most events in the queue; warnings may fill it to twice that.
    init(_ subject: Subject<WatchService.Event>, limit: Int) {
        self.subject = subject
        self.limit = limit
    }

    /// Starts delivery, which runs until `finish`.
    ///
    /// - Throws: `FileError` if no thread can be started.
    func start() throws(FileError) {
        try DetachedThread.start(for: "delivering events") { [self] in
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

    /// Waits until everything queued so far is delivered.
    func delivered() async {
        await deliveries.wait(for: state.withLock { $0.posted })
    }

    /// Waits until everything queued so far is delivered, but no longer than `limit`.
    func delivered(within limit: Duration) async {
        await FirstAnswer.isDone(within: limit) { await self.delivered() }
    }

    /// Delivers the remaining events and ends the thread; waits no longer than `limit` for that.
    func finish(within limit: Duration) async {
        state.withLock { $0.hasEnded = true }
        hasNews.signal()
        await delivered(within: limit)
    }

    /// Waits for events and delivers them.
    ///
    /// - Returns: false when the outbox has ended.
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
    /// Appends an event, or counts it as dropped if the queue is full.
    ///
    /// - Returns: whether the queue has grown.
    fileprivate mutating func add(_ event: WatchService.Event, limit: Int) -> Bool {
        if count < (event.isWarning ? 2 * limit : limit) {
            append(event)
            return true
        }
        if case .dropped(let events, let warnings) = last {
            self[count - 1] = .dropped(events: events + 1, warnings: warnings + (event.isWarning ? 1 : 0))
            return false
        }
        append(.dropped(events: 1, warnings: event.isWarning ? 1 : 0))
        return true
    }
}
