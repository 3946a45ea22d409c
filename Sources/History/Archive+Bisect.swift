// Bisection: finds the first snapshot at which a test fails, in a scratch copy of the states.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
public import FileIO
public import Restoring
public import Roots
public import SystemPackage

/// The verdict of a test on one state.
public enum BisectVerdict: String, Sendable {
    /// The test succeeded.
    case good
    /// The test failed.
    case bad
    /// The state cannot be tested.
    case skipped
}

/// One state that was tested.
public struct BisectProbe: Sendable {
    /// The snapshot that was tested.
    public let snapshot: ListedSnapshot
    /// What the test said.
    public let verdict: BisectVerdict
    /// Why the state was not tested; nil if it was.
    public let reason: String?
}

/// Where to look for the first bad state.
public struct BisectQuery: Sendable {
    /// A state at which the test succeeds; nil to search for one before `bad`, in steps that double.
    public var good: ListedSnapshot?
    /// A later state at which the test fails.
    public var bad: ListedSnapshot
    /// Only snapshots that changed something at or below this path are tested.
    public var path: RelativePath

    /// A search for the first bad state after `good` and up to `bad`.
    public init(good: ListedSnapshot?, bad: ListedSnapshot, path: RelativePath = .root) {
        self.good = good
        self.bad = bad
        self.path = path
    }
}

/// The result of a bisection.
public struct BisectResult: Sendable {
    /// The first bad state, preceded by skipped ones; a single suspect is the culprit.
    public let suspects: [ListedSnapshot]
    /// The last good state.
    public let lastGood: ListedSnapshot
    /// The states that were tested or skipped, in that order.
    public let probes: [BisectProbe]

    /// The first bad state; nil if the states right before it could not be tested.
    public var firstBad: ListedSnapshot? { suspects.count == 1 ? suspects.first : nil }
}

extension Archive {
    /// Finds the first snapshot of a root at which `test` fails.
    ///
    /// Each state is written to a directory below `$TMPDIR`, or `/tmp`, that is removed in the end. Between two states
    /// only the differences are written, so that what the test builds there stays. The root itself is not touched. The
    /// given ends are tested first. A state that cannot be read completely is skipped.
    ///
    /// - Parameters:
    ///   - interruption: ends the search early.
    ///   - onProbe: called for each tested or skipped state, with the largest number of tests left.
    ///   - test: called with the directory and the snapshot that it holds.
    /// - Throws: `ArchiverError` with the code `unsuitableSettings` if the ends are not in this order, `unsuitable` if the
    ///   test does not find them good and bad; whatever `test` throws.
    public func bisect(
        _ root: ArchivedRoot, _ query: BisectQuery, interruption: RestoreInterruption? = nil,
        progress: OperationProgress? = nil, onProbe: @escaping (BisectProbe, _ left: Int) -> Void = { _, _ in },
        test: @escaping (FilePath, ListedSnapshot) throws -> BisectVerdict
    ) throws -> BisectResult {
        let states = try states(of: root, query, progress)
        guard query.good == nil || states.first?.id == query.good?.id, states.last?.id == query.bad.id else {
            throw ArchiverError(
                .unsuitableSettings, "the good state must come before the bad one, in the same root",
                remedy: Advice.listInOrder.text)
        }
        var search = BisectSearch(
            states: states, scratch: try ScratchState(of: root.path, in: nodes, interruption),
            interruption: interruption,
            progress: progress, onProbe: onProbe, test: test)
        return try search.run(hasGood: query.good != nil)
    }

    /// Returns the states to search, the oldest first: the ends, and the states between them that changed the path.
    private func states(
        of root: ArchivedRoot, _ query: BisectQuery, _ progress: OperationProgress?
    ) throws -> [ListedSnapshot] {
        var changed: Set<SnapshotID>?
        if !query.path.isRoot {
            let limits = HistoryQuery(through: query.bad)
            changed = Set(
                try history(of: query.path, in: root, limits, progress: progress).map(\.snapshot.id)
                    + history(ofDirectory: query.path, in: root, limits, progress: progress).map(\.snapshot.id))
        }
        var states: [ListedSnapshot] = []
        try forEachSnapshot(SnapshotQuery(root: root)) { snapshot in
            let isEnd = snapshot.id == query.bad.id || snapshot.id == query.good?.id
            if snapshot.id == query.good?.id { states = [] }
            // A snapshot captured aside differs from its neighbours by its exclusions.
            if isEnd || !snapshot.isAside && changed?.contains(snapshot.id) ?? true { states.append(snapshot) }
            return snapshot.id != query.bad.id
        }
        return states
    }
}

/// One search.
private struct BisectSearch {
    let states: [ListedSnapshot]
    let scratch: ScratchState
    let interruption: RestoreInterruption?
    let progress: OperationProgress?
    let onProbe: (BisectProbe, Int) -> Void
    let test: (FilePath, ListedSnapshot) throws -> BisectVerdict
    private var probes: [BisectProbe] = []

    init(
        states: [ListedSnapshot], scratch: ScratchState, interruption: RestoreInterruption?,
        progress: OperationProgress?, onProbe: @escaping (BisectProbe, Int) -> Void,
        test: @escaping (FilePath, ListedSnapshot) throws -> BisectVerdict
    ) {
        self.states = states
        self.scratch = scratch
        self.interruption = interruption
        self.progress = progress
        self.onProbe = onProbe
        self.test = test
    }

    mutating func run(hasGood: Bool) throws -> BisectResult {
        let last = states.count - 1
        var bisection = Bisection(good: 0, bad: last)
        if hasGood { try require(.good, at: 0, left: bisection.questionsLeft + 1) }
        try require(.bad, at: last, left: bisection.questionsLeft)
        if !hasGood { bisection = try searchBackwards(from: last) }
        while let place = bisection.next {
            let verdict = try probe(place) { verdict in
                var later = bisection
                later.answer(verdict, at: place)
                return later.questionsLeft
            }
            bisection.answer(verdict, at: place)
        }
        return BisectResult(
            suspects: Array(states[(bisection.good + 1)...bisection.bad]), lastGood: states[bisection.good],
            probes: probes)
    }

    /// Tests an end, and throws unless it has the expected verdict.
    private mutating func require(_ wanted: BisectVerdict, at place: Int, left: Int) throws {
        let verdict = try probe(place) { _ in left }
        if verdict == wanted { return }
        let name = "the \(wanted.rawValue) end, \(states[place].id.short),"
        let message =
            switch verdict {
            case .good: "\(name) is good as well: the test succeeds there"
            case .bad: "\(name) is bad as well: the test fails there"
            case .skipped: "\(name) cannot be tested"
            }
        throw ArchiverError(
            .unsuitable, message + (probes.last?.reason.map { ": \($0)" } ?? ""),
            remedy: wanted == .good ? "name an earlier good snapshot" : "name another bad snapshot, or fix the test")
    }

    /// Searches backwards from a bad state, in steps that double, for a good one.
    private mutating func searchBackwards(from last: Int) throws -> Bisection {
        var (bad, distance) = (last, 1)
        while bad > 0 {
            let place = max(0, last - distance)
            let verdict = try probe(place) { _ in Bisection(good: 0, bad: max(place, 1)).questionsLeft }
            if verdict == .good { return Bisection(good: place, bad: bad) }
            if verdict == .bad { bad = place }
            if place == 0 { break }
            distance *= 2
        }
        throw ArchiverError(
            .unsuitable,
            "no good state was found: the test does not succeed even at the first, \(states[0].id.short)",
            remedy: Advice.nameGood.text)
    }

    private mutating func probe(_ place: Int, left: (BisectVerdict) -> Int) throws -> BisectVerdict {
        let snapshot = states[place]
        var (verdict, reason) = (BisectVerdict.skipped, String?.none)
        do {
            try scratch.become(snapshot, progress)
            verdict = try test(scratch.directory, snapshot)
        } catch let error as ArchiverError where error.code == .damaged {
            reason = error.message
        } catch let error as StorageError where error.code == .damaged {
            reason = error.message
        }
        let probe = BisectProbe(snapshot: snapshot, verdict: verdict, reason: reason)
        probes.append(probe)
        onProbe(probe, left(verdict))
        return verdict
    }
}
