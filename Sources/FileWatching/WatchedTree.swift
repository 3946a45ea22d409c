// One root as the watcher's thread knows it: what is dirty, what is to be crawled, who waits for a batch.

internal import Exclusions
internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

/// What a root is watched with.
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

    /// The root's directory, open while it is being crawled.
    var root: OpenTree?
    /// The directory that is watched, wherever it is.
    var identity: FileStatus?
    /// Its path without links, when it was found.
    var realPath: [UInt8]?
    /// Whether a root that is not there when it is to be armed is waited for.
    var isWaitedFor = false
    /// The watch on the nearest existing directory above a root that is not there.
    var lookout: WatchID?
    /// The watches on the directories above the root, which tell of their own renaming only.
    var ancestors: Set<WatchID> = []
    /// When to look for a root that is not there although nothing tells of its return.
    var absence: Backoff

    /// Why the root as a whole is polled; nil where it need not be.
    var deafness: Degradation?
    var polling: PollSchedule
    /// What of the dirty ranges is there because it was polled.
    var polledPaths: Set<RelativePath> = []
    /// The limits that this root has met.
    var shortages: Set<KernelLimit> = []
    var told: Set<Degradation.Kind> = []
    /// Whether directories were crawled since the last time nothing was left to crawl.
    var hasCrawled = false

    var auditWork: AuditWork?
    /// Who asked for an audit while one was under way.
    var nextAudit: [CheckedContinuation<WatchAudit?, Never>]?
    /// Whether it is to be found out that the root's file system reports at all.
    var isUnproven = false
    /// The watch from which an event is expected, and whether it came.
    var probedWatch: WatchID?
    var hasHeardProbe = false
    private var eventCount = 0
    private var lastEvent: Timestamp?
    /// Takes in what the kernel has told so far, of all roots.
    let readEvents: () -> Void

    init(
        _ settings: RootSettings, sources: EventSources, hooks: WatcherHooks, readEvents: @escaping () -> Void
    ) {
        self.readEvents = readEvents
        self.settings = settings
        self.sources = sources
        self.hooks = hooks
        rule = SettleRule(timing: settings.timing)
        absence = Backoff(timeScale: settings.timing.timeScale)
        polling = PollSchedule(timeScale: settings.timing.timeScale)
        tracker = ChangeTracker(rules: settings.rules)
    }

    // MARK: What callers ask for

    func enqueue(_ ticket: BatchTicket) { callers.enqueue(ticket) }

    /// Everything in the queue was read; the rest is to finish the crawls.
    func flush(_ continuation: CheckedContinuation<Int?, Never>) {
        markPolled()
        // Whatever tells of its return may have been unseen: it is looked for.
        if phase.isAway { tracker.rootNeedsCheck = true }
        callers.enqueue(continuation)
    }

    /// Puts ranges back into the next batch; while the root is away there is nothing to look at.
    func putBack(_ ranges: [PathRange]) {
        if phase.isAway { return }
        for range in ranges { mark(range) }
    }

    func mark(_ range: PathRange) {
        tracker.dirty.mark(range)
        rule.recordChange(at: hooks.now())
    }

    /// Goes on in the place of `former`, which ends: who waits for it waits for this one.
    func takeOver(from former: WatchedTree) {
        (callers, gaps) = (former.callers, former.gaps)
        (former.callers, former.gaps) = (Callers(), GapLog())
        former.stop()
        // What it had not told yet is forgotten with it.
        mark(.subtree(.root))
    }

    /// Answers everyone who still waits: the watcher ends.
    func stop() {
        for cause in Gap.Cause.allCases { endGap(cause) }
        cancelAudit()
        callers.end(FileError("watch", settings.path, .canceled))
        retireEverything()
    }

    // MARK: What the kernel tells

    func knows(watch: WatchID) -> Bool {
        watch == lookout || watch == probedWatch || ancestors.contains(watch) || tracker.tree.contains(watch: watch)
    }

    /// Takes in an event that was read at `time`; that there was one to read was `heard` before.
    func apply(_ event: DirectoryEvent, at time: Timestamp, _ heard: ContinuousClock.Instant) {
        eventCount += 1
        lastEvent = time
        if event.watch == probedWatch && event.mask.contains(.attributes) { hasHeardProbe = true }
        if event.watch == lookout {
            tracker.rootNeedsCheck = true
            if event.mask.contains(.ignored) { lookout = nil }
        }
        if ancestors.contains(event.watch) {
            if event.name.isEmpty && !event.mask.isDisjoint(with: .place) { tracker.rootNeedsCheck = true }
            if event.mask.contains(.ignored) { ancestors.remove(event.watch) }
        }
        if tracker.apply(event) { rule.recordChange(at: heard) }
    }

    /// Looks again at directories that could not be read: the attributes of one may have changed.
    func recheckUnreadable() {
        for node in tracker.tree.unreadable {
            guard let place = tracker.tree.place(of: node) else { continue }
            tracker.pending.append(CrawlItem(place.name, in: place.parent, reports: true))
        }
    }

    /// Events were lost: everything is crawled again, watches stay.
    func rescan(missedSince start: Timestamp) {
        if phase.isAway { return }
        gaps.begin(.overflow, at: start)
        tracker.pending = [.root(reports: true)]
    }

    /// The machine has slept; others may have changed meanwhile what it has no watch on.
    func wasSuspended(for duration: Duration) {
        let end = Timestamp.now
        let (seconds, attoseconds) = duration.components
        let start = Timestamp(seconds: end.seconds - seconds, nanoseconds: end.nanoseconds)
            .advanced(byNanoseconds: -(attoseconds / 1_000_000_000))
        gaps.begin(.suspend, at: start)
        endGap(.suspend)
        audit(nil)
    }

    /// Something was mounted or unmounted at `paths`.
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

    // MARK: What the thread does between reads

    /// Concludes what the crawls found, once nothing is left to crawl.
    func finishCrawls() {
        if isBusy { return }
        tracker.reapLimbo()
        guard hasCrawled else { return }
        if phase != .armed {
            watchAncestors()
            // One may have been renamed before it was watched.
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
        reportDegradation()
        // Last, so that whoever waited finds everything told.
        if let armed { callers.answerArming(.success(armed)) }
    }

    /// Answers whoever can be answered now.
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

    /// When something must be done although no event comes; nil where nothing is pending.
    var nextDeadline: ContinuousClock.Instant? {
        if phase == .arming { return nil }
        return [callers.wantBatch ? rule.deadline : nil, polling.next, absence.next].compactMap { $0 }.min()
    }

    var hasPendingCrawls: Bool { !tracker.pending.isEmpty }

    /// Whether there is something to do at once.
    var isBusy: Bool { hasPendingCrawls || tracker.rootNeedsCheck }

    /// Whether an audit can go on.
    var isAuditing: Bool { auditWork != nil && phase == .armed }

    // MARK: -

    private var isDue: Bool {
        // While directories are being crawled a batch waits for the crawl, but not beyond the longest delay.
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
