// A watched root that exists only in memory: the machine, a clock that the test sets, and a world for its actions.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import Exclusions
import FileIO
import Roots
import SystemPackage
import Testing
import Threading

@testable import Capturing
@testable import FileWatching
@testable import Watching

/// Carries out the actions of a `RootMachine` in a simulated world, and checks what holds at any time.
struct SimulatedRoot {
    // The world, which tests change.
    var isThere = true
    /// Where a link at the root's path leads.
    var place: FilePath?
    var isDiskFull = false
    /// Whether maintenance can free space.
    var canMakeRoom = false
    var isArchiveAway = false
    /// Whether the next reading of a large file finds that something else has to be captured first.
    var isSuperseded = false

    // What has happened.
    private(set) var machine: RootMachine
    private(set) var events: [WatchService.Event] = []
    private(set) var answers: [Int: RootMachine.Answer] = [:]
    private(set) var result: Result<FilePath?, ArchiverError>?
    private(set) var orders: [RootMachine.CaptureOrder] = []
    private(set) var entered: [GapRecord] = []
    /// The error of the latest batch.
    private(set) var unsaved: ArchiverError?
    /// The actions whose results are not given yet.
    private(set) var pending: [RootMachine.Action] = []
    /// What differs from the latest snapshot, and when that was changed.
    private(set) var changes: [PathRange: Int] = [:]
    /// The changes that no event has reported.
    private(set) var unnoticed: Set<PathRange> = []

    // The watch.
    private var dirty: Set<PathRange> = []
    private var endedGaps: [Gap] = []
    private var openGaps: [Gap.Cause: Timestamp] = [:]
    private var flushes = 0
    private var isFlushed = false
    private var isArmed = false
    private var isStopped = false

    // The large file.
    static let large: RelativePath = "large"
    private var largeDue: ContinuousClock.Instant?
    private var isLargeLeft = false
    /// How long the file waits after a change.
    var largeDelay = Duration.seconds(60)

    private let start = ContinuousClock.now
    private(set) var clock = Duration.zero
    private var step = 0
    /// When each request was made, and which ranges have to be captured before its answer.
    private var requests: [Int: (step: Int, covers: (PathRange) -> Bool)] = [:]

    static let path = FilePath("/root")

    init(waitsForRoot: Bool = false, lastWatched: Timestamp? = nil, auditInterval: Duration = .zero) {
        machine = RootMachine(
            SimulatedRoot.path, ExclusionRules(), WatchSettings(auditInterval: auditInterval),
            retries: Backoff(.seconds(1), atMost: .seconds(60)), waitsForRoot: waitsForRoot, lastWatched: lastWatched,
            at: RootMachine.Moment(instant: start, time: Timestamp(seconds: 1_000_000))
        ) { cause, start, end in
            GapRecord(rootPath: SimulatedRoot.path.bytes, host: "here", cause: cause, start: start, end: end)
        }
    }

    var now: RootMachine.Moment {
        RootMachine.Moment(
            instant: start + clock, time: Timestamp(seconds: 1_000_000 + clock.components.seconds))
    }

    /// The names of the events so far.
    var names: [String] { events.map(\.name) }

    // MARK: What happens

    /// Gives the machine an input, and begins what it orders.
    mutating func send(_ input: RootMachine.Input) {
        step += 1
        machine.largeFiles = RootMachine.LargeFileState(
            nextDue: largeDue, isAnyWaiting: largeDue != nil || isLargeLeft, isAnyLeft: isLargeLeft)
        let hadEnded = result != nil
        let actions = machine.handle(input, at: now)
        for action in actions { begin(action, hadEnded) }
        let busy = pending.filter {
            switch $0 {
            case .capture, .enter, .continueHistory, .makeRoom(toRead: false), .close: true
            default: false
            }
        }
        #expect(busy.count <= 1, "one thing at a time is done in the archive: \(busy)")
        for kind in [pending.count { if case .nextBatch = $0 { true } else { false } }, readings] {
            #expect(kind <= 1, "\(pending)")
        }
        if let due = machine.nextDue { #expect(due > now.instant, "what is due is done") }
        if result != nil { #expect(machine.nextDue == nil, "after the end nothing is scheduled") }
    }

    private var readings: Int { pending.count { if case .read = $0 { true } else { false } } }

    private mutating func begin(_ action: RootMachine.Action, _ hadEnded: Bool) {
        switch action {
        case .answer(let id, let answer):
            #expect(answers[id] == nil, "a request is answered once")
            answers[id] = answer
            if isSettled(id), let request = requests[id] {
                // The barrier: everything that was changed before it, and noticed, is captured.
                let missed = changes.filter {
                    $0.value < request.step && !unnoticed.contains($0.key) && request.covers($0.key)
                }
                #expect(missed.isEmpty, "captured after the barrier: \(missed)")
            }
            return
        default: #expect(!hadEnded, "after the end nothing is done: \(action)")
        }
        switch action {
        case .stopWatch: isStopped = true
        case .markDirty(let ranges):
            #expect(!ranges.isEmpty)
            if isThere { dirty.formUnion(ranges) }
        case .report(let event): events.append(event)
        case .record(let error): unsaved = error
        case .finish(let result):
            #expect(self.result == nil)
            self.result = result
        case .polled: break
        case .capture(let order):
            orders.append(order)
            pending.append(action)
        default: pending.append(action)
        }
    }

    /// Changes a file.
    mutating func change(_ name: String, isNoticed: Bool = true) {
        step += 1
        let range = PathRange.entry(RelativePath(name) ?? .root)
        changes[range] = step
        if isNoticed, isThere {
            unnoticed.remove(range)
            dirty.insert(range)
        } else {
            unnoticed.insert(range)
        }
    }

    /// The root leaves its path, or comes back.
    mutating func move(_ isThere: Bool) {
        if self.isThere == isThere { return }
        self.isThere = isThere
        guard isArmed else { return }
        if isThere {
            for range in changes.keys { changes[range] = step }
            if let begin = openGaps.removeValue(forKey: .rootUnavailable) {
                endedGaps.append(Gap(cause: .rootUnavailable, start: begin, end: now.time))
            }
            dirty = [.subtree(.root)]
            unnoticed = []
            send(.rootReturned)
        } else {
            openGaps[.rootUnavailable] = now.time
            dirty = []
            unnoticed = Set(changes.keys)
            send(.rootLeft)
        }
    }

    /// The kernel's queue overflows, or the machine sleeps.
    mutating func interrupt(_ cause: Gap.Cause) {
        if !isArmed || !isThere { return }
        endedGaps.append(Gap(cause: cause, start: now.time, end: now.time))
        dirty.insert(.subtree(.root))
    }

    /// Asks for something.
    ///
    /// - Returns: the number of the request.
    @discardableResult
    mutating func ask(_ request: RootMachine.Request) -> Int {
        let id = requests.count + 1
        requests[id] = (step + 1, { _ in false })
        if case .settle(let withLargeFiles) = request {
            requests[id]?.covers = { withLargeFiles || $0 != .entry(SimulatedRoot.large) }
        }
        send(.ask(request, id: id))
        return id
    }

    /// Whether a request was answered, and not with a failure.
    func isSettled(_ id: Int) -> Bool { if case .success = answers[id] { true } else { false } }

    /// The requests that have no answer.
    var unanswered: [Int] { requests.keys.filter { answers[$0] == nil } }

    // MARK: The world

    /// Whether the result of an action is there.
    func canComplete(_ action: RootMachine.Action) -> Bool {
        switch action {
        case .nextBatch: isStopped || isArmed && (isFlushed || isThere && !dirty.isEmpty)
        case .arm: isStopped || isThere || !waits
        case .restart: isStopped || isThere
        default: true
        }
    }

    private var waits: Bool { machine.state == .waiting }

    /// Gives the machine the result of a pending action.
    ///
    /// - Parameter error: fails what can fail with this.
    mutating func complete(_ index: Int, failingWith error: ArchiverError? = nil) {
        switch pending.remove(at: index) {
        case .look: send(.looked(isThere: isThere, isNew: orders.isEmpty))
        case .arm:
            if isStopped { return send(.armingFailed(SimulatedRoot.error(.system), isCancelled: true)) }
            if !isThere { return send(.armingFailed(SimulatedRoot.error(.noSuchDirectory), isCancelled: false)) }
            isArmed = true
            send(.armed(directories: 1))
        case .continueHistory:
            send(error.map { .continuingFailed($0) } ?? .continued(nil, nil))
        case .enter(let gaps):
            let error = error ?? failure
            if error == nil { entered += gaps }
            send(.entered(error))
        case .nextBatch: send(.batch(nextBatch()))
        case .flush(let caller):
            if isStopped { return send(.flushed(caller, nil)) }
            (flushes, isFlushed) = (flushes + 1, true)
            send(.flushed(caller, flushes))
        case .capture(let order): capture(order, error)
        case .makeRoom(let toRead):
            if canMakeRoom { isDiskFull = false }
            send(toRead ? .madeRoomToRead : .madeRoom(canMakeRoom))
        case .read(let all, let passed): read(all, passed, error)
        case .auditWatches: send(.auditedWatches(repaired: 0))
        case .compare:
            if let error { return send(.comparingFailed(error)) }
            send(.compared(changes.keys.map(\.path).sorted(), entries: 10))
        case .restart:
            send(.restarted(error ?? (isStopped ? SimulatedRoot.error(.system) : nil)))
        case .close:
            isStopped = true
            send(.closed(openGaps: openGaps))
        case .stopWatch, .markDirty, .polled, .report, .record, .answer, .finish: Issue.record("it has no result")
        }
    }

    /// Carries out everything that can be done without a pause.
    mutating func run() {
        while let index = pending.firstIndex(where: canComplete) { complete(index) }
    }

    /// Carries out what can be done until an action for which `isMeant` is true is pending.
    ///
    /// - Returns: its index among the pending ones.
    mutating func run(until isMeant: (RootMachine.Action) -> Bool) throws -> Int {
        while true {
            if let index = pending.firstIndex(where: isMeant) { return index }
            complete(try #require(pending.firstIndex(where: canComplete)))
        }
    }

    /// Lets time pass, up to what is due next.
    mutating func skip(_ duration: Duration) {
        clock = min(clock + duration, machine.nextDue.map { start.duration(to: $0) } ?? clock + duration)
        send(.time)
    }

    /// Lets time pass, and carries out what becomes due.
    mutating func pass(_ duration: Duration) {
        let end = clock + duration
        while let due = machine.nextDue, due <= start + end {
            clock = start.duration(to: due)
            send(.time)
            run()
        }
        clock = end
    }

    /// Why nothing can be captured or entered.
    private var failure: ArchiverError? {
        isArchiveAway ? SimulatedRoot.error(.noArchive) : isDiskFull ? SimulatedRoot.error(.noSpace) : nil
    }

    static func error(_ code: ArchiverError.Code, _ path: FilePath? = nil) -> ArchiverError {
        ArchiverError(code, "\(code)", path: path)
    }

    private mutating func nextBatch() -> ChangeBatch? {
        if isStopped { return nil }
        defer { (dirty, endedGaps, isFlushed) = ([], [], false) }
        return ChangeBatch(
            ranges: dirty.contains(.subtree(.root)) ? [.subtree(.root)] : dirty.sorted(), polled: [],
            written: WrittenNames(), gaps: endedGaps, firstChange: nil, flushes: flushes)
    }

    private mutating func capture(_ order: RootMachine.CaptureOrder, _ error: ArchiverError?) {
        if let place { return send(.captureFailed(SimulatedRoot.error(.otherRoot, place), rootIsMissing: false)) }
        if !isThere { return send(.captureFailed(SimulatedRoot.error(.noSuchDirectory), rootIsMissing: true)) }
        if let error = error ?? failure { return send(.captureFailed(error, rootIsMissing: false)) }
        let large = PathRange.entry(SimulatedRoot.large)
        var found = changes.keys.filter { range in order.ranges.contains { $0.covers(range.path) } }
        if order.postpones {
            if found.contains(large) {
                found.removeAll { $0 == large }
                isLargeLeft = false
                if largeDue == nil { largeDue = start + clock + largeDelay }
            }
        } else {
            if changes[large] != nil { found.append(large) }
            (largeDue, isLargeLeft) = (nil, false)
        }
        for range in found {
            changes[range] = nil
            unnoticed.remove(range)
        }
        send(.captured(captured(found.isEmpty && orders.count > 1 ? nil : order.cause)))
    }

    private mutating func read(_ all: Bool, _ passed: Set<RelativePath>, _ error: ArchiverError?) {
        let file = SimulatedRoot.large
        guard !passed.contains(file), let due = largeDue, all || due <= start + clock else { return send(.readNothing) }
        if let error = error ?? failure {
            largeDue = start + clock + largeDelay
            return send(.read(file, .failure(error)))
        }
        largeDue = nil
        if isSuperseded || !isThere {
            (isSuperseded, isLargeLeft) = (false, true)
            return send(.read(file, .success(nil)))
        }
        changes[.entry(file)] = nil
        send(.read(file, .success(captured(.watch))))
    }

    /// - Parameter cause: that of the new snapshot; nil if nothing had changed.
    private func captured(_ cause: Cause?) -> CaptureResult {
        let id = ChunkID(hashing: Array("\(step)".utf8))
        let snapshot = ListedSnapshot(
            id: SnapshotID(id), time: now.time, rootPath: SimulatedRoot.path.bytes, host: "here",
            cause: cause ?? .watch, label: nil, parent: nil, tree: id, totals: Totals(),
            changes: ChangeCounts(modified: 1), problems: 0, storedBytes: 1)
        return CaptureResult(
            snapshot: cause.map { _ in snapshot }, latest: snapshot, laterPrevious: nil, changedPaths: [], problems: [],
            problemCount: 0, deferred: [], tree: id, scannedUntil: now.time)
    }
}
