// The searches that run, one for each session, each on a thread of its own.

internal import ArchiverKit
internal import Dispatch
internal import FileIO
internal import Threading

/// What searches call, so that tests can stop them.
struct SearchHooks: Sendable {
    /// Called before the first result and after each one, with their number.
    var onResult: @Sendable (Int) -> Void = { _ in }
    /// Called when a search ends.
    var onEnd: @Sendable (Search.Ending) -> Void = { _ in }
}

/// The searches of a server.
///
/// A page shows one search, so a new one ends the session's earlier one.
final class Searches: Sendable {
    private let running = Locked<[String: Search]>([:])
    /// How many more searches of lines may run now: each uses all processors, and memory for what it reads.
    private let free = DispatchSemaphore(value: Searches.limit)

    private static let limit = 2
    private let hooks: SearchHooks

    init(_ hooks: SearchHooks) { self.hooks = hooks }

    /// Begins a search, and ends the session's earlier one.
    ///
    /// - Parameters:
    ///   - waits: whether it waits while many others run, as it takes long.
    ///   - body: runs on a thread of its own, and sends the results.
    /// - Throws: `FileError` if no thread can be created.
    func begin(for session: String, waits: Bool, _ body: @escaping @Sendable (Search) -> Void) throws -> Search {
        let search = Search(hooks)
        let earlier = running.withLock { $0.updateValue(search, forKey: session) }
        earlier?.end(.replaced)
        try DetachedThread.start(for: "a search") { [self] in
            if waits { free.wait() }
            if search.ending == nil { body(search) }
            if waits { free.signal() }
            search.end(.finished)
            running.withLock { running in
                if running[session] === search { running[session] = nil }
            }
        }
        return search
    }
}

/// A search, whose thread sends lines, and whose connection takes them.
///
/// If the connection is slow, the thread waits.
final class Search: Sendable {
    enum Ending: Sendable {
        case finished
        /// The connection was closed.
        case closed
        /// The session has begun another search.
        case replaced
    }

    /// Lines of JSON.
    let lines: AsyncStream<[UInt8]>
    private let sender: AsyncStream<[UInt8]>.Continuation
    private let state = Locked<Ending?>(nil)
    // It begins with 0, because it must not be released with less than it began with.
    private let room = DispatchSemaphore(value: 0)

    /// When to send the next report.
    private let reported = Locked(ContinuousClock.now)
    private static let reportInterval: Duration = .milliseconds(250)

    /// The most lines that wait for the connection.
    private static let waitingLimit = 256

    private let hooks: SearchHooks

    init(_ hooks: SearchHooks) {
        self.hooks = hooks
        (lines, sender) = AsyncStream.makeStream()
        for _ in 0..<Search.waitingLimit { room.signal() }
    }

    /// How the search ended; nil while it runs.
    var ending: Ending? { state.withLock { $0 } }

    /// Ends the search, unless it has ended.
    func end(_ ending: Ending) {
        let isFirst = state.withLock { state in
            defer { state = state ?? ending }
            return state == nil
        }
        guard isFirst else { return }
        sender.finish()
        room.signal()
        hooks.onEnd(ending)
    }

    /// Sends a value as a line; waits while the connection has too many to take.
    ///
    /// - Returns: false if the search has ended.
    @discardableResult
    func send(_ value: some Encodable) -> Bool {
        guard ending == nil else { return false }
        room.wait()
        guard ending == nil, let line = try? Search.line(value) else { return false }
        sender.yield(line)
        return true
    }

    private struct Progress: Encodable {
        let progress: UInt64
        let total: UInt64
    }

    /// Sends how far the search is, if a while has passed since the last time.
    ///
    /// - Returns: how the search ended; nil if it goes on.
    func report(_ progress: OperationProgress) -> Ending? {
        let now = ContinuousClock.now
        let isDue = reported.withLock { next in
            defer { if next <= now { next = now + Search.reportInterval } }
            return next <= now
        }
        let reading = progress.reading
        if isDue, let total = reading.expectedEntries { send(Progress(progress: reading.entries, total: total)) }
        return ending
    }

    /// Tells how many results there are so far.
    func count(_ results: Int) { hooks.onResult(results) }

    /// Tells the thread that the connection has taken a line.
    func makeRoom() { room.signal() }

    static func line(_ value: some Encodable) throws -> [UInt8] {
        try JSONAnswer.bytes(of: value) + [UInt8(ascii: "\n")]
    }
}
