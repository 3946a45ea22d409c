// One root as the watcher's thread knows it: what is dirty, what is to be crawled, who waits for a batch.

internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

/// What a root is watched with.
struct RootSettings: Sendable {
    let path: FilePath
    let excluded: Set<FileIdentity>
    let timing: WatchTiming
    let events: Subject<WatchEvent>
}

/// The state of one root, which belongs to the watcher's thread.
final class WatchedRoot {
    enum Phase {
        /// The first crawl runs, or none was asked for yet.
        case unarmed
        case armed
        /// The root is not at its path; its parent is watched for its return.
        case unavailable
        /// The root is back and being crawled.
        case returning
    }

    private let settings: RootSettings
    let inotify: Inotify
    let hooks: WatcherHooks
    var reader = DirectoryReader()
    var tracker = ChangeTracker()
    private(set) var isRemote = false
    var watchShortage = false
    /// Whether directories were crawled since the last time nothing was left to crawl.
    var hasCrawled = false

    private var phase = Phase.unarmed
    private var root: OpenRoot?
    private var identity: FileStatus?
    private var rule: SettleRule
    private var gaps: [Gap] = []
    private var openGap: (cause: Gap.Cause, start: Timestamp)?
    private var told: Set<Degradation.Kind> = []
    private var poll = Backoff()
    /// The watch on the nearest existing directory above a root that is not there.
    private var lookout: Int32?

    private var arming: CheckedContinuation<Result<WatchStats, FileError>, Never>?
    private var waiters: [BatchTicket] = []
    private var flushes: [CheckedContinuation<Int?, Never>] = []
    private var flushCount = 0
    private var isFlushed = false

    init(_ settings: RootSettings, inotify: Inotify, hooks: WatcherHooks) {
        self.settings = settings
        self.inotify = inotify
        self.hooks = hooks
        rule = SettleRule(timing: settings.timing)
    }

    var excluded: Set<FileIdentity> { settings.excluded }

    // MARK: What callers ask for

    func arm(_ continuation: CheckedContinuation<Result<WatchStats, FileError>, Never>) {
        do throws(FileError) {
            let root = try OpenRoot(settings.path)
            let reach = try FileSystem.of(root.descriptor).reach
            if reach == .pseudo { throw FileError("watch", settings.path, .notSupported) }
            isRemote = reach == .remote
            identity = root.status
            self.root = root
        } catch {
            return continuation.resume(returning: .failure(error))
        }
        arming = continuation
        tracker.pending = [.root(reports: false)]
    }

    func enqueue(_ waiter: BatchTicket) { waiters.append(waiter) }

    /// Everything in the queue was read; the rest is to finish the crawls.
    func flush(_ continuation: CheckedContinuation<Int?, Never>) {
        for node in tracker.tree.polled { tracker.tree.path(of: node).map { mark(.subtree($0)) } }
        flushes.append(continuation)
    }

    /// Puts ranges back into the next batch; while the root is away there is nothing to look at.
    func putBack(_ ranges: [PathRange]) {
        if phase == .unavailable { return }
        for range in ranges { mark(range) }
    }

    func mark(_ range: PathRange) {
        tracker.dirty.mark(range)
        rule.noteChange(at: hooks.now())
    }

    /// Answers everyone who still waits: the watcher ends.
    func stop() {
        arming?.resume(returning: .failure(FileError("watch", settings.path, .canceled)))
        arming = nil
        for waiter in waiters { waiter.resume(nil) }
        waiters = []
        for flush in flushes { flush.resume(returning: nil) }
        flushes = []
        retireEverything()
    }

    // MARK: What the kernel tells

    func knows(watch: Int32) -> Bool { watch == lookout || tracker.tree.contains(watch: watch) }

    func apply(_ event: InotifyEvent) {
        if event.watch == lookout {
            tracker.rootNeedsCheck = true
            if event.mask.contains(.ignored) { lookout = nil }
        }
        if tracker.apply(event) { rule.noteChange(at: hooks.now()) }
    }

    /// Events were lost: everything is crawled again, watches stay.
    func rescan(missedSince start: Timestamp) {
        guard phase == .armed || phase == .returning || arming != nil else { return }
        if openGap == nil { openGap = (.overflow, start) }
        tracker.pending = [.root(reports: true)]
    }

    // MARK: What the thread does between reads

    /// The root, opened if it is the one that was armed.
    func openRoot() throws(FileError) -> OpenRoot {
        if let root { return root }
        let opened = try OpenRoot(settings.path)
        guard let identity, opened.status.isSameObject(as: identity) else {
            throw FileError("watch", settings.path, .noSuchFileOrDirectory)
        }
        root = opened
        return opened
    }

    /// Looks whether the root is at its path, where there is a reason to.
    func checkRoot() {
        guard tracker.rootNeedsCheck || phase == .unavailable && poll.isDue(at: hooks.now()) else { return }
        tracker.rootNeedsCheck = false
        switch phase {
        case .unavailable: lookForReturn()
        case .armed:
            // A new directory may have the old one's inode number, but it does not have its watch.
            if !isInPlace || tracker.tree.state(of: .root) == .unknown { becomeUnavailable() }
        case .returning: if !isInPlace { becomeUnavailable() }
        case .unarmed:
            guard let arming, !isInPlace else { return }
            self.arming = nil
            root = nil
            retireEverything()
            arming.resume(returning: .failure(FileError("watch", settings.path, .noSuchFileOrDirectory)))
        }
    }

    /// Marks what is polled, when its time has come, and tries again to watch it.
    func pollUnwatched() {
        guard phase == .armed, poll.isDue(at: hooks.now()) else { return }
        let polled = tracker.tree.polled
        if polled.isEmpty { return poll.stop() }
        for node in polled {
            if let place = tracker.tree.place(of: node) {
                tracker.pending.append(CrawlItem(place.name, in: place.parent, reports: true))
            } else {
                tracker.pending.append(.root(reports: true))
            }
        }
        poll.advance(from: hooks.now())
    }

    /// Concludes what the crawls found, once nothing is left to crawl.
    func finishCrawls() {
        guard tracker.pending.isEmpty, !tracker.rootNeedsCheck else { return }
        tracker.reapLimbo()
        guard hasCrawled else { return }
        hasCrawled = false
        root = nil
        let armed = phase == .returning || arming != nil ? tracker.tree.stats : nil
        if let armed {
            settings.events.send(phase == .returning ? .rootBack(armed) : .armed(armed))
            phase = .armed
        }
        closeGap()
        tellDegradation()
        // Last, so that whoever waited finds everything told.
        if let armed { arming?.resume(returning: .success(armed)) }
        arming = nil
    }

    /// Answers whoever can be answered now.
    func serve() {
        waiters.removeAll { $0.resumeIfCancelled() }
        if !hasPendingCrawls && !flushes.isEmpty {
            isFlushed = true
            for flush in flushes {
                flushCount += 1
                flush.resume(returning: flushCount)
            }
            flushes = []
        }
        guard let waiter = waiters.first, phase != .unarmed else { return }
        guard isFlushed || isDue else { return }
        if phase != .unavailable && !tracker.dirty.isEmpty && !isInPlace {
            becomeUnavailable()
            if hasPendingCrawls || !isFlushed { return }
        }
        waiters.removeFirst()
        waiter.resume(takeBatch())
    }

    /// When something must be done although no event comes; nil where nothing is pending.
    var nextDeadline: ContinuousClock.Instant? {
        if phase == .unarmed { return nil }
        return [waiters.isEmpty ? nil : rule.deadline, poll.next].compactMap { $0 }.min()
    }

    var hasPendingCrawls: Bool { !tracker.pending.isEmpty }

    // MARK: -

    private var isDue: Bool {
        // While directories are being crawled a batch waits for the crawl, but not beyond the longest delay.
        guard let due = hasPendingCrawls ? rule.latest : rule.deadline else { return false }
        return hooks.now() >= due
    }

    private func takeBatch() -> ChangeBatch {
        defer {
            rule.reset()
            gaps = []
            isFlushed = false
        }
        return ChangeBatch(
            ranges: tracker.dirty.take(), gaps: gaps, firstChange: rule.firstChange, flushes: flushCount)
    }

    private func closeGap() {
        guard let (cause, start) = openGap else { return }
        openGap = nil
        let gap = Gap(cause: cause, start: start, end: .now)
        gaps.append(gap)
        settings.events.send(.gap(gap))
    }

    private func tellDegradation() {
        if isRemote && told.insert(.remote).inserted { settings.events.send(.degraded(.remoteFileSystem)) }
        if watchShortage && told.insert(.watches).inserted {
            let stats = tracker.tree.stats
            let needed = stats.watchedDirectories + stats.polledDirectories
            settings.events.send(.degraded(.watchLimit(needed: needed, limit: Inotify.watchLimit)))
        }
        if poll.next == nil && !tracker.tree.polled.isEmpty { poll.start(from: hooks.now()) }
    }
}

// MARK: - A root that goes and comes back

extension WatchedRoot {
    /// Whether the root that was armed is at its path.
    private var isInPlace: Bool {
        guard let identity, let status = currentStatus else { return false }
        return status.isSameObject(as: identity)
    }

    private var currentStatus: FileStatus? {
        guard let directory = try? Descriptor.open(settings.path, O_RDONLY | O_DIRECTORY) else { return nil }
        return try? FileStatus.read(directory)
    }

    /// Forgets the tree, so that nothing of what is at the path now can pass for it, and waits for the return.
    private func becomeUnavailable() {
        retireEverything()
        root = nil
        rule.reset()
        openGap = (.rootUnavailable, .now)
        phase = .unavailable
        settings.events.send(.rootUnavailable)
        poll.start(from: hooks.now())
        lookForReturn()
    }

    private func lookForReturn() {
        watchAbove()
        if poll.isDue(at: hooks.now()) { poll.advance(from: hooks.now()) }
        // On another file system it is not the root but what an unmounted root had covered.
        guard let status = currentStatus, status.device == identity?.device else { return }
        identity = status
        phase = .returning
        poll.stop()
        giveUpLookout()
        tracker.pending = [.root(reports: true)]
    }

    /// Watches the nearest directory above the root that is there, before looking for the root.
    private func watchAbove() {
        var path = settings.path.removingLastComponent()
        while true {
            if let directory = try? Descriptor.open(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY) {
                let watch = try? inotify.add(directory)
                if watch != lookout { giveUpLookout() }
                lookout = watch
                return
            }
            if path.isEmpty || path.components.isEmpty { return }
            path.removeLastComponent()
        }
    }

    private func giveUpLookout() {
        if let lookout { inotify.retire([lookout]) }
        lookout = nil
    }

    private func retireEverything() {
        giveUpLookout()
        inotify.retire(tracker.tree.watches)
        tracker = ChangeTracker()
        hasCrawled = false
    }
}
