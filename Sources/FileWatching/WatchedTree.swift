// One root as the watcher's thread knows it: dirty paths, directories to crawl, waiting callers.

internal import Exclusions
internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

/// The settings of a root's watch.
struct RootSettings: Sendable {
    let path: FilePath
    let excluded: Set<FileIdentity>
    let rules: ExclusionRules
    let timing: WatchTiming
    let events: Subject<WatchEvent>
}

/// The state of one root, which belongs to the watcher's thread.
final class WatchedTree {
    let settings: RootSettings
    let sources: EventSources
    let hooks: WatcherHooks
    var tracker: ChangeTracker
    var phase = WatchPhase.arming
    var callers = Callers()
    var gaps = GapLog()
    var rule: SettleRule

    /// The root's directory, open during crawls and audits.
    var root: OpenTree?
    /// The status of the watched directory, which identifies it wherever it is.
    var identity: FileStatus?
    /// The directory's path without links when it was found.
    var realPath: [UInt8]?
    /// Whether arming waits for a missing root.
    var isWaitedFor = false
    /// The watch on the nearest existing directory above a missing root.
    var lookout: WatchID?
    /// The watches on the directories above the root, which report only their own renaming.
    var ancestors: Set<WatchID> = []
    /// When to check again for a missing root, in case no event reports its return.
    var absence: PollSchedule

    /// Why the entire root is polled; nil if it can be watched.
    var fallbackOfRoot: Fallback?
    var polling: PollSchedule
    /// The dirty paths that are marked because they are polled.
    var polledPaths: Set<RelativePath> = []
    /// The limits that this root has reached.
    var shortages: Set<KernelLimit> = []
    var reported: Set<Fallback.Kind> = []
    /// Whether directories were crawled since the crawls were last finished.
    var hasCrawled = false

    var auditWork: AuditWork?
    /// The callers that requested an audit while one was running.
    var nextAudit: [CheckedContinuation<WatchAudit?, Never>]?
    /// Whether it still has to be checked that the root's file system reports events.
    var isUnproven = false
    /// The watch that the check expects an event from; `hasProbeEvent` says whether it came.
    var probedWatch: WatchID?
    var hasProbeEvent = false
    private var eventCount = 0
    private var lastEvent: Timestamp?
    /// Reads and applies all queued events of all roots.
    let readEvents: () -> Void

    init(
        _ settings: RootSettings, sources: EventSources, hooks: WatcherHooks, readEvents: @escaping () -> Void
    ) {
        self.readEvents = readEvents
        self.settings = settings
        self.sources = sources
        self.hooks = hooks
        rule = SettleRule(timing: settings.timing)
        absence = PollSchedule(from: 2, to: 32, timeScale: settings.timing.timeScale)
        polling = PollSchedule(from: 1, to: 60, timeScale: settings.timing.timeScale)
        tracker = ChangeTracker(rules: settings.rules)
    }

    // MARK: Requests

    func enqueue(_ ticket: BatchTicket) { callers.enqueue(ticket) }

    /// Adds a flush, after all queued events have been read; it is answered when the crawls are finished.
    func flush(_ continuation: CheckedContinuation<Int?, Never>) {
        markPolled()
        // Check for the root: its return may not have caused an event.
        if phase.isAway { tracker.rootNeedsCheck = true }
        callers.enqueue(continuation)
    }

    /// Puts ranges back into the next batch; does nothing while the root is away.
    func putBack(_ ranges: [PathRange]) {
        if phase.isAway { return }
        for range in ranges { mark(range) }
    }

    func mark(_ range: PathRange) {
        tracker.dirty.mark(range)
        rule.recordChange(at: hooks.now())
    }

    /// Replaces `former`, which ends, and takes over its waiting callers and gaps.
    func takeOver(from former: WatchedTree) {
        (callers, gaps) = (former.callers, former.gaps)
        (former.callers, former.gaps) = (Callers(), GapLog())
        former.stop()
        // The changes that it had not reported are lost, so everything is marked.
        mark(.subtree(.root))
    }

    /// Answers all waiting callers, because the watch ends.
    func stop() {
        for cause in Gap.Cause.allCases { endGap(cause) }
        cancelAudit()
        callers.end(FileError("watch", settings.path, .canceled))
        retireEverything()
    }

    // MARK: Events

    func knows(watch: WatchID) -> Bool {
        watch == lookout || watch == probedWatch || ancestors.contains(watch) || tracker.tree.contains(watch: watch)
    }

    /// Applies an event of this root.
    ///
    /// - Parameters:
    ///   - time: when the event was read.
    ///   - wokenAt: when it was noticed that events were queued; the change settles from then on.
    func apply(_ event: DirectoryEvent, at time: Timestamp, _ wokenAt: ContinuousClock.Instant) {
        eventCount += 1
        lastEvent = time
        if event.watch == probedWatch && event.mask.contains(.attributes) { hasProbeEvent = true }
        if event.watch == lookout {
            tracker.rootNeedsCheck = true
            if event.mask.contains(.ignored) { lookout = nil }
        }
        if ancestors.contains(event.watch) {
            if event.name.isEmpty && !event.mask.isDisjoint(with: .place) { tracker.rootNeedsCheck = true }
            if event.mask.contains(.ignored) { ancestors.remove(event.watch) }
        }
        if tracker.apply(event) { rule.recordChange(at: wokenAt) }
    }

    /// Crawls unreadable directories again, because the attributes of one may have changed.
    func recheckUnreadable() {
        for node in tracker.tree.unreadable {
            guard let place = tracker.tree.place(of: node) else { continue }
            tracker.pending.append(CrawlItem(place.name, in: place.parent, reports: true))
        }
    }

    /// Crawls everything again because events were lost; the watches stay.
    func rescan(missedSince start: Timestamp) {
        if phase.isAway { return }
        gaps.begin(.overflow, at: start)
        tracker.pending = [.root(reports: true)]
    }

    /// Records a gap and starts an audit after a suspend, during which other machines may have changed files.
    func wasSuspended(for duration: Duration) {
        let end = Timestamp.now
        let (seconds, attoseconds) = duration.components
        let start = Timestamp(seconds: end.seconds - seconds, nanoseconds: end.nanoseconds)
            .advanced(byNanoseconds: -(attoseconds / 1_000_000_000))
        gaps.begin(.suspend, at: start)
        endGap(.suspend)
        audit(nil)
    }

    /// Handles mounts and unmounts at `paths`.
    func mountsChanged(at paths: Set<[UInt8]>) {
        if phase.isAway { return tracker.rootNeedsCheck = true }
        guard let realPath else { return }
        for path in paths {
            switch MountRelation(of: path, to: realPath) {
            case .covers: tracker.rootNeedsCheck = true
            case .inside(let below): tracker.crawlAgain(below)
            case .elsewhere: break
            }
        }
    }

    var status: TreeWatchStatus {
        TreeWatchStatus(
            phase: phase, backends: sources.all.map(\.backend), stats: tracker.tree.stats, eventCount: eventCount,
            lastEvent: lastEvent, dirtyRanges: tracker.dirty.count, pendingCrawls: tracker.pending.count,
            openGaps: gaps.open, pollInterval: polling.next == nil ? nil : polling.interval)
    }

    // MARK: Work between reads

    /// Finishes the crawls once nothing is left to crawl.
    func finishCrawls() {
        if isBusy { return }
        tracker.reapLimbo()
        guard hasCrawled else { return }
        if phase != .armed {
            watchAncestors()
            // A directory above may have been renamed before it was watched.
            guard isInPlace else { return tracker.rootNeedsCheck = true }
        }
        hasCrawled = false
        root = nil
        let armed = phase == .armed ? nil : tracker.tree.stats
        if let armed {
            settings.events.send(phase == .returning ? .rootBack(armed) : .armed(armed))
            phase = .armed
        }
        endGap(.overflow)
        endGap(.rootUnavailable)
        followPolling()
        reportFallbacks()
        // Answer last, so that all events have been sent before the caller continues.
        if let armed { callers.answerArming(.success(armed)) }
    }

    /// Answers the callers that can be answered now.
    func serve() {
        callers.dropCancelled()
        if !hasPendingCrawls { callers.answerFlushes() }
        guard callers.wantBatch, phase != .arming, phase != .waiting else { return }
        guard callers.isFlushed || isDue else { return }
        if !phase.isAway && !tracker.dirty.isEmpty && !isInPlace {
            becomeUnavailable()
            if hasPendingCrawls || !callers.isFlushed { return }
        }
        callers.answer(takeBatch())
    }

    /// When the root must be visited even if no event comes; nil if nothing is pending.
    var nextDeadline: ContinuousClock.Instant? {
        if phase == .arming { return nil }
        return [callers.wantBatch ? rule.deadline : nil, polling.next, absence.next].compactMap { $0 }.min()
    }

    var hasPendingCrawls: Bool { !tracker.pending.isEmpty }

    /// Whether there is work to do immediately.
    var isBusy: Bool { hasPendingCrawls || tracker.rootNeedsCheck }

    /// Whether an audit can continue.
    var isAuditing: Bool { auditWork != nil && phase == .armed }

    // MARK: -

    private var isDue: Bool {
        // A batch waits for a running crawl, but not longer than the maximum delay.
        guard let due = hasPendingCrawls ? rule.latest : rule.deadline else { return false }
        return hooks.now() >= due
    }

    private func takeBatch() -> ChangeBatch {
        defer {
            rule.reset()
            polledPaths = []
        }
        defer { tracker.written = WrittenNames() }
        return ChangeBatch(
            ranges: tracker.dirty.take(), polled: polledPaths.sorted().map { .subtree($0) }, written: tracker.written,
            gaps: gaps.take(),
            firstChange: rule.firstChange, flushes: callers.flushCount)
    }

    func endGap(_ cause: Gap.Cause) {
        if let gap = gaps.end(cause, at: .now) { settings.events.send(.gap(gap)) }
    }
}
