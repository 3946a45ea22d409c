// One watched root as a value: what happens to it goes in, what is to be done comes out.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Decides what is done for one watched root.
///
/// It has no input or output, no lock, no task and no clock: `WatchedRoot` carries out its actions and hands their
/// results back as inputs. Everything that is known of the root is here, so its status is read off it.
struct RootMachine: Sendable {
    /// A time on the clock that never jumps, and on the wall.
    struct Moment: Sendable {
        let instant: ContinuousClock.Instant
        let time: Timestamp

        static var now: Moment { Moment(instant: .now, time: .now) }
    }

    enum State: Equatable {
        /// It is found out whether the root is there.
        case looking
        /// The root does not exist yet.
        case waiting
        /// Every directory gets its watch.
        case arming
        /// The root that was waited for is there: it may continue the history of another one.
        case appeared
        /// The first capture is made, of everything.
        case reading
        /// Every change is captured.
        case watching
        /// The last changes are captured.
        case ending(LastFlush)
        /// The watch ends, and something else is watched instead if the root was moved.
        case closing(FilePath?)
        /// The gaps that were open at the end of the watch are recorded.
        case leaving(FilePath?)
        case ended
    }

    /// The flush whose batch is the last one.
    enum LastFlush: Equatable {
        case needed, asked
        case number(Int)
    }

    /// Who asked for a flush: a request, an audit, or the end, whose batch is the last one.
    enum Caller: Hashable, Sendable {
        case request(Int)
        case audit, end
    }

    /// What other tasks ask for; each request has a number and gets one answer.
    enum Request: Sendable {
        /// To capture everything that has changed until now.
        case settle(withLargeFiles: Bool)
        case audit
        /// To watch with other rules.
        case follow(ExclusionRules)
    }

    /// The answer to a request: the result of an audit, or nil.
    typealias Answer = Result<AuditResult?, ArchiverError>

    /// What is known of the root's large files.
    struct LargeFileState: Sendable {
        var nextDue: ContinuousClock.Instant?
        var isAnyWaiting = false
        /// Whether a file is left to the next capture that scans it.
        var isAnyLeft = false
        /// Files that wait from now on because they change constantly.
        var unreported: [WatcherStatus.LargeFile] = []
    }

    enum Input: Sendable {
        case begin
        case looked(isThere: Bool, isNew: Bool)
        case armed(directories: Int)
        case armingFailed(ArchiverError, isCancelled: Bool)
        /// The root continues the history of another one, maybe with its rules.
        case continued(RelatedRoot?, ExclusionRules?)
        case continuingFailed(ArchiverError)
        /// Gaps are in the archive, or why not.
        case entered(ArchiverError?)
        /// Changes; nil if the watch was stopped.
        case batch(ChangeBatch?)
        case flushed(Caller, Int?)
        case captured(CaptureResult)
        case captureFailed(ArchiverError, rootIsMissing: Bool)
        /// Whether a retry is worthwhile.
        case madeRoom(Bool)
        /// A large file was read, and captured unless something else has to be captured first.
        case read(RelativePath, Result<CaptureResult?, ArchiverError>)
        /// No further large file is to be read now.
        case readNothing
        case madeRoomToRead
        case auditedWatches(repaired: Int)
        /// An audit's comparison has ended: the paths that differ, nil if that is unknown.
        case compared([RelativePath]?, entries: UInt64)
        case comparingFailed(ArchiverError)
        /// The watch has other rules, or why not.
        case restarted(ArchiverError?)
        case closed(openGaps: [Gap.Cause: Timestamp])
        // What the watch reports.
        case fellBack(Finding)
        case rootLeft
        case rootReturned
        // What others ask for.
        case ask(Request, id: Int)
        case changed(WatchSettings)
        case end
        case time
    }

    enum Action: Sendable {
        case look
        case arm
        case continueHistory
        case enter([GapRecord])
        case nextBatch
        case flush(Caller)
        case capture(CaptureOrder)
        case makeRoom(toRead: Bool)
        /// Read the next large file that is due, or the next of all.
        case read(all: Bool, passed: Set<RelativePath>)
        case auditWatches
        case compare
        case restart(ExclusionRules)
        /// End the watch, and say which gaps are open.
        case close
        case stopWatch
        case markDirty([PathRange])
        case polled(found: Bool, took: Duration)
        case report(WatchService.Event)
        /// Keep the error of the latest batch of changes; nil if they are captured.
        case record(ArchiverError?)
        case answer(Int, Answer)
        /// The root has ended; the place to watch instead.
        case finish(Result<FilePath?, ArchiverError>)
    }

    /// What one capture does.
    struct CaptureOrder: Sendable {
        let cause: Cause
        let ranges: [PathRange]
        let written: WrittenNames
        /// Whether large files are left for later; if not, those that wait are captured as well.
        let postpones: Bool
    }

    /// What is done in the archive: one thing at a time, except for the reading of large files and an audit's comparison.
    private enum Deed {
        case continuing, makingRoom, closing
        case entering([GapRecord])
        case capturing(Purpose, CaptureOrder, began: ContinuousClock.Instant)
    }

    private enum Purpose {
        case first, catchUp
        case batch(ChangeBatch, isLast: Bool)
        case audit([PathRange])
    }

    private struct Audit {
        enum Step {
            case watches, comparing, settling
            /// Another process may have made the latest snapshot: this watcher may capture differently.
            case catchUp
            case changes([PathRange])
        }

        let began: Moment
        var callers: [Int]
        var step = Step.watches
        var repaired = 0
        var entries: UInt64 = 0
        /// The paths that differ from the latest snapshot; nil if they are unknown.
        var changed: [RelativePath]?
        /// The ranges captured since the comparison began.
        var scanned: [PathRange] = []

        /// The ranges of changed paths that no capture has visited.
        var missed: [PathRange] {
            guard let changed, changed.count < RootMachine.pathsLimit else { return [.subtree(.root)] }
            return changed.filter { path in !scanned.contains { $0.covers(path) } }.map { .entry($0) }
        }
    }

    private struct Waiter {
        enum Stage: Equatable {
            case unarmed, flushing
            /// Until the changes before a flush are captured.
            case capturing(Int)
            /// Until the large files that wait are read: not yet, now, or again after a pause.
            case postponed, reading, pausing
        }

        let caller: Caller
        let withLargeFiles: Bool
        var stage = Stage.unarmed
    }

    // MARK: What is known

    private(set) var state = State.looking
    private(set) var isEndRequested = false
    private(set) var rules: ExclusionRules
    private(set) var settings: WatchSettings
    /// The caller of `handle` keeps it up to date.
    var largeFiles = LargeFileState()
    private let path: FilePath
    private let makeGap: @Sendable (GapCause, Timestamp, Timestamp) -> GapRecord
    private let waitsForRoot: Bool
    private let lastWatched: Timestamp?
    private let since: Timestamp
    private var now: Moment
    private var actions: [Action] = []

    private var isAway = false
    private var directories = 0
    private var fallbacks: [Finding] = []

    private var deed: Deed?
    private var retries: Backoff
    private var pauseEnd: ContinuousClock.Instant?
    /// Whether the next batch is waited for, and the batch that is to be captured next.
    private var isAsking = false
    private var batch: ChangeBatch?
    /// Whether the root was away before the batch, and may have been captured at another path.
    private var needsHistory = false
    private var lastCapture: Timestamp?
    private var failure: Finding?
    /// Ranges that the next capture must visit as well.
    private var deferred: Set<PathRange> = []
    /// Names written to since the last capture, and in the batch before it.
    private var written = WrittenNames()
    private var writtenBefore = WrittenNames()

    private var waiters: [Waiter] = []
    /// The number of the last flush whose changes are captured.
    private var captured = 0

    /// Gaps that are not in the archive yet, and whether to try to enter them.
    private var gaps: [GapRecord] = []
    private var mayEnter = false

    private var problems: [RelativePath: Problem] = [:]
    private var hasNewProblems = false
    /// Places to visit again after a pause: no event reports that a disk or a server has recovered.
    private var revisits: Set<PathRange> = []
    private var revisitDue: ContinuousClock.Instant?
    private var revisitRetries: Backoff

    /// The large files that were read in this turn, and whether all of them are captured.
    private var reading: (all: Bool, passed: Set<RelativePath>, isDone: Bool)?
    private var readingRetries: Backoff
    private var readingPauseEnd: ContinuousClock.Instant?

    private var audit: Audit?
    private var auditDue: ContinuousClock.Instant?
    private var lastAudit: AuditResult?

    /// Requests to watch with other rules, and when the first of them began.
    private var restarts: [(id: Int, rules: ExclusionRules)] = []
    private var restartBegan: Timestamp?
    private var isRestarting = false
    private var restartRetries: Backoff
    private var restartPauseEnd: ContinuousClock.Instant?

    /// How many problems are stored; further ones are dropped.
    private static let problemsLimit = 10_000
    /// From this many changed paths on, an audit captures the whole root instead of each path.
    static let pathsLimit = 65_536

    /// - Parameters:
    ///   - retries: the pauses before what failed is tried again.
    ///   - lastWatched: when the previous watcher was last active; nil if there was none.
    ///   - makeGap: makes the record of a gap.
    init(
        _ path: FilePath, _ rules: ExclusionRules, _ settings: WatchSettings, retries: Backoff, waitsForRoot: Bool,
        lastWatched: Timestamp?, at now: Moment,
        makeGap: @escaping @Sendable (GapCause, Timestamp, Timestamp) -> GapRecord
    ) {
        (self.path, self.rules, self.settings) = (path, rules, settings)
        (self.waitsForRoot, self.lastWatched, self.makeGap) = (waitsForRoot, lastWatched, makeGap)
        (self.retries, revisitRetries, readingRetries, restartRetries) = (retries, retries, retries, retries)
        (self.now, since) = (now, now.time)
    }

    /// Takes note of what has happened.
    ///
    /// - Returns: what is to be done, in this order. What takes time has a result, which is an input.
    mutating func handle(_ input: Input, at now: Moment) -> [Action] {
        self.now = now
        actions = []
        if state == .ended {
            if case .ask(_, let id) = input { act(.answer(id, .failure(notWatched))) }
            return actions
        }
        for file in largeFiles.unreported { act(.report(.largeFile(root: path, file))) }
        largeFiles.unreported = []
        apply(input)
        proceed()
        return actions
    }

    /// When the input `time` is due; nil if nothing is due by itself.
    var nextDue: ContinuousClock.Instant? {
        if state == .ended { return nil }
        return [pauseEnd, readingPauseEnd, restartPauseEnd, revisitDue, auditDue, largeFiles.nextDue]
            .compactMap { $0 }.filter { $0 > now.instant }.min()
    }

    private func isOver(_ end: ContinuousClock.Instant?) -> Bool { end.map { $0 <= now.instant } ?? true }

    private mutating func act(_ action: Action) { actions.append(action) }

    private mutating func apply(_ input: Input) {
        switch input {
        case .begin: act(.look)
        case .looked(let isThere, let isNew): looked(isThere, isNew)
        case .armed(let directories): armed(directories)
        case .armingFailed(let error, let isCancelled):
            finish(isCancelled && isEndRequested ? .success(nil) : .failure(error))
        case .continued(let related, let rules): continued(related, rules)
        case .continuingFailed(let error):
            // After an absence, the capture that follows meets the same failure.
            if state == .appeared { finish(.failure(error)) } else { continued(nil, nil) }
        case .entered(let error): entered(error)
        case .batch(let batch): took(batch)
        case .flushed(let caller, let number): flushed(caller, number)
        case .captured(let result): captured(result)
        case .captureFailed(let error, let rootIsMissing): captureFailed(error, rootIsMissing)
        case .madeRoom(let isWorthwhile):
            deed = nil
            if !isWorthwhile { pauseEnd = now.instant + retries.next() }
        case .read(let file, let result): read(file, result)
        case .readNothing: endReading()
        case .madeRoomToRead: readNext()
        case .auditedWatches(let repaired):
            audit?.repaired = repaired
            audit?.step = .catchUp
        case .compared(let changed, let entries): compared(changed, entries)
        case .comparingFailed(let error): endAudit(.failure(error))
        case .restarted(let error): restarted(error)
        case .closed(let openGaps): closed(openGaps)
        case .fellBack(let finding):
            fallbacks.append(finding)
            act(.report(.fallback(root: path, message: finding.message, remedy: finding.remedy)))
        case .rootLeft:
            isAway = true
            act(.report(.unavailable(root: path)))
            stopWaiting()
        case .rootReturned:
            isAway = false
            act(.report(.available(root: path)))
        case .ask(.settle(let withLargeFiles), let id):
            waiters.append(Waiter(caller: .request(id), withLargeFiles: withLargeFiles))
        case .ask(.audit, let id): askAudit(id)
        case .ask(.follow(let rules), let id): restarts.append((id, rules))
        case .changed(let settings):
            self.settings = settings
            if state == .watching { scheduleAudit() }
        case .end: end()
        case .time: break
        }
    }

    /// Begins what can be begun now.
    private mutating func proceed() {
        if !revisits.isEmpty, isOver(revisitDue) { revisit() }
        if state == .watching, let due = auditDue, isOver(due) {
            auditDue = nil
            askAudit(nil)
        }
        serveWaiters()
        restart()
        var former: State
        repeat {
            former = state
            if deed == nil { beginDeed() }
        } while state != former
        beginReading()
    }

    // MARK: The beginning

    private mutating func looked(_ isThere: Bool, _ isNew: Bool) {
        if state == .looking, !isThere, waitsForRoot {
            if isEndRequested { return finish(.success(nil)) }
            state = .waiting
            act(.report(.waiting(root: path)))
            return act(.arm)
        }
        act(.report(.starting(root: path, isNew: isNew)))
        if state == .appeared {
            deed = .continuing
            return act(.continueHistory)
        }
        state = .arming
        act(.arm)
    }

    private mutating func armed(_ directories: Int) {
        (self.directories, isAway) = (directories, false)
        if state == .waiting {
            state = .appeared
            act(.look)
        } else {
            beginFirstCapture()
        }
    }

    private mutating func continued(_ related: RelatedRoot?, _ rules: ExclusionRules?) {
        (deed, needsHistory) = (nil, false)
        if let related { act(.report(.related(root: path, related))) }
        if let rules { self.rules = rules }
        if state == .appeared { beginFirstCapture() }
    }

    private mutating func beginFirstCapture() {
        state = .reading
        if let lastWatched { record([makeGap(.downtime, lastWatched, now.time)]) }
    }

    // MARK: Captures

    /// Begins the next thing to be done in the archive.
    private mutating func beginDeed() {
        switch state {
        case .looking, .waiting, .arming, .appeared, .ended: return
        case .watching where needsHistory, .ending where needsHistory:
            deed = .continuing
            return act(.continueHistory)
        case .reading, .watching, .ending, .closing, .leaving: break
        }
        if mayEnter, !gaps.isEmpty {
            let new = gaps
            (deed, gaps, mayEnter) = (.entering(new), [], false)
            return act(.enter(new))
        }
        switch state {
        case .looking, .waiting, .arming, .appeared, .ended: return
        case .reading:
            if isOver(pauseEnd) { capture(.first, [.subtree(.root)]) } else if isEndRequested { close(nil) }
        case .watching: if !captureForAudit(), isOver(pauseEnd) { captureBatch() }
        case .ending(let flush): if !captureForAudit() { captureLast(flush) }
        case .closing:
            if reading != nil { return }
            deed = .closing
            act(.close)
        case .leaving(let place): finish(.success(place))
        }
    }

    private mutating func captureForAudit() -> Bool {
        switch audit?.step {
        case .catchUp: capture(.catchUp, [], postpones: true)
        case .changes(let ranges): capture(.audit(ranges), ranges, cause: .audit)
        case .watches, .comparing, .settling, nil: return false
        }
        return true
    }

    /// Captures the next batch; the one that has the flush `last` is the last one.
    private mutating func captureBatch(last: Int? = nil) {
        guard let batch else {
            if !isAsking { act(.nextBatch) }
            return isAsking = true
        }
        self.batch = nil
        let isLast = last.map { $0 <= batch.flushes } ?? false
        // The last capture leaves no large file for later.
        if batch.isEmpty, !isLast || !largeFiles.isAnyWaiting {
            applied(batch, isLast: isLast)
            return beginDeed()
        }
        written.formUnion(batch.written)
        capture(.batch(batch, isLast: isLast), batch.ranges, postpones: !isLast)
    }

    private mutating func captureLast(_ flush: LastFlush) {
        // If the root is away while it gets other rules, there is no further batch.
        if isRestarting, isAway { return close(nil) }
        switch flush {
        // The last capture has the large file that is being read; what else is due is captured meanwhile.
        case .needed where reading != nil: if isOver(pauseEnd) { captureBatch() }
        case .needed:
            state = .ending(.asked)
            act(.flush(.end))
        case .asked: break
        case .number(let number): captureBatch(last: number)
        }
    }

    private mutating func capture(
        _ purpose: Purpose, _ ranges: [PathRange], cause: Cause = .watch, postpones: Bool = false
    ) {
        var names = written
        names.formUnion(writtenBefore)
        let order = CaptureOrder(
            cause: cause, ranges: ranges.adding(Array(deferred)), written: names, postpones: postpones)
        deed = .capturing(purpose, order, began: now.instant)
        act(.capture(order))
    }

    private mutating func took(_ batch: ChangeBatch?) {
        isAsking = false
        guard let batch else { return close(nil) }
        self.batch = batch
        record(batch.gaps.map { makeGap($0.cause.recorded, $0.start, $0.end) })
        // While the root was away, it may have been captured at another path.
        needsHistory = batch.gaps.contains { $0.cause == .rootUnavailable }
        // While the machine slept, others may have changed a remote file system.
        if batch.gaps.contains(where: { $0.cause == .suspend }) { askAudit(nil) }
    }

    private mutating func captured(_ result: CaptureResult) {
        guard case .capturing(let purpose, let order, let began) = deed else { return }
        (deed, mayEnter, lastCapture, failure) = (nil, true, now.time, nil)
        if order.cause == .watch {
            (writtenBefore, written) = (written.withoutClosed, WrittenNames())
        }
        deferred = deferred.filter { range in !order.ranges.contains { $0.covers(range.path) } }
        deferred.formUnion(result.deferred)
        note(result.problems, within: order.ranges)
        if case .batch(let batch, _) = purpose, !batch.polled.isEmpty {
            act(.polled(found: result.snapshot != nil, took: began.duration(to: now.instant)))
        }
        if case .first = purpose {
            beginWatching(result)
        } else if let snapshot = result.snapshot {
            act(.report(.snapshot(snapshot)))
        }
        reportProblems(result)
        switch purpose {
        case .first: break
        case .batch(let batch, let isLast): applied(batch, isLast: isLast)
        case .catchUp: compare()
        case .audit: audited(result.snapshot)
        }
    }

    private mutating func beginWatching(_ first: CaptureResult) {
        act(.record(nil))
        act(
            .report(
                .watching(
                    root: path, directories: directories, snapshot: first.latest, isNew: first.snapshot != nil)))
        state = isEndRequested ? .ending(.needed) : .watching
        retries.reset()
        scheduleAudit()
    }

    /// Takes note that the changes of a batch are captured.
    private mutating func applied(_ batch: ChangeBatch, isLast: Bool) {
        act(.record(nil))
        retries.reset()
        captured = max(captured, batch.flushes)
        serveWaiters()
        if isLast {
            // A caller that asked after the last flush waits for changes that no batch brings any more.
            answerWaiters(true) { [.postponed, .reading, .pausing].contains($0.stage) }
            close(nil)
        }
    }

    private mutating func captureFailed(_ error: ArchiverError, _ rootIsMissing: Bool) {
        guard case .capturing(let purpose, _, _) = deed else { return }
        deed = nil
        var place: FilePath?
        if error.code == .otherRoot { place = error.path }
        switch purpose {
        case .first:
            if let place { return close(place) }
            if error.code == .noSpace { failed(error) } else { finish(.failure(error)) }
        case .batch(let batch, let isLast):
            markDirty(batch.ranges)
            if let place { return close(place) }
            // If the root disappeared, the watch reports it.
            if rootIsMissing { retries.reset() } else { failed(error) }
            if isLast { close(nil) }
        case .catchUp: endAudit(.failure(error))
        case .audit(let ranges):
            markDirty(ranges)
            endAudit(.failure(error))
        }
    }

    /// Makes room if the disk is full, else pauses.
    private mutating func failed(_ error: ArchiverError) {
        act(.record(error))
        reportIfNew(error)
        if error.code == .noSpace, !isEndRequested {
            deed = .makingRoom
            act(.makeRoom(toRead: false))
        } else {
            pauseEnd = now.instant + retries.next()
        }
    }

    /// Repeated errors are not reported.
    private mutating func reportIfNew(_ error: ArchiverError) {
        if failure?.message != error.message { act(.report(.error(root: path, error))) }
        failure = Finding(error)
    }

    // MARK: Gaps

    private mutating func record(_ new: [GapRecord]) {
        for gap in new { act(.report(.gap(gap))) }
        gaps += new
        if !new.isEmpty { mayEnter = true }
    }

    private mutating func entered(_ error: ArchiverError?) {
        if let error, case .entering(let failed) = deed {
            gaps = failed + gaps
            act(.report(.error(root: path, error)))
        }
        deed = nil
    }

    // MARK: Problems

    /// Takes note of the problems that were found within `ranges`.
    private mutating func note(_ found: [Problem], within ranges: [PathRange]) {
        let known = problems
        if !known.isEmpty { problems = known.filter { path, _ in !ranges.contains { $0.covers(path) } } }
        for problem in found where problems.count < RootMachine.problemsLimit {
            problems[problem.path] = problem
            if known[problem.path] != problem { hasNewProblems = true }
        }
        if !problems.values.contains(where: \.mayPass) { revisitRetries.reset() }
        audit?.scanned += ranges
    }

    private mutating func reportProblems(_ result: CaptureResult) {
        if let later = result.laterPrevious { act(.report(.wrongClock(root: path, later: later))) }
        guard result.problemCount > 0 else { return }
        // Beyond the limit, it is unknown which problems are new.
        if hasNewProblems || problems.count >= RootMachine.problemsLimit {
            act(.report(.problems(root: path, result.problems, count: result.problemCount)))
        }
        hasNewProblems = false
        // Unstable files are retried now, I/O errors after a pause; denied files wait for their next change.
        markDirty(result.problems.filter { $0.reason == .unstable }.map { .entry($0.path) })
        let failed = result.problems.filter(\.mayPass).map { PathRange.subtree($0.path) }
        if failed.isEmpty { return }
        if revisits.isEmpty { revisitDue = now.instant + revisitRetries.next() }
        revisits.formUnion(failed)
    }

    private mutating func revisit() {
        markDirty(revisits.sorted())
        revisits = []
    }

    private mutating func markDirty(_ ranges: [PathRange]) {
        if !ranges.isEmpty { act(.markDirty(ranges)) }
    }

    // MARK: Settling

    private mutating func flushed(_ caller: Caller, _ number: Int?) {
        switch caller {
        case .end:
            guard state == .ending(.asked) else { return }
            if let number { state = .ending(.number(number)) } else { close(nil) }
        case .request, .audit:
            guard let index = waiters.firstIndex(where: { $0.caller == caller }) else { return }
            if let number { return waiters[index].stage = .capturing(number) }
            answerWaiters(false) { $0.caller == caller }
        }
    }

    private mutating func serveWaiters() {
        let isArmed = ![.looking, .waiting, .arming, .appeared].contains(state)
        for index in waiters.indices {
            switch waiters[index].stage {
            case .unarmed where isArmed, .pausing where isOver(readingPauseEnd) && !isEndRequested:
                waiters[index].stage = .flushing
                act(.flush(waiters[index].caller))
            case .capturing(let number) where number <= captured: waiters[index].stage = .postponed
            default: break
            }
        }
        let isAnyWaiting = largeFiles.isAnyWaiting
        answerWaiters(true) { $0.stage == .postponed && !($0.withLargeFiles && isAnyWaiting) }
    }

    private mutating func answerWaiters(_ isSettled: Bool, _ isMeant: (Waiter) -> Bool) {
        let meant = waiters.filter(isMeant)
        waiters.removeAll(where: isMeant)
        for waiter in meant {
            switch waiter.caller {
            case .request(let id): act(.answer(id, isSettled ? .success(nil) : .failure(notWatched)))
            case .audit: if isSettled { auditSettled() } else { endAudit(.failure(notWatched)) }
            case .end: break
            }
        }
    }

    private var notWatched: ArchiverError {
        ArchiverError(
            .notWatched, "the watching of \(path) has ended", remedy: Advice.startWatching.text, path: path)
    }

    // MARK: Large files

    private mutating func beginReading() {
        guard reading == nil, state == .watching else { return }
        let isAll = waiters.contains { $0.stage == .postponed }
        guard isAll || largeFiles.nextDue.map(isOver) ?? false else { return }
        for index in waiters.indices where waiters[index].stage == .postponed { waiters[index].stage = .reading }
        reading = (isAll, [], true)
        readNext()
    }

    private mutating func readNext() {
        guard let reading, state == .watching else { return endReading() }
        act(.read(all: reading.all, passed: reading.passed))
    }

    private mutating func read(_ file: RelativePath, _ result: Result<CaptureResult?, ArchiverError>) {
        reading?.passed.insert(file)
        switch result {
        case .success(let result?):
            (lastCapture, failure) = (now.time, nil)
            note(result.problems, within: [.entry(file)])
            if let snapshot = result.snapshot { act(.report(.snapshot(snapshot))) }
            reportProblems(result)
        case .success(nil):
            reading?.isDone = false
            act(.markDirty([.entry(file)]))
        case .failure(let error):
            reading?.isDone = false
            // At the end, the last capture includes the file, and reports errors itself.
            if isEndRequested { break }
            reportIfNew(error)
            if error.code == .noSpace { return act(.makeRoom(toRead: true)) }
        }
        readNext()
    }

    private mutating func endReading() {
        let isDone = reading?.isDone ?? true && !largeFiles.isAnyLeft
        reading = nil
        if isDone {
            readingRetries.reset()
            return answerWaiters(true) { $0.stage == .reading }
        }
        guard waiters.contains(where: { $0.stage == .reading }) else { return }
        // A change that prevented the commit may have to be captured first.
        for index in waiters.indices where waiters[index].stage == .reading { waiters[index].stage = .pausing }
        readingPauseEnd = now.instant + readingRetries.next()
    }

    // MARK: Audits

    private mutating func scheduleAudit() {
        let interval = settings.usedAuditInterval
        auditDue = interval == .zero ? nil : now.instant + interval
    }

    /// Begins an audit, or waits for the one in progress.
    private mutating func askAudit(_ id: Int?) {
        let callers = id.map { [$0] } ?? []
        audit?.callers += callers
        if audit != nil { return }
        audit = Audit(began: now, callers: callers)
        if isEndRequested { return endAudit(.failure(notWatched)) }
        guard phase == .watching else {
            return endAudit(
                .failure(
                    ArchiverError(
                        .noSuchDirectory, "\(path) cannot be audited: it is \(phase.rawValue)",
                        remedy: "try again when it is watched", path: path)))
        }
        act(.auditWatches)
    }

    private mutating func compare() {
        if audit == nil { return }
        audit?.step = .comparing
        audit?.scanned = []
        act(.compare)
    }

    private mutating func compared(_ changed: [RelativePath]?, _ entries: UInt64) {
        if audit == nil { return }
        audit?.changed = changed
        audit?.entries = entries
        audit?.step = .settling
        waiters.append(Waiter(caller: .audit, withLargeFiles: true))
    }

    private mutating func auditSettled() {
        guard let missed = audit?.missed else { return }
        if missed.isEmpty { audited(nil) } else { audit?.step = .changes(missed) }
    }

    private mutating func audited(_ snapshot: ListedSnapshot?) {
        guard let audit else { return }
        var result = AuditResult(time: audit.began.time, entries: audit.entries, repaired: audit.repaired)
        result.seconds = audit.began.instant.duration(to: now.instant).seconds
        if let snapshot {
            result.snapshot = snapshot.id
            result.found = Int(snapshot.changes.added + snapshot.changes.modified + snapshot.changes.removed)
        }
        endAudit(.success(result))
    }

    private mutating func endAudit(_ result: Result<AuditResult, ArchiverError>) {
        guard let audit else { return }
        self.audit = nil
        waiters.removeAll { $0.caller == .audit }
        switch result {
        case .success(let result):
            lastAudit = result
            act(.report(.audited(root: path, result)))
        case .failure(let error): if !isEndRequested { act(.report(.error(root: path, error))) }
        }
        for id in audit.callers { act(.answer(id, result.map { $0 })) }
        if auditDue == nil { scheduleAudit() }
    }

    // MARK: Other rules

    private mutating func restart() {
        if isEndRequested, !isRestarting { return refuseRestarts(notWatched) }
        guard state == .watching, !isRestarting, isOver(restartPauseEnd), let next = restarts.first else { return }
        (rules, isRestarting, restartBegan) = (next.rules, true, restartBegan ?? now.time)
        act(.restart(rules))
    }

    private mutating func restarted(_ error: ArchiverError?) {
        isRestarting = false
        if let error {
            if isEndRequested { return refuseRestarts(error) }
            act(.report(.error(root: path, error)))
            return restartPauseEnd = now.instant + restartRetries.next()
        }
        // Files that existed only while the watches were recreated may be missing.
        record([makeGap(.downtime, restartBegan ?? now.time, now.time)])
        (restartBegan, isAway) = (nil, false)
        restartRetries.reset()
        act(.markDirty([.subtree(.root)]))
        act(.answer(restarts.removeFirst().id, .success(nil)))
    }

    private mutating func refuseRestarts(_ error: ArchiverError) {
        for restart in restarts { act(.answer(restart.id, .failure(error))) }
        restarts = []
    }

    // MARK: The end

    private mutating func end() {
        if isEndRequested { return }
        isEndRequested = true
        revisit()
        // What an audit has found is captured; another one is not continued.
        if case .changes = audit?.step {} else { endAudit(.failure(notWatched)) }
        auditDue = nil
        stopWaiting()
        if state == .watching { state = .ending(.needed) }
    }

    /// Ends the wait for a root that is missing before it was captured.
    private mutating func stopWaiting() {
        guard isEndRequested else { return }
        if state == .waiting || state == .arming && isAway { act(.stopWatch) }
    }

    /// Ends the watch as soon as the archive is free.
    private mutating func close(_ place: FilePath?) {
        switch state {
        case .closing, .leaving, .ended: break
        default: state = .closing(place)
        }
    }

    private mutating func closed(_ openGaps: [Gap.Cause: Timestamp]) {
        guard case .closing(let place) = state else { return }
        (deed, state, mayEnter) = (nil, .leaving(place), true)
        record(openGaps.sorted { $0.value < $1.value }.map { makeGap($0.key.recorded, $0.value, now.time) })
    }

    private mutating func finish(_ result: Result<FilePath?, ArchiverError>) {
        isEndRequested = true
        answerWaiters(false) { _ in true }
        endAudit(.failure(notWatched))
        refuseRestarts(notWatched)
        state = .ended
        switch result {
        case .success(nil): act(.report(.stopped(root: path)))
        case .success: break
        case .failure: act(.stopWatch)
        }
        act(.finish(result))
    }
}

// MARK: Status

extension RootMachine {
    var phase: WatcherStatus.Phase {
        switch state {
        case .waiting: .waiting
        case _ where isAway: .unavailable
        case .looking, .arming, .appeared, .reading: .reading
        case .watching, .ending, .closing, .leaving, .ended: .watching
        }
    }

    /// Directories that earlier captures deferred, because only their time had changed.
    var deferredDirectories: Set<RelativePath> {
        Set(deferred.compactMap { if case .entry(let path) = $0 { path } else { nil } })
    }

    /// The status, with what the watch itself says.
    ///
    /// - Parameters:
    ///   - isCurrent: whether everything that changed before the request is captured.
    ///   - probe: how long that was waited for.
    func status(_ watch: TreeWatchStatus?, process: Int32, isCurrent: Bool, probe: Duration) -> WatcherStatus {
        let stats = watch?.stats
        var isCapturing = false
        if case .capturing = deed { isCapturing = true }
        var status = WatcherStatus(
            process: process, phase: phase, backend: stats?.backends ?? "none", since: since, isCurrent: isCurrent,
            probeSeconds: probe.seconds, lastEvent: watch?.lastEvent,
            backlog: (watch?.dirtyRanges ?? 0) + (watch?.pendingCrawls ?? 0) + (isCapturing ? 1 : 0),
            directories: WatcherStatus.Directories(
                watched: stats?.watchedDirectories ?? 0, polled: stats?.polledDirectories ?? 0,
                unreadable: stats?.unreadableDirectories ?? 0, mountPoints: stats?.mountPoints ?? 0,
                excluded: stats?.excludedDirectories ?? 0))
        status.openGaps = (watch?.openGaps ?? [:]).map { WatcherStatus.OpenGap(cause: $0.recorded, start: $1) }
            .sorted { $0.start < $1.start }
        status.lastCapture = lastCapture
        status.problemCount = problems.count
        status.problems = Array(problems.values.sorted { $0.path < $1.path }.prefix(20))
        (status.failure, status.fallbacks, status.lastAudit) = (failure, fallbacks, lastAudit)
        return status
    }
}

extension WatchStats {
    /// The backends in use, joined by "+".
    fileprivate var backends: String {
        let used = [
            ("inotify", inotifyDirectories), ("fanotify", fanotifyDirectories), ("poll", polledDirectories),
        ].filter { $0.1 > 0 }
        return used.isEmpty ? "none" : used.map(\.0).joined(separator: "+")
    }
}

extension [PathRange] {
    /// These ranges and others, in walk order and without overlap.
    func adding(_ others: [PathRange]) -> [PathRange] {
        if others.isEmpty { return self }
        if others.contains(.subtree(.root)) || contains(.subtree(.root)) { return [.subtree(.root)] }
        let rest = others.filter { range in !contains { $0.covers(range.path) } }
        return (self + rest).sorted()
    }
}

extension Problem {
    /// Whether the problem may pass without any event: an I/O error of a disk or a server, unlike denied access.
    fileprivate var mayPass: Bool {
        reason == .unreadable
            && ![Errno.permissionDenied, .notPermitted].contains { $0.description == detail }
    }
}

extension Gap.Cause {
    /// The cause as the archive records it.
    fileprivate var recorded: GapCause {
        switch self {
        case .overflow: .overflow
        case .rootUnavailable: .unavailable
        case .polling: .polling
        case .suspend: .suspend
        }
    }
}
