// Maintains an archive: applies the policies, frees space, and keeps the archive within its budget.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
package import FileIO
internal import Glibc
public import Roots
internal import SystemPackage

/// Options for maintaining an archive.
public struct MaintenanceOptions: Sendable {
    /// How long forgotten snapshots stay and can be brought back, unless room is short.
    public var grace = Archive.defaultGrace
    /// Whether only to return what would be done.
    public var isDryRun = false
    /// Whether nobody asked for this run: then space is freed only if that is worth the work, and the run fails if it
    /// would forget implausibly many snapshots.
    public var isUnattended = false
    /// Whether a write has failed because the disk is full, even if there is room again.
    package var isRoomOut = false
    /// An unattended run frees space only if it gains at least so many bytes, and a tenth of the archive.
    package var leastFreedBytes: UInt64 = 64 << 20
    /// Called before segments are rewritten, so that the caller can close those it writes to.
    package var willPrune: @Sendable () -> Void = {}
    /// The instant that ages are measured at, for tests; nil for now.
    package var now: Timestamp?

    /// Maintenance by the archive's own settings.
    public init() {}

    /// The options of a watcher.
    public static var unattended: MaintenanceOptions {
        var options = MaintenanceOptions()
        options.isUnattended = true
        return options
    }
}

/// The result of maintaining an archive.
public struct MaintenanceResult: Sendable {
    /// How many snapshots the policies forgot.
    public internal(set) var thinned = 0
    /// How many more were forgotten because room was short.
    public internal(set) var thinnedForRoom = 0
    /// What pruning did; nil if there was nothing to prune.
    public internal(set) var pruned: PruneResult?
    /// The room afterwards.
    public internal(set) var room: ArchiveRoom
    /// What was done because room was short, or would be; nil if it was not.
    public internal(set) var plan: RoomPlan?

    /// A result for tests of its output.
    package static var example: MaintenanceResult {
        MaintenanceResult(
            thinned: 1, thinnedForRoom: 1, pruned: nil,
            room: ArchiveRoom(usedBytes: 1, freeBytes: 1, totalBytes: 1, budget: StorageBudget(), isBudgetSet: false))
    }

    /// Whether nothing was changed.
    public internal(set) var isDryRun = false

    /// The bytes that the archive exceeds its budget by afterwards; in a dry run, an estimate.
    public var lackingBytes: UInt64 {
        let freed = isDryRun ? pruned?.freedBytes ?? 0 : 0
        return room.lackingBytes - min(room.lackingBytes, freed)
    }

    /// Whether the archive will still exceed its budget when what was forgotten has been freed.
    public var isShort: Bool { lackingBytes > plan?.waitingBytes ?? 0 }

    /// Whether anything was done.
    public var hasChanged: Bool { thinned + thinnedForRoom > 0 || (pruned?.freedBytes ?? 0) > 0 }
}

extension Archive {
    /// Forgets what the policies do not keep, frees space, and keeps the archive within its budget.
    ///
    /// If room is short, forgotten snapshots are pruned without grace. If that is not enough, more snapshots are
    /// forgotten, old ones more than young ones, but never those that are always kept or younger than an hour, and only
    /// if that reaches the budget. They can be brought back for a day, unless the disk is full. Without a budget of its
    /// own, an archive is short of room only if its disk is. It then forgets no more than what its policies, or else
    /// `RetentionPolicy.usual`, do not keep.
    ///
    /// Captures and restores continue during the run. It can be cancelled or killed at any moment; the next run does
    /// the rest.
    ///
    /// - Parameters:
    ///   - isCancelled: polled; true ends the run early.
    ///   - progress: counters: first entries visited, then bytes of segments.
    /// - Throws: `ArchiverError` with the codes `inUse` if another process does the same, `tooMuchToForget`, `damaged`
    ///   if damage hides what is still needed, `readOnly`, `cancelled`.
    public func maintain(
        _ options: MaintenanceOptions = MaintenanceOptions(),
        isCancelled: @escaping @Sendable () -> Bool = { false }, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> MaintenanceResult {
        try facing {
            if !options.isDryRun { try store.requireWritable() }
            var run = Maintenance(
                archive: self, options: options, isCancelled: isCancelled, progress: progress,
                result: MaintenanceResult(room: try room(), isDryRun: options.isDryRun))
            try run.run()
            return run.result
        }
    }
}

/// One maintenance run.
private struct Maintenance {
    let archive: Archive
    let options: MaintenanceOptions
    let isCancelled: @Sendable () -> Bool
    let progress: OperationProgress?
    var result: MaintenanceResult

    /// The ballast is at least this share of the archive.
    private static let ballastShare: UInt64 = 16
    /// On a full disk, an unattended run frees only what is more than so many bytes.
    private static let leastBytesOnFullDisk: UInt64 = 64 << 10
    /// After a week, check what pruning would free even if little was forgotten.
    private static let secondsBetweenForecasts: Int64 = 7 * 86_400

    private var ballast: Ballast { Ballast(archive.store.layout) }

    mutating func run() throws {
        // On a full disk, not even a record of forgetting can be written.
        if result.room.isDiskFull || options.isRoomOut, !options.isDryRun { ballast.release() }
        let now = try now()
        let thinned = try thin(now)
        result.thinned = thinned.count
        if try isPruningDue(grace: options.grace) { try prune(grace: options.grace) }
        try makeRoom(now, thinned)
        if !options.isDryRun { try reserveBallast() }
    }

    // MARK: Steps

    /// The instant that ages are measured at: all that one run forgets is forgotten at this instant.
    private func now() throws -> Timestamp {
        options.now ?? (options.isUnattended ? ThinningClock(in: archive.store.layout).now() : .now)
    }

    /// Forgets what the policies do not keep, and returns it.
    private func thin(_ now: Timestamp) throws -> [SnapshotID] {
        if isCancelled() { throw StorageError.cancelled(archive.directory) }
        var thinning = ThinningOptions(isDryRun: options.isDryRun, isUnattended: options.isUnattended)
        thinning.now = now
        return try archive.thin(thinning).flatMap { $0.going.map(\.id) }
    }

    private mutating func prune(grace: Duration) throws {
        let end = PruneHorizon.end(grace: grace)
        if !options.isDryRun { options.willPrune() }
        let pruned = try prune(protecting: ForgottenSpan(grace: grace))
        // Skipped segments may hold what was forgotten: the next run tries again.
        if !options.isDryRun, pruned.inUse + pruned.withoutRoom + pruned.unreplicated == 0 {
            PruneHorizon(archive.store.layout).record(end)
        }
        result.pruned = result.pruned.map { $0.followed(by: pruned) } ?? pruned
    }

    /// Whether pruning is worth the work, part of which is to visit everything that is kept.
    private func isPruningDue(grace: Duration) throws -> Bool {
        guard options.isUnattended else { return true }
        guard try hasForgotten(grace: grace), try isWorthAForecast(grace: grace) else { return false }
        let end = PruneHorizon.end(grace: grace)
        let foreseen = try archive.prune(grace: grace, isDryRun: true, isCancelled: isCancelled)
        if foreseen.freedBytes >= leastFreedBytes(of: foreseen.bytesBefore) { return true }
        if foreseen.unreplicated == 0 { PruneHorizon(archive.store.layout).record(end) }
        return false
    }

    private func leastFreedBytes(of bytes: UInt64) -> UInt64 { max(options.leastFreedBytes, bytes / 10) }

    /// Whether enough was forgotten since the last check, or that was long ago.
    ///
    /// The bytes that a snapshot stored are only a hint: other snapshots may need them.
    private func isWorthAForecast(grace: Duration) throws -> Bool {
        guard let start = PruneHorizon(archive.store.layout).read() else { return true }
        let end = PruneHorizon.end(grace: grace)
        if end.seconds >= start.seconds + Maintenance.secondsBetweenForecasts { return true }
        let bytes = try archive.store.catalogue.segments().reduce(0) { $0 + UInt64($1.indexedLength) }
        let forgotten = try archive.store.catalogue.forgottenBytes(since: start, until: end)
        return forgotten >= leastFreedBytes(of: bytes)
    }

    /// Whether anything that the grace does not protect was forgotten since the last prune.
    private func hasForgotten(grace: Duration) throws -> Bool {
        let start = PruneHorizon(archive.store.layout).read()?.advanced(byNanoseconds: 1)
        let end = PruneHorizon.end(grace: grace)
        return try !archive.store.catalogue.forgotten(since: start, until: end, limit: 1).isEmpty
    }

    /// Keeps the archive within its budget.
    private mutating func makeRoom(_ now: Timestamp, _ thinned: [SnapshotID]) throws {
        result.room = try archive.room()
        guard result.room.isShort || result.room.isDiskFull || options.isRoomOut else {
            if !options.isDryRun { RoomNotice.remove(archive.store.layout) }
            return
        }
        let planning = RoomPlanning(
            archive: archive, room: result.room, options: options, now: now,
            thinned: options.isDryRun ? thinned : [],
            mark: LiveMark(archive.store, progress, isCancelled: isCancelled))
        let plan = try planning.plan()
        result.plan = plan
        result.thinnedForRoom = plan.going.count
        var left: Set<ChunkID> = []
        if options.isDryRun {
            if plan.protected.since > now { left.formUnion(thinned.map(\.chunk)) }
            if plan.protected.sinceForRoom > now { left.formUnion(plan.going.map(\.chunk)) }
        } else {
            result.thinnedForRoom = try archive.whileKeeping { try planning.forget(plan) }
        }
        if isWorthPruning(plan) { try prune(plan, without: left) }
        result.room = try archive.room()
        if !options.isDryRun { RoomNotice(plan, at: now).write(archive.store.layout) }
    }

    /// Whether what can be freed now is a part of the goal that matters.
    private func isWorthPruning(_ plan: RoomPlan) -> Bool {
        if !options.isUnattended { return plan.freedNow > 0 }
        return plan.freedNow > (plan.goalBytes > 0 ? plan.goalBytes / 64 : Maintenance.leastBytesOnFullDisk)
    }

    private mutating func prune(_ plan: RoomPlan, without left: Set<ChunkID>) throws {
        if !options.isDryRun { options.willPrune() }
        let pruned = try prune(
            protecting: plan.protected, without: left, goalBytes: min(plan.goalBytes, plan.freedNow))
        if options.isDryRun { return result.pruned = pruned }
        result.pruned = result.pruned.map { $0.followed(by: pruned) } ?? pruned
    }

    /// Prunes; gives up the ballast if there is no room for copies.
    private func prune(
        protecting protected: ForgottenSpan, without left: Set<ChunkID> = [], goalBytes: UInt64 = 0
    ) throws -> PruneResult {
        let prune = { (releasedBytes: UInt64) in
            try archive.prune(
                protecting: protected, without: left, goalBytes: goalBytes, isDryRun: options.isDryRun,
                releasedBytes: releasedBytes, isCancelled: isCancelled, progress: progress)
        }
        if options.isDryRun { return try prune(ballast.bytes) }
        let pruned = try prune(0)
        if pruned.withoutRoom > 0, ballast.release() { return pruned.followed(by: try prune(0)) }
        return pruned
    }

    /// Reserves room for the next time the disk is full, unless it is full now.
    private func reserveBallast() throws {
        if result.room.isDiskFull { return }
        try archive.store.reserveBallast(result.room.usedBytes / Maintenance.ballastShare)
    }
}

extension PruneResult {
    /// Returns the result of this prune and of `next`, which followed it.
    fileprivate func followed(by next: PruneResult) -> PruneResult {
        PruneResult(
            isDryRun: isDryRun, bytesBefore: bytesBefore, bytesAfter: next.bytesAfter,
            freedBytes: freedBytes + next.freedBytes, segments: segments, dropped: dropped + next.dropped,
            movedBytes: movedBytes + next.movedBytes, inUse: next.inUse, bytesInUse: next.bytesInUse,
            withoutRoom: next.withoutRoom, bytesWithoutRoom: next.bytesWithoutRoom, roomNeeded: next.roomNeeded,
            unreplicated: next.unreplicated, bytesUnreplicated: next.bytesUnreplicated, waitedFor: next.waitedFor,
            damaged: next.damaged)
    }
}

/// The instant up to which forgotten records were pruned; if none was forgotten since, there is nothing to prune.
private struct PruneHorizon {
    private let file: EnclosedPath

    init(_ layout: ArchiveLayout) { file = layout.settings.appending("pruned") }

    /// Returns the last instant that `grace` does not protect.
    static func end(grace: Duration) -> Timestamp {
        let now = Timestamp.now
        if grace <= .zero { return now }
        return Timestamp(seconds: now.seconds - grace.components.seconds - 1, nanoseconds: 999_999_999)
    }

    func read() -> Timestamp? {
        guard let bytes = try? file.open(O_RDONLY).readToEnd(limit: 64, path: file.path) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let seconds = Int64(words[0]), let nanoseconds = UInt32(words[1]),
            nanoseconds < 1_000_000_000
        else { return nil }
        let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        // A clock that was set back must not hide what is forgotten from now on.
        return time > .now ? nil : time
    }

    /// Records that everything forgotten until `end` was dealt with.
    func record(_ end: Timestamp) {
        // If this cannot be written, the next run checks everything again.
        try? DurableFile.replace(file, contents: Array("\(end.seconds) \(end.nanoseconds)\n".utf8))
    }
}
