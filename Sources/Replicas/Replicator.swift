// Sends what an archive has committed to one of its replicas.

package import ArchiveFormat
package import ArchiveStorage
internal import Crypto
internal import FileIO
internal import Glibc
package import ObjectStore
package import Roots
internal import SystemPackage
internal import Threading

/// Sends an archive's segments to a replica: sealed ones as a whole, open ones in pieces that end at a commit.
///
/// One process at a time sends to a replica. It can be killed at any moment: what may have been sent is recorded before,
/// and objects are never replaced.
package final class Replicator: Sendable {
    /// What one pass did.
    package struct Pass: Sendable, Hashable {
        package var objects = 0
        package var bytes: UInt64 = 0
        /// Segments that were committed before the pass began and are not in the replica, and why; each a sentence.
        package var problems: [String] = []
    }

    package let name: ReplicaName
    package let settings: ReplicaSettings
    package let objects: any ObjectStore
    let store: ArchiveStore
    let sealer: ObjectSealer
    /// What every byte that is sent waits for; nil without a limit.
    package let pacer: SendingPace?
    /// How many objects are sent at the same time.
    package let mostAtOnce: Int
    /// Whether the replica's description was read through this value.
    private let isKnown = Locked(false)
    private let progressCounter: OperationProgress?
    /// How much is sent between two checkpoints; nil for the usual amount.
    let checkpointBytes: UInt64?

    private var layout: ArchiveLayout { store.layout }

    package init(
        _ name: ReplicaName, _ settings: ReplicaSettings, of store: ArchiveStore, to objects: any ObjectStore,
        besideCaptures: Bool = false, progress: OperationProgress? = nil, checkpointBytes: UInt64? = nil
    ) throws(ArchiverError) {
        self.checkpointBytes = checkpointBytes
        self.name = name
        self.settings = settings
        self.store = store
        self.objects = objects
        sealer = try ObjectSealer(store.manifest.id, settings, name)
        pacer = settings.rateLimit.map { SendingPace(bytesPerSecond: $0) }
        progressCounter = progress
        // Stores answer each object late, and many of them quickly; at a limited rate, one after another each is there
        // sooner. Each takes a processor for its encryption, for which captures would wait.
        let most = besideCaptures ? max(1, Processors.count / 2) : .max
        mostAtOnce = pacer == nil ? min(4, most) : 1
    }

    // MARK: A pass

    /// Sends everything that was committed before the call.
    ///
    /// Closing the store ends a pass early.
    ///
    /// - Parameter comparing: whether to list what the replica has, instead of relying on what is remembered.
    /// - Throws: `ArchiverError` if something could not be sent; what was sent before counts.
    package func send(comparing: Bool = false) throws(ArchiverError) -> Pass {
        try facingStore {
            guard settings.machine == Machine.id else {
                throw ArchiverError(
                    .replica, "the replica '\(name)' belongs to another machine, from which this archive was copied",
                    remedy: Advice.replicaOfOther.text)
            }
            let lock = try FileLock.exclusive(layout.lock("replica-\(name).lock"))
            defer { withExtendedLifetime(lock) {} }
            do {
                try requireOwnReplica()
                var known = try ReplicaProgress.read(name.text, in: layout)
                if known?.isUnknown == true { known = nil }
                var progress = known ?? ReplicaProgress()
                if comparing || known == nil { progress = try compared(known) }
                var pass = try send(&progress)
                if pass.problems.isEmpty, pass.objects > 0, isCheckpointDue(progress) {
                    // The replica is complete without one: a full disk, or a store that fails now, waits for the next pass.
                    _ = try? makeCheckpoint(&progress) { progress in
                        let more = try send(&progress)
                        pass.objects += more.objects
                        pass.bytes += more.bytes
                        return more.problems.isEmpty
                    }
                }
                if let problem = pass.problems.first {
                    record(ArchiverError(.damaged, problem, remedy: Advice.checkArchive.text))
                } else if progress.failure != nil {
                    progress.failure = nil
                    try progress.write(name.text, in: layout)
                }
                return pass
            } catch {
                let failure = ArchiverError(store: error)
                if failure.code != .cancelled { record(failure) }
                throw failure
            }
        }
    }

    /// Remembers why replicating failed, for `status`; the disk may be full.
    private func record(_ failure: ArchiverError) {
        guard var latest = try? ReplicaProgress.read(name.text, in: layout) else { return }
        // The time is that of the first failure in a row.
        if let old = latest.failure, old.message == failure.message { return }
        latest.failure = ReplicaProgress.Failure(
            time: latest.failure?.time ?? .now, message: failure.message, remedy: failure.remedy)
        try? latest.write(name.text, in: layout)
    }

    /// Something to send.
    private struct Work {
        let row: ListedSegment
        let object: ReplicaObject
        let range: Range<Int>
    }

    /// What several threads that send know together.
    private final class Sending: Sendable {
        private let state: Locked<(progress: ReplicaProgress, pass: Pass, noted: ContinuousClock.Instant)>

        init(_ progress: ReplicaProgress, _ pass: Pass) { state = Locked((progress, pass, .now)) }

        func update<Result>(_ body: (inout ReplicaProgress, inout Pass) throws -> Result) rethrows -> Result {
            try state.withLock { try body(&$0.progress, &$0.pass) }
        }

        /// Calls `write` with the progress, but at most once a second: captures would wait for the disk each time.
        func note(_ write: (ReplicaProgress) throws -> Void) rethrows {
            try state.withLock { state in
                guard state.noted.duration(to: .now) >= .seconds(1) else { return }
                try write(state.progress)
                state.noted = .now
            }
        }
    }

    private func send(_ progress: inout ReplicaProgress) throws -> Pass {
        let start = Timestamp.now
        let rows = try store.catalogue.segments()
        var pass = Pass()
        let hasForgotten = recordDropped(rows, &progress)
        var work: [Work] = []
        for row in rows {
            if let next = try next(row, &progress, &pass) { work.append(next) }
        }
        if work.isEmpty {
            if hasForgotten { try progress.write(name.text, in: layout) }
            return pass
        }
        progressCounter?.expect(entries: nil, bytes: work.reduce(0) { $0 + UInt64($1.range.count) })
        let sending = Sending(progress, pass)
        defer { progress = sending.update { progress, _ in progress } }
        do {
            for work in try inOrder(work) {
                try DetachedThread.forEach(work, upTo: mostAtOnce, for: "a replica") { [self] item in
                    do {
                        try send(item, ReplicaTime(start), sending)
                    } catch let error as StorageError {
                        // A prune may have dropped it in the meantime.
                        guard error.code == .damaged else { throw error }
                        if try store.catalogue.segment(item.row.number) == nil { return }
                        sending.update { _, pass in pass.problems.append(error.message) }
                    }
                }
            }
        } catch {
            // What was sent before a failure counts. If it cannot be noted, it is found in the store the next time.
            try? sending.update { progress, _ in try progress.write(name.text, in: layout) }
            throw error
        }
        return try sending.update { progress, pass in
            if pass.problems.isEmpty { progress.completeUntil = start }
            progress.bytesSinceCheckpoint += pass.bytes
            try progress.write(name.text, in: layout)
            return pass
        }
    }

    /// Notes segments in the replica that a prune has dropped here.
    ///
    /// - Returns: whether there are new ones.
    private func recordDropped(_ rows: [ListedSegment], _ progress: inout ReplicaProgress) -> Bool {
        let present = Set(rows.map(\.path))
        var isNew = false
        for path in progress.whole.union(progress.pieces.keys).subtracting(present)
        where progress.dropped[path] == nil {
            guard let id = SegmentName(path: path)?.segment, (try? store.catalogue.isDropped(id)) == true else {
                continue
            }
            progress.dropped[path] = .now
            isNew = true
        }
        return isNew
    }

    /// What of a segment is to be sent next; nil if the replica has all of it.
    private func next(
        _ row: ListedSegment, _ progress: inout ReplicaProgress, _ pass: inout Pass
    ) throws -> Work? {
        if progress.missingBytes(of: row) == 0 { return nil }
        guard SegmentName(path: row.path) != nil else {
            pass.problems.append("segment \(row.path) is not replicated: it is not in the folder of its day")
            return nil
        }
        if let away = try store.joined?.away(row.path) {
            pass.problems.append(
                "segment \(row.path) is not replicated: it is not on the local disk, but only in the replica '\(away.replica)'"
            )
            return nil
        }
        let pieces = progress.pieces[row.path] ?? ReplicaProgress.Pieces()
        var end = row.indexedLength
        if row.isSealed {
            end = try store.contentBytes(of: row)
            // The replica may have more than this archive after a power failure: both together are kept, in pieces.
            let isShorter = pieces.begunBytes > end
            let isDamaged = try pieces.sentBytes > 0 && store.open(row).isAsSealed() == false
            if !isShorter, !isDamaged {
                return Work(row: row, object: .segment(path: row.path), range: 0..<row.indexedLength)
            }
            if pieces.sentBytes >= end {
                progress.pieces[row.path]?.isFinal = true
                return nil
            }
        }
        if pieces.sentBytes >= end { return nil }
        let range = pieces.sentBytes..<end
        return Work(
            row: row, object: .piece(path: row.path, offset: range.lowerBound, length: range.count), range: range)
    }

    /// The order in which objects become visible: what says that segments were dropped comes last, after the copies of
    /// what was needed of them.
    private func inOrder(_ work: [Work]) throws -> [[Work]] {
        if work.count == 1 { return [work] }
        var (first, last) = ([Work](), [Work]())
        for item in work {
            let isDropping = try store.open(item.row).hasDroppedSegments(from: item.range.lowerBound)
            if isDropping { last.append(item) } else { first.append(item) }
        }
        // One after another, in the archive's order.
        return [first] + last.map { [$0] }
    }

    private func send(_ item: Work, _ time: ReplicaTime, _ sending: Sending) throws {
        let content = SegmentRange(try store.open(item.row), item.range)
        let digest = try content.sha256()
        let path = item.row.path
        if case .piece = item.object {
            try sending.update { progress, _ in
                var pieces = progress.pieces[path] ?? ReplicaProgress.Pieces()
                if pieces.begunBytes >= item.range.upperBound { return }
                pieces.begunBytes = item.range.upperBound
                progress.pieces[path] = pieces
                try progress.write(name.text, in: layout)
            }
        }
        try put(item.object, content, digest, time)
        progressCounter?.add(bytes: UInt64(item.range.count))
        var hadPieces = false
        sending.update { progress, pass in
            pass.objects += 1
            pass.bytes += UInt64(item.range.count)
            switch item.object {
            case .piece: progress.pieces[path]?.sentBytes = item.range.upperBound
            case .checkpoint: break
            case .segment:
                progress.whole.insert(path)
                hadPieces = progress.pieces.removeValue(forKey: path) != nil
            }
        }
        // After a kill, what is not noted is found in the store when it is to be sent again.
        try sending.note { try $0.write(name.text, in: layout) }
        if hadPieces, settings.abilities.deletes { deletePieces(of: path) }
    }

    /// Creates an object; if it exists, it must be the same, as after an answer that was lost.
    ///
    /// - Returns: the object's length.
    @discardableResult
    func put(
        _ object: ReplicaObject, _ content: any ObjectSource, _ digest: [UInt8], _ time: ReplicaTime
    ) throws -> UInt64 {
        guard let objectName = object.name else { throw ArchiverError(.system, "\(object.text) is no object's name") }
        var source: any ObjectSource = try sealer.seal(object, content, sha256: digest, at: time)
        if let pacer { source = PacedSource(source, pieceBytes: pacer.pieceBytes) { pacer.pause(for: $0) } }
        let expected = source.length
        if try objects.put(objectName, from: source) == .created { return expected }
        let length = try objects.length(of: objectName)
        let header = try ObjectHeader.read(objectName, from: objects)
        guard length == expected, sealer.isOwn(header, object, length: Int(content.length), sha256: digest) else {
            throw ArchiverError(
                .replica, "\(object.text) in \(objects.address) is there, and is not what this archive has",
                remedy: Advice.checkReplica.text)
        }
        return expected
    }

    /// Removes the pieces of a segment that is there as a whole; what stays does no harm.
    private func deletePieces(of path: String) {
        var names: [ObjectName] = []
        try? objects.list("\(ReplicaObject.folder(ofPieces: path))/") { names.append($0.name) }
        for name in names where ReplicaObject(name)?.path == path { try? objects.delete(name) }
    }

    // MARK: Whose replica it is

    /// Throws unless the replica is this archive's.
    private func requireOwnReplica() throws {
        if isKnown.withLock({ $0 }) { return }
        guard let manifest = try ReplicaManifest.read(from: objects) else {
            throw ArchiverError(
                .replica, "there is no replica in \(objects.address) any more: \(ReplicaObject.manifest) is missing",
                remedy: "mount its disk, or bring its objects back; or " + Advice.addReplica.text)
        }
        try sealer.requireOwn(manifest, name, objects.address)
        isKnown.withLock { $0 = true }
    }

    /// Compares what is remembered with the objects that are there.
    ///
    /// - Throws: `ArchiverError` if the replica has states that this archive never had.
    private func compared(_ known: ReplicaProgress?) throws -> ReplicaProgress {
        let inventory = try ReplicaInventory(objects)
        let rows = try store.catalogue.segments()
        let present = Dictionary(rows.map { ($0.path, $0) }) { first, _ in first }
        var progress = known ?? ReplicaProgress()
        try refuseForeign(inventory, progress, isKnown: known != nil, present)
        progress.isUnknown = false
        progress.whole = []
        for (path, length) in inventory.segments {
            guard let row = present[path] else {
                progress.whole.insert(path)
                continue
            }
            if row.isSealed, sealer.objectLength(ofContent: row.indexedLength) == length {
                progress.whole.insert(path)
                progress.pieces[path] = nil
            }
        }
        for (path, pieces) in inventory.pieces where !progress.whole.contains(path) {
            var remembered = progress.pieces[path] ?? ReplicaProgress.Pieces()
            let covered = pieces.reduce(0) { $1.offset <= $0 ? max($0, $1.end) : $0 }
            remembered.begunBytes = max(remembered.begunBytes, covered)
            remembered.sentBytes = min(covered, present[path]?.indexedLength ?? covered)
            progress.pieces[path] = remembered
        }
        for path in progress.pieces.keys where inventory.pieces[path] == nil {
            progress.pieces[path]?.sentBytes = 0
            progress.pieces[path]?.isFinal = false
        }
        try progress.write(name.text, in: layout)
        return progress
    }

    private func refuseForeign(
        _ inventory: ReplicaInventory, _ progress: ReplicaProgress, isKnown: Bool, _ present: [String: ListedSegment]
    ) throws {
        let named = try store.catalogue.namedSegments()
        for path in inventory.paths {
            let id = SegmentName(path: path)?.segment
            let isOurs =
                try present[path] != nil || progress.dropped[path] != nil
                || id.map { try named[$0] != nil || store.catalogue.isDropped($0) } ?? false
            let sent = progress.whole.contains(path) ? .max : progress.pieces[path]?.begunBytes ?? 0
            // A whole segment that is still open here, or pieces of which nothing is remembered.
            let isSealedThere = inventory.segments[path] != nil
            let isBeyond =
                isSealedThere
                ? present[path]?.isSealed == false
                : isKnown && inventory.pieces[path]?.contains { $0.end > sent } ?? false
            if isOurs, !isBeyond { continue }
            throw ArchiverError(
                .replica,
                "the replica '\(name)' has states that this archive does not have (segment \(path)): an older copy of "
                    + "the archive was put back, or a copy of it replicates elsewhere",
                remedy: Advice.cloneReplica.text)
        }
    }
}

extension SegmentName {
    /// Parses a path below `segments`; nil if it is not the one of its segment.
    package init?(path: String) {
        guard let file = path.split(separator: "/").last, let name = SegmentName(fileName: String(file)),
            name.path == path
        else { return nil }
        self = name
    }
}

/// Keeps sending below a rate.
package final class SendingPace: Sendable {
    private let bytesPerSecond: UInt64
    private let free: Locked<ContinuousClock.Instant>

    package init(bytesPerSecond: UInt64, at now: ContinuousClock.Instant = .now) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        free = Locked(now)
    }

    /// The most bytes to send at a time, a quarter of a second's: no store takes the pause between two for the end of
    /// the connection.
    package var pieceBytes: UInt64 { min(max(1, bytesPerSecond / 4), ObjectLimit.pieceBytes) }

    /// How long the caller must wait before it sends `bytes` more.
    package func wait(for bytes: Int, at now: ContinuousClock.Instant) -> Duration {
        let time = Duration.seconds(Double(bytes) / Double(bytesPerSecond))
        let start = free.withLock { free in
            let start = max(free, now)
            free = start + time
            return start
        }
        return now.duration(to: start)
    }

    /// Blocks until `bytes` more may be sent.
    func pause(for bytes: Int) {
        let left = wait(for: bytes, at: .now)
        if left > .zero { usleep(UInt32(clamping: Int64(left / .microseconds(1)))) }
    }
}
