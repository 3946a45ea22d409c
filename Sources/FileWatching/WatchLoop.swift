// The watcher's thread: waits for events and requests, and does all work in between.

internal import CLinux
internal import FileIO
internal import Glibc

/// The watcher's main loop: owns the event sources and all roots, runs on one thread, sleeps while idle.
final class WatchLoop {
    /// The number of directories crawled between two reads of the queue.
    private static let crawlSlice = 64
    /// How long to wait after a wake-up so that a burst arrives in one read.
    private static let burstPauseMicroseconds: UInt32 = 1_000
    /// The number of overflows after which a read ends, so that a constant writer does not block all other work.
    private static let overflowsLimit = 64

    private let sources: EventSources
    private let mailbox: Mailbox
    private let hooks: WatcherHooks
    private let suspends: SuspendDetector
    private let mounts = MountWatcher()
    private var roots: [RootID: WatchedTree] = [:]
    /// The roots with work to do; there may be thousands of roots, and most are idle.
    private var awake: Set<RootID> = []
    /// When to visit roots even if no event arrives.
    private var deadlines: [RootID: ContinuousClock.Instant] = [:]
    /// Whether a forgotten root's watches still have to be removed.
    private var hasForgotten = false
    private var lastRead = Timestamp.now
    /// The number of overflow events so far.
    private var overflows = 0

    init(_ sources: EventSources, _ mailbox: Mailbox, _ hooks: WatcherHooks) {
        self.sources = sources
        self.mailbox = mailbox
        self.hooks = hooks
        suspends = SuspendDetector(hooks: hooks)
    }

    /// Runs until it is asked to stop.
    func run() {
        while true {
            let requests = mailbox.take()
            // One read serves all these requests: events from before them are in the queue now.
            if requests.contains(where: \.isAboutNow) { readEverything() }
            for (index, request) in requests.enumerated() {
                if case .stop(let continuation) = request {
                    return stop(continuation, refusing: requests[(index + 1)...])
                }
                handle(request)
            }
            visitRoots()
            let (ready, woken) = waitForEvents()
            for source in ready { read(source, atLeast: 1, wokenAt: woken) }
            if let duration = suspends.takeSuspend() {
                for (_, root) in wakeAll() { root.wasSuspended(for: duration) }
            }
        }
    }

    // MARK: Roots

    /// Does the work of the roots that are awake; roots without further work go to sleep.
    private func visitRoots() {
        if !deadlines.isEmpty {
            let now = hooks.now()
            for (id, deadline) in deadlines where deadline <= now { awake.insert(id) }
        }
        // A root that is woken during the visits is visited next time.
        let visited = awake.compactMap { id in roots[id].map { (id, $0) } }
        awake = []
        if visited.isEmpty && !hasForgotten { return }
        for (_, root) in visited {
            hooks.beforeVisiting()
            root.checkRoot()
            root.pollUnwatched()
            root.crawl(atMost: WatchLoop.crawlSlice)
            root.checkRoot()
            root.audit(atMost: WatchLoop.crawlSlice)
        }
        // Remove watches before and after: a lookout must go before the same directory is watched for its place only.
        removeRetired(of: visited.map(\.1))
        for (_, root) in visited { root.finishCrawls() }
        removeRetired(of: visited.map(\.1))
        for (_, root) in visited { root.serve() }
        for (id, root) in visited {
            if root.isBusy || root.isAuditing { awake.insert(id) }
            deadlines[id] = root.nextDeadline
        }
    }

    /// Marks all roots for a visit and returns them.
    private func wakeAll() -> [RootID: WatchedTree] {
        awake.formUnion(roots.keys)
        return roots
    }

    // MARK: Requests

    private func handle(_ request: Request) {
        if let id = request.root { awake.insert(id) }
        switch request {
        case .arm(let id, let settings, let waiting, let continuation):
            let root = WatchedTree(
                settings, sources: sources, hooks: hooks, readEvents: { [unowned self] in readEverything() })
            if let former = roots[id] { root.takeOver(from: former) }
            roots[id] = root
            root.arm(waiting: waiting, continuation)
        case .retime(let id, let timing):
            roots[id]?.rule.timing = timing
        case .nextBatch(let id, let ticket):
            if let root = roots[id] { root.enqueue(ticket) } else { request.refuse() }
        case .markDirty(let id, let ranges):
            roots[id]?.putBack(ranges)
        case .polled(let id, let found, let took):
            roots[id]?.polled(found: found, took: took)
        case .flush(let id, let continuation):
            if let root = roots[id] { root.flush(continuation) } else { request.refuse() }
        case .audit(let id, let continuation):
            if let root = roots[id] { root.audit(continuation) } else { request.refuse() }
        case .status(let id, let continuation):
            continuation.resume(returning: roots[id]?.status)
        case .forget(let id):
            roots.removeValue(forKey: id)?.stop()
            deadlines[id] = nil
            hasForgotten = true
        case .pulse(let continuation):
            continuation.resume(returning: true)
        case .look, .stop:
            break
        }
    }

    private func stop(_ continuation: CheckedContinuation<Void, Never>?, refusing later: ArraySlice<Request>) {
        for root in roots.values { root.stop() }
        for request in later { request.refuse() }
        mailbox.close()
        continuation?.resume()
    }

    // MARK: Sleep

    /// Sleeps until there is work to do.
    ///
    /// - Returns: the sources with queued events, and when that was noticed.
    private func waitForEvents() -> (ready: [any EventSource], woken: ContinuousClock.Instant) {
        let isBusy = !awake.isEmpty
        var timeout: timespec? = timespec()
        if !isBusy {
            let deadline = deadlines.values.min()
            timeout = deadline.map { time(until: $0) }
            hooks.beforeSleeping(deadline)
        }
        let sources = sources.all
        var waits = ([mailbox.wakeNumber, suspends.number, mounts.number] + sources.map(\.number)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        waits[2].events = MountWatcher.events
        sleep(&waits, atMost: timeout)
        let woken = hooks.now()
        if waits[1].revents != 0 { suspends.acknowledge() }
        if waits[2].revents != 0 { reportMountChanges() }
        let ready = zip(sources, waits.dropFirst(3)).filter { $1.revents != 0 }.map(\.0)
        if !ready.isEmpty && !isBusy && waits[0].revents == 0 { usleep(WatchLoop.burstPauseMicroseconds) }
        return (ready, woken)
    }

    /// Sleeps with a limit in nanoseconds, because poll(2) may wake up a millisecond late.
    private func sleep(_ waits: inout [pollfd], atMost limit: timespec?) {
        if var limit {
            _ = clinux_poll(&waits, CInt(waits.count), &limit)
        } else {
            _ = clinux_poll(&waits, CInt(waits.count), nil)
        }
    }

    private func time(until deadline: ContinuousClock.Instant) -> timespec {
        let (seconds, attoseconds) = hooks.now().duration(to: deadline).components
        if seconds < 0 || attoseconds < 0 { return timespec() }
        // Rounded up, so that the deadline has passed when the sleep ends.
        let nanoseconds = attoseconds / 1_000_000_000 + 1
        return timespec(tv_sec: Int(seconds + nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    // MARK: Events

    /// Reads and applies all events so far.
    ///
    /// Events are queued inside the system call that causes them, so the queue is complete.
    private func readEverything() {
        if mounts.hasChanged { reportMountChanges() }
        for source in sources.all { read(source, atLeast: source.backlog) }
    }

    /// Reads and applies events of one source.
    ///
    /// - Parameter wokenAt: when the events were noticed; changes settle from then on.
    private func read(_ source: any EventSource, atLeast count: Int, wokenAt: ContinuousClock.Instant? = nil) {
        hooks.beforeReading()
        let (time, wokenAt) = (Timestamp.now, wokenAt ?? hooks.now())
        var (consumed, wanted) = (0, count)
        let lastOverflow = overflows + WatchLoop.overflowsLimit
        // Only a crawl adds watches to a root, so it is enough to ask all roots about a watch once.
        var known: [WatchID: [RootID]] = [:]
        while consumed < wanted {
            let overflowsBefore = overflows
            let length = source.read { dispatch($0, from: source, at: time, wokenAt, &known) }
            if length == 0 { break }
            consumed += length
            // While an overflow event is queued, the kernel reports no further overflow. Events queued by now may be
            // older than the lost ones, and after the crawl they would be outdated: read them too.
            if overflows != overflowsBefore, overflows < lastOverflow { wanted = consumed + source.backlog }
        }
        lastRead = .now
    }

    private func dispatch(
        _ event: DirectoryEvent, from source: any EventSource, at time: Timestamp, _ wokenAt: ContinuousClock.Instant,
        _ known: inout [WatchID: [RootID]]
    ) {
        if event.mask.contains(.overflow) {
            overflows += 1
            return rescan()
        }
        if hooks.losesEvent(event.name) { return }
        if event.watch == .none {
            for (_, root) in wakeAll() { root.recheckUnreadable() }
            return
        }
        let asked = known[event.watch] ?? roots.filter { $0.value.knows(watch: event.watch) }.map(\.key)
        known[event.watch] = asked
        var isKnown = false
        for id in asked {
            guard let root = roots[id], root.knows(watch: event.watch) else { continue }
            isKnown = true
            root.apply(event, at: time, wokenAt)
            awake.insert(id)
        }
        if event.mask.contains(.ignored) {
            source.forget(event.watch)
        } else if !isKnown && !source.isRetired(event.watch)
            && !roots.values.contains(where: { $0.tracker.retired.contains(event.watch) })
        {
            rescan()
        }
    }

    private func reportMountChanges() {
        let changes = mounts.takeChanges()
        if changes.isEmpty { return }
        for (_, root) in wakeAll() { root.mountsChanged(at: changes) }
    }

    private func rescan() {
        for (_, root) in wakeAll() { root.rescan(missedSince: lastRead) }
    }

    /// Removes from the kernel the watches that `visited` and forgotten roots no longer use.
    private func removeRetired(of visited: [WatchedTree]) {
        hasForgotten = false
        for root in visited { sources.retire(root.tracker.takeRetired()) }
        let isIntact = sources.removeRetired { watch in roots.values.contains { $0.knows(watch: watch) } }
        if !isIntact { rescan() }
    }
}
