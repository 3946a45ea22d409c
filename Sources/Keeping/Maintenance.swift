// Looking after an archive: what the policies let go is forgotten, space is given back, the budget is kept.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import Glibc
public import Roots
internal import SystemPackage

/// How to look after an archive.
public struct MaintenanceOptions: Sendable {
    /// For so long what was forgotten can be brought back, and stays, unless room is short.
    public var grace = Archive.defaultGrace
    /// Whether only to tell what would be done.
    public var isDryRun = false
    /// Whether nobody asked for it: then space is given back only where that is worth the work, and what goes beyond
    /// all expectation is not forgotten.
    public var isUnattended = false
    /// Whether a disk is full, however it looks by now: what failed is gone.
    package var isRoomOut = false
    /// What has to be free at least before an unattended run gives it back, in bytes; a tenth of the archive, too.
    package var leastFreedBytes: UInt64 = 64 << 20
    /// Called before space is given back: whoever writes to segments may leave them.
    package var willPrune: @Sendable () -> Void = {}

    public init() {}

    /// As a watcher does it.
    public static var unattended: MaintenanceOptions {
        var options = MaintenanceOptions()
        options.isUnattended = true
        return options
    }
}

/// What looking after an archive came to.
public struct MaintenanceResult: Sendable {
    /// How many snapshots the policies let go.
    public internal(set) var thinned = 0
    /// How many more had to go because room was short.
    public internal(set) var thinnedForRoom = 0
    /// What giving space back came to; nil where nothing was to be given back.
    public internal(set) var pruned: PruneResult?
    /// The room afterwards.
    ///
    /// Where its budget is not kept, nothing more can be let go.
    public internal(set) var room: ArchiveRoom

    /// A result for tests of what shows it.
    package static var example: MaintenanceResult {
        MaintenanceResult(
            thinned: 1, thinnedForRoom: 1, pruned: nil,
            room: ArchiveRoom(usedBytes: 1, freeBytes: 1, totalBytes: 1, budget: StorageBudget(), isBudgetSet: false))
    }

    /// Whether anything was done.
    public var hasChanged: Bool { thinned + thinnedForRoom > 0 || (pruned?.freedBytes ?? 0) > 0 }
}

extension Archive {
    /// Forgets what the policies let go, gives space back, and keeps the budget.
    ///
    /// Where room is short, first what is forgotten goes without grace; then snapshots are forgotten, more of the old than of
    /// the young, but never those that are always kept. Without a budget of its own, an archive gives what
    /// `RetentionPolicy.usual` lets go where its disk is short of room, and no more.
    ///
    /// Captures and restores go on meanwhile. It can be ended at any moment, and the next run does the rest.
    ///
    /// - Parameters:
    ///   - isCancelled: asked now and then whether to end early.
    ///   - progress: counters that are moved forward meanwhile: entries that were looked at, then bytes of segments.
    /// - Throws: `ArchiverError` of the codes `inUse` where another process does the same, `tooMuchToForget`, `damaged` where it
    ///   cannot be told what is needed, `readOnly`, `cancelled` after an early end.
    public func maintain(
        _ options: MaintenanceOptions = MaintenanceOptions(),
        isCancelled: @escaping @Sendable () -> Bool = { false }, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> MaintenanceResult {
        try facing {
            try store.requireWritable()
            var run = Maintenance(
                archive: self, options: options, isCancelled: isCancelled, progress: progress,
                result: MaintenanceResult(room: try room()))
            try run.run()
            return run.result
        }
    }
}

/// One run of it.
private struct Maintenance {
    let archive: Archive
    let options: MaintenanceOptions
    let isCancelled: @Sendable () -> Bool
    let progress: OperationProgress?
    var result: MaintenanceResult

    /// The ballast takes this share of the archive, and no more than so many bytes.
    private static let ballastShare: UInt64 = 16
    private static let ballastBytes: UInt64 = 64 << 20
    /// After a week everything is looked at again although little was forgotten.
    private static let secondsBetweenLooks: Int64 = 7 * 86_400

    private var ballast: Ballast { Ballast(archive.store.layout) }

    mutating func run() throws {
        // Where the disk is full, not even what goes can be put on record.
        if result.room.isShort || options.isRoomOut, !options.isDryRun { ballast.release() }
        result.thinned = try thin(step: 0)
        if try isPruningDue(grace: options.grace) { try prune(grace: options.grace) }
        try makeRoom()
        if !options.isDryRun { reserveBallast() }
    }

    // MARK: Steps

    /// Forgets what the policies let go.
    ///
    /// - Parameter step: how much less is to be kept; 0 for as the policies say.
    private func thin(step: Int) throws -> Int {
        if isCancelled() { throw StorageError.cancelled(archive.directory) }
        var thinning = ThinningOptions(isDryRun: options.isDryRun, isUnattended: options.isUnattended)
        thinning.step = step
        return try archive.thin(thinning).reduce(0) { $0 + $1.going.count }
    }

    private mutating func prune(grace: Duration) throws {
        let end = PruneHorizon.end(grace: grace)
        if !options.isDryRun { options.willPrune() }
        let pruned = try archive.prune(
            grace: grace, isDryRun: options.isDryRun, isCancelled: isCancelled, progress: progress)
        if !options.isDryRun { PruneHorizon(archive.store.layout).record(end) }
        result.pruned = result.pruned.map { $0.followed(by: pruned) } ?? pruned
    }

    /// Whether giving space back is worth the work, of which looking at everything that is kept is a part.
    private func isPruningDue(grace: Duration) throws -> Bool {
        guard options.isUnattended else { return true }
        guard try hasForgotten(grace: grace), try isWorthALook(grace: grace) else { return false }
        let end = PruneHorizon.end(grace: grace)
        let foreseen = try archive.prune(grace: grace, isDryRun: true, isCancelled: isCancelled)
        if foreseen.freedBytes >= leastFreedBytes(of: foreseen.bytesBefore) { return true }
        PruneHorizon(archive.store.layout).record(end)
        return false
    }

    private func leastFreedBytes(of bytes: UInt64) -> UInt64 { max(options.leastFreedBytes, bytes / 10) }

    /// Whether enough was forgotten since the last look, or that was long ago.
    ///
    /// What a snapshot stored when it was made is no more than a hint: others may need it still, or no longer.
    private func isWorthALook(grace: Duration) throws -> Bool {
        guard let start = PruneHorizon(archive.store.layout).read() else { return true }
        let end = PruneHorizon.end(grace: grace)
        if end.seconds >= start.seconds + Maintenance.secondsBetweenLooks { return true }
        let bytes = try archive.store.catalogue.segments().reduce(0) { $0 + UInt64($1.indexedLength) }
        let forgotten = try archive.store.catalogue.forgottenBytes(since: start, until: end)
        return forgotten >= leastFreedBytes(of: bytes)
    }

    /// Whether anything was forgotten since space was given back last that the grace does not protect.
    private func hasForgotten(grace: Duration) throws -> Bool {
        let start = PruneHorizon(archive.store.layout).read()?.advanced(byNanoseconds: 1)
        let end = PruneHorizon.end(grace: grace)
        return try !archive.store.catalogue.forgotten(since: start, until: end, limit: 1).isEmpty
    }

    /// Keeps the budget.
    private mutating func makeRoom() throws {
        result.room = try archive.room()
        guard result.room.isShort || options.isRoomOut, !options.isDryRun else { return }
        let last = result.room.isBudgetSet ? RetentionPolicy.lastStep : 1
        for step in 0...last where result.room.isShort || options.isRoomOut && step <= 1 {
            let count = step > 0 ? try thin(step: step) : 0
            result.thinnedForRoom += count
            guard try count > 0 || hasForgotten(grace: .zero) else { continue }
            try prune(grace: .zero)
            result.room = try archive.room()
        }
    }

    /// Takes room for the next time that there is none, unless it is short now.
    private func reserveBallast() {
        let isSmall = result.room.usedBytes < ArchiveRoom.leastBytes
        let bytes = isSmall ? 0 : min(Maintenance.ballastBytes, result.room.usedBytes / Maintenance.ballastShare)
        if result.room.isShort || result.room.freeBytes < 4 * bytes {
            ballast.release()
        } else {
            ballast.reserve(bytes)
        }
    }
}

extension PruneResult {
    /// What this one and the one after it came to.
    fileprivate func followed(by next: PruneResult) -> PruneResult {
        PruneResult(
            isDryRun: isDryRun, bytesBefore: bytesBefore, bytesAfter: next.bytesAfter,
            freedBytes: freedBytes + next.freedBytes, segments: segments, dropped: dropped + next.dropped,
            movedBytes: movedBytes + next.movedBytes, inUse: next.inUse, damaged: next.damaged)
    }
}

/// Up to when what was forgotten has been dealt with: where nothing was forgotten since, there is nothing to give back.
private struct PruneHorizon {
    private let folder: FilePath
    private static let name = "pruned"

    init(_ layout: ArchiveLayout) { folder = layout.directory.appending("settings") }

    /// The last instant at which something was forgotten that `grace` does not protect.
    static func end(grace: Duration) -> Timestamp {
        let now = Timestamp.now
        if grace <= .zero { return now }
        return Timestamp(seconds: now.seconds - grace.components.seconds - 1, nanoseconds: 999_999_999)
    }

    func read() -> Timestamp? {
        let path = folder.appending(PruneHorizon.name)
        guard let file = try? Descriptor.openFile(path, O_RDONLY),
            let bytes = try? file.readToEnd(limit: 64, path: path)
        else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let seconds = Int64(words[0]), let nanoseconds = UInt32(words[1]),
            nanoseconds < 1_000_000_000
        else { return nil }
        let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        // A clock that was set back must not hide what is forgotten from now on.
        return time > .now ? nil : time
    }

    /// Records that all was dealt with that was forgotten until `end`.
    func record(_ end: Timestamp) {
        // Where that cannot be written, the next run looks at everything once more.
        try? Directory.create(folder, permissions: 0o700, durable: true)
        try? DurableFile.replace(
            directory: folder, name: PruneHorizon.name, contents: Array("\(end.seconds) \(end.nanoseconds)\n".utf8))
    }
}
