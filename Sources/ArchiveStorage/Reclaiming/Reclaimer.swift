// Frees the space of forgotten data.

package import ArchiveFormat
package import FileIO
internal import Glibc
package import SystemPackage

/// What a reclaimer did, or would do.
package struct Reclaimed: Sendable, Hashable {
    /// Bytes of all segments before.
    package var bytesBefore = 0
    /// Bytes of all segments afterwards; an estimate in a dry run.
    package var bytesAfter = 0
    /// Bytes of the dropped segments, less the bytes copied out of them; others may have written more in the meantime.
    package var freedBytes = 0
    /// Segments before, and segments dropped.
    package var segments = 0
    package var dropped = 0
    /// Bytes copied out of the dropped segments.
    package var movedBytes = 0
    /// Segments skipped because another process was writing to them.
    package var inUse = 0
    /// Bytes that would be free in those.
    package var bytesInUse = 0
    /// Segments skipped because the disk has no room for a copy of what is still needed in them.
    package var withoutRoom = 0
    /// Bytes that would be free in those.
    package var bytesWithoutRoom = 0
    /// The bytes that must be free on the disk to drop one of those.
    package var roomNeeded = 0
    /// Segments skipped because a replica does not have them yet.
    package var unreplicated = 0
    /// Bytes that would be free in those.
    package var bytesUnreplicated = 0
    /// The suspended process that kept segments from being dropped; nil if there was none.
    package var waitedFor: LockHolder?
    /// Segments that stay because of damage; each entry is a sentence.
    package var damaged: [String] = []
}

/// Drops segments after copying their live chunks elsewhere.
///
/// Only one reclaimer works in an archive at a time. Captures and restores continue, and none of them waits for it. It
/// can be stopped at any moment: the work done so far counts, and nothing is lost.
package final class Reclaimer {
    /// How a reclaimer works.
    package struct Options: Sendable {
        /// Whether only to report what would be done.
        package var isDryRun = false
        /// Records to purge: afterwards no segment holds them or anything else that is not live; nil to drop segments
        /// only if worthwhile.
        ///
        /// No other process may use the archive during a purge. It needs space for a copy of all live chunks in the
        /// dropped segments.
        package var purged: Set<ChunkID>?
        /// The least share of a segment that must become free to make copying worthwhile, in percent.
        package var leastShare = 10
        /// The bytes to free if possible: then copying is worthwhile for smaller shares, too.
        package var goalBytes = 0
        /// The bytes on the disk that a dry run counts as free: the caller would free them before.
        package var releasedBytes = 0
        /// Whether to stop early; called now and then.
        package var isCancelled: @Sendable () -> Bool = { false }
        /// Called with the bytes processed so far, and all bytes to process.
        package var onProgress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }

        package init() {}
    }

    private let store: ArchiveStore
    private let options: Options
    /// Nil for a dry run in an archive that cannot be written to.
    private let lock: FileLock?
    private let pacing: Pacing
    private var live = ChunkSet()
    private var result = Reclaimed()

    private var catalogue: Catalogue { store.catalogue }

    /// The most bytes of segments condemned together.
    ///
    /// Until these are dropped, captures store chunks again that only condemned segments hold.
    private static let batchBytes = 512 << 20
    /// Segments smaller than an eighth of the full size are merged if there are at least this many.
    private static let smallSegments = 8
    /// Rows of the catalogue removed in one transaction when no one else uses the archive.
    private static let rowsAtOnce = 2_000
    /// The catalogue is shrunk only if it has this many free bytes: fewer are soon used again.
    private static let leastFreeBytes = 1 << 20
    /// Free bytes that copying needs besides the copies.
    private static let leastRoom = Int(Ballast.copyingBytes)

    /// - Throws: `StorageError` with the code `inUse` if another process reclaims.
    package init(_ store: ArchiveStore, _ options: Options = Options()) throws(StorageError) {
        if let refusal = store.refusal, !options.isDryRun { throw refusal }
        self.store = store
        self.options = options
        pacing = Pacing(store)
        lock = try store.withoutReclaimers(isWaiting: false)
    }

    /// Call it often in other long work: it gives way to captures.
    package var pause: @Sendable () -> Void { pacing.pause }

    /// Drops the segments that are worth dropping.
    ///
    /// - Parameter mark: adds all chunks that are live now to the set and removes none; called repeatedly.
    package func run(_ mark: (inout ChunkSet) throws -> Void) throws -> Reclaimed {
        if store.isWritable { try tidy() }
        store.releaseWriters()
        try mark(&live)
        // What is only in a replica takes no room here, and stays as it is.
        let present = try catalogue.segments().filter { $0.state != .away }
        result.segments = present.count
        result.bytesBefore = present.reduce(0) { $0 + $1.indexedLength }
        var left = Dictionary(uniqueKeysWithValues: present.map { ($0.number, $0) })
        var done = 0
        while true {
            let survey = try SegmentSurvey(catalogue, live: live)
            let victims = try victims(among: Array(left.values), survey)
            if options.isDryRun {
                foresee(victims, survey)
                return result
            }
            // What this process still has open of dropped segments takes room.
            store.closeRemovedSegments()
            var batch = options.purged == nil ? batch(of: victims, survey, room: store.freeBytes()) : victims
            if batch.isEmpty, !victims.isEmpty {
                // On a small disk, the log of what was dropped so far takes the room for the next copy.
                catalogue.truncateLog()
                batch = self.batch(of: victims, survey, room: store.freeBytes())
            }
            if batch.isEmpty { recordWithoutRoom(victims, survey) }
            if batch.isEmpty || result.waitedFor != nil { break }
            let all = done + victims.reduce(0) { $0 + $1.indexedLength }
            options.onProgress(done, all)
            for segment in batch { left[segment.number] = nil }
            try reclaim(batch, survey, mark) { [options] bytes in
                done += bytes
                options.onProgress(done, all)
            }
        }
        try shrinkCatalogue()
        result.freedBytes = max(0, result.freedBytes - result.movedBytes)
        result.bytesAfter = Int(clamping: try catalogue.localSegmentBytes())
        return result
    }

    /// Shrinks the catalogue's file if much of it is free.
    private func shrinkCatalogue() throws(StorageError) {
        var pages = try catalogue.pages()
        guard pages.freeBytes >= Reclaimer.leastFreeBytes, pages.free > pages.count / 4 else { return }
        while pages.free > pages.count / 16 {
            if options.isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            let before = pages.free
            do throws(StorageError) {
                try catalogue.shrink(by: pacing.isShared ? Pacing.rows : Reclaimer.rowsAtOnce)
            } catch {
                // Shrinking writes to the log first, which needs space.
                guard error.code == .noSpace else { throw error }
                return
            }
            try pacing.makeWay()
            pages = try catalogue.pages()
            guard pages.free < before else { return }
        }
    }

    // MARK: Choosing segments

    /// The segments to drop, the newest first: a delta is rewritten before its bases are dropped.
    private func victims(
        among segments: [ListedSegment], _ survey: SegmentSurvey
    ) throws(StorageError) -> [ListedSegment] {
        if let purged = options.purged {
            let unclean = try PurgeSurvey(store, live: live, purged: purged, survey).segments
            return segments.filter { unclean.contains($0.number) }.sorted { $0.path > $1.path }
        }
        let copied = try catalogue.copiedSegments()
        let lacking = try store.unreplicated(segments)
        (result.unreplicated, result.bytesUnreplicated) = (0, 0)
        for segment in segments where lacking.contains(segment.number) {
            let free = survey.tally(of: segment.number).freeBytes
            if free > 0 {
                (result.unreplicated, result.bytesUnreplicated) = (
                    result.unreplicated + 1, result.bytesUnreplicated + free
                )
            }
        }
        let segments = segments.filter { segment in
            !lacking.contains(segment.number) && segment.name.map { !copied.contains($0) } ?? true
        }
        let fullBytes = store.sealingBytes
        let small = segments.filter { $0.indexedLength < fullBytes / 8 }
        let isMerging = small.count >= Reclaimer.smallSegments
        let withNotes = try segmentsWithRemovedNotes()
        var freedBytes = result.freedBytes - result.movedBytes
        var further: [(segment: ListedSegment, tally: SegmentSurvey.Tally)] = []
        var victims = segments.filter { segment in
            let tally = survey.tally(of: segment.number)
            // A block with dead bases keeps them; rewritten, it does not.
            let gain = tally.freeBytes + tally.dependentBytes
            let isRequired = isMerging && small.contains(segment) || withNotes.contains(segment.number)
            if isRequired || gain > 0 && gain * 100 >= tally.bytes * options.leastShare {
                freedBytes += tally.freeBytes
                return true
            }
            if gain > 0 { further.append((segment, tally)) }
            return false
        }
        further.sort { $0.tally.freeBytes * $1.tally.bytes > $1.tally.freeBytes * $0.tally.bytes }
        for (segment, tally) in further where freedBytes < options.goalBytes {
            freedBytes += tally.freeBytes
            victims.append(segment)
        }
        return victims.sorted { $0.path > $1.path }
    }

    /// The numbers of the segments that hold a removed note: its bytes must not stay, however few they are.
    private func segmentsWithRemovedNotes() throws(StorageError) -> Set<Int64> {
        var found: Set<Int64> = []
        for note in try catalogue.removedNotes() {
            for copy in try catalogue.copies(beginning: ChunkPrefix(note)) where copy.id == note {
                found.insert(copy.location.segment)
            }
        }
        return found
    }

    /// The segments to drop next: not too many at once, and only as many as the disk has room to copy.
    ///
    /// - Parameter room: the bytes that are free on the disk; nil if unknown.
    private func batch(of victims: [ListedSegment], _ survey: SegmentSurvey, room: Int?) -> [ListedSegment] {
        var (bytes, room) = (0, room)
        var batch: [ListedSegment] = []
        for segment in victims {
            let needed = survey.tally(of: segment.number).neededBytes
            if let left = room {
                // Without anything to copy, a segment is dropped on the fullest disk.
                if needed > 0, needed + Reclaimer.leastRoom > left { continue }
                room = left - needed
            }
            if bytes > 0, bytes + segment.indexedLength > Reclaimer.batchBytes { break }
            bytes += segment.indexedLength
            batch.append(segment)
        }
        return batch
    }

    /// Determines what a run would do: the same batches, without the work.
    private func foresee(_ victims: [ListedSegment], _ survey: SegmentSurvey) {
        var room = store.freeBytes().map { $0 + options.releasedBytes }
        var left = victims
        while true {
            let batch = batch(of: left, survey, room: room)
            if batch.isEmpty { break }
            for segment in batch {
                let freed = survey.tally(of: segment.number).freeBytes
                result.dropped += 1
                result.freedBytes += freed
                room = room.map { $0 + freed }
            }
            left.removeAll { segment in batch.contains { $0.number == segment.number } }
        }
        recordWithoutRoom(left, survey)
        result.bytesAfter = result.bytesBefore - result.freedBytes
    }

    private func recordWithoutRoom(_ segments: [ListedSegment], _ survey: SegmentSurvey) {
        for segment in segments {
            let tally = survey.tally(of: segment.number)
            let needed = tally.neededBytes + Reclaimer.leastRoom
            result.roomNeeded = result.withoutRoom == 0 ? needed : min(result.roomNeeded, needed)
            result.withoutRoom += 1
            result.bytesWithoutRoom += tally.freeBytes
        }
    }

    /// Drops the segments of a batch, all or none: dead chunks in one may depend on dead chunks in another.
    private func reclaim(
        _ batch: [ListedSegment], _ survey: SegmentSurvey, _ mark: (inout ChunkSet) throws -> Void,
        onProgress: (Int) -> Void
    ) throws {
        var victims: [ListedSegment] = []
        for segment in batch {
            do throws(StorageError) {
                if try condemn(segment) {
                    victims.append(segment)
                } else {
                    result.inUse += 1
                    result.bytesInUse += survey.tally(of: segment.number).freeBytes
                }
            } catch {
                guard error.code == .noSpace, options.purged == nil else { throw error }
                recordWithoutRoom([segment], survey)
            }
        }
        do {
            guard try waitForCommits() else {
                for segment in victims {
                    try catalogue.uncondemn(segment.number)
                    result.inUse += 1
                    result.bytesInUse += survey.tally(of: segment.number).freeBytes
                }
                return
            }
            // Commits may have reused chunks that seemed dead, and a writer that died may have left a snapshot that
            // only its segment knows of.
            try update()
            try uncondemnCopied(&victims)
            try mark(&live)
            while !victims.isEmpty {
                guard let staying = try evacuate(victims, onProgress) else { break }
                // It stays, so the chunks that it depends on in the others must be copied as well.
                try catalogue.uncondemn(staying.number)
                victims.removeAll { $0.number == staying.number }
            }
        } catch {
            for segment in victims { _ = try? catalogue.uncondemn(segment.number) }
            throw error
        }
        try drop(victims)
        result.dropped += victims.count
        result.freedBytes += victims.reduce(0) { $0 + $1.indexedLength }
    }

    /// Removes the segments that other files have as well: dropping an id drops all files that have it.
    private func uncondemnCopied(_ victims: inout [ListedSegment]) throws(StorageError) {
        let copied = try catalogue.copiedSegments()
        if copied.isEmpty { return }
        for victim in victims where victim.name.map(copied.contains) ?? false {
            try catalogue.uncondemn(victim.number)
            let path = store.segments.path(of: victim.path)
            result.damaged.append("segment \(path) stays: another file has the same id")
        }
        victims.removeAll { $0.name.map(copied.contains) ?? false }
    }

    /// Copies the live chunks out of the segments.
    ///
    /// - Returns: the first segment that is damaged or has no room for its copy; nil if everything was copied.
    private func evacuate(
        _ victims: [ListedSegment], _ onProgress: (Int) -> Void
    ) throws(StorageError) -> ListedSegment? {
        let survey = try SegmentSurvey(catalogue, live: live)
        let evacuation = try Evacuation(
            store, live: live, survey, victims: Set(victims.map(\.number)), purged: options.purged, pacing)
        defer { result.movedBytes += evacuation.movedBytes }
        // The oldest first: the new depth of a base is known before a delta against it is rewritten.
        for segment in victims.reversed() {
            do throws(StorageError) {
                try evacuation.move(blocks(of: segment), of: segment, isCancelled: options.isCancelled)
            } catch {
                if error.code == .noSpace {
                    if options.purged != nil { throw noRoom(toMove: segment, survey) }
                    // Other programs write to the disk, too.
                    recordWithoutRoom([segment], survey)
                    return segment
                }
                guard error.code == .damaged || error.code == .newerFormat else { throw error }
                result.damaged.append(error.message)
                return segment
            }
            onProgress(segment.indexedLength)
        }
        return nil
    }

    private func noRoom(toMove segment: ListedSegment, _ survey: SegmentSurvey) -> StorageError {
        let (path, tally) = (store.segments.path(of: segment.path), survey.tally(of: segment.number))
        let needed = (tally.neededBytes + (1 << 20) - 1) >> 20
        return StorageError(
            .noSpace, path,
            "\(path) cannot be pruned: \(needed) MiB in it are still needed, and the disk has no room to copy them",
            remedy: "free \(needed) MiB on that disk, or forget more snapshots, until nothing in it is needed")
    }

    private func blocks(of segment: ListedSegment) throws(StorageError) -> [SegmentFooter.Block] {
        let file = try store.reader.segment(segment.number)
        if let blocks = try file.index() { return blocks }
        // Remains of an interrupted write keep a segment from being sealed. A purge does not copy them.
        if options.purged != nil { return try knownBlocks(of: segment) }
        throw StorageError(.damaged, file.path, "segment \(file.path) has lost its footer")
    }

    private func knownBlocks(of segment: ListedSegment) throws(StorageError) -> [SegmentFooter.Block] {
        var places: [BlockLocation] = []
        try catalogue.forEachBlock(ofSegment: segment.number) { location, _ in places.append(location) }
        var blocks: [SegmentFooter.Block] = []
        for place in places {
            blocks.append(SegmentFooter.Block(offset: place.offset, header: try store.blockHeader(at: place)))
        }
        return blocks
    }

    /// Condemns a segment, and seals it first if necessary.
    ///
    /// - Returns: whether it is condemned; false if another process writes to it.
    private func condemn(_ segment: ListedSegment) throws(StorageError) -> Bool {
        if segment.isSealed { return try catalogue.condemn(segment.number) }
        guard try store.seal(segment) else { return false }
        return try catalogue.condemn(segment.number)
    }

    /// Waits for the commits that may have looked up chunks in segments just condemned.
    ///
    /// - Returns: false if a suspended process has such a commit.
    private func waitForCommits() throws(StorageError) -> Bool {
        guard let holder = try store.waitForCommits(options.isCancelled) else { return true }
        result.waitedFor = holder
        return false
    }

    // MARK: Dropping

    /// Drops segments: removes their rows from the catalogue step by step, records the dropping durably, then removes
    /// the files.
    ///
    /// After an interruption, the next run indexes the segments again that are still condemned.
    private func drop(_ segments: [ListedSegment]) throws(StorageError) {
        if segments.isEmpty { return }
        for segment in segments { try removeRows(of: segment) }
        // A process that opens the archive compares the catalogue with the files.
        let opening = try UseLock.opening(store.layout)
        defer { withExtendedLifetime(opening) {} }
        try store.enter(dropping: segments)
        for segment in segments { try remove(segment.path) }
    }

    private func removeRows(of segment: ListedSegment) throws(StorageError) {
        var rows: [(id: ChunkID, location: BlockLocation)] = []
        for block in try blocks(of: segment) {
            let place = BlockLocation(segment: segment.number, offset: block.offset)
            for chunk in block.header.chunks { rows.append((chunk.id, place)) }
            if rows.count >= (pacing.isShared ? Pacing.rows : Reclaimer.rowsAtOnce) {
                try catalogue.remove(rows)
                rows.removeAll(keepingCapacity: true)
                try pacing.makeWay()
            }
        }
        try catalogue.remove(rows)
    }

    private func remove(_ segment: String) throws(StorageError) {
        guard pacing.isShared else { return try store.writable().remove(segment, pausing: nil) }
        try store.writable().remove(segment) { [pacing] () throws(StorageError) in
            try pacing.makeWay()
        }
    }

    /// Indexes everything in the segments, except those that another process is writing.
    private func update() throws(StorageError) {
        let opening = try UseLock.opening(store.layout)
        defer { withExtendedLifetime(opening) {} }
        try CatalogueUpdate(store).run()
    }

    /// Cleans up after a reclaimer that died.
    ///
    /// Segments that it condemned are indexed again, and remaining files of dropped segments are removed.
    package func tidy() throws(StorageError) {
        try store.indexCondemnedAgain()
        try update()
        let opening = try UseLock.opening(store.layout)
        defer { withExtendedLifetime(opening) {} }
        let known = Set(try catalogue.segments().map(\.path))
        for name in try store.segments.list().segments where !known.contains(name) {
            guard let bytes = try? store.segments.open(name),
                let header = try? Segment(bytes).readHeader(), header.archive == store.manifest.id,
                try catalogue.isDropped(header.segment)
            else { continue }
            try remove(name)
        }
    }
}

extension ArchiveStore {
    /// Microseconds between two checks whether commits have ended.
    private static let pause: UInt32 = 10_000
    /// How long a suspended process may keep a reclaimer waiting.
    private static let patience: Duration = .seconds(5)

    /// Waits for the commits that are running now.
    ///
    /// - Returns: a suspended process that has such a commit; nil if all have ended.
    func waitForCommits(_ isCancelled: () -> Bool) throws(StorageError) -> LockHolder? {
        let epochs = try epochs()
        // A reclaimer that stopped early may have begun this epoch while commits of the previous one were running.
        if let holder = try wait(for: epochs.sideBefore(), epochs, isCancelled) { return holder }
        return try wait(for: epochs.advance(), epochs, isCancelled)
    }

    private func wait(
        for side: Int, _ epochs: Epochs, _ isCancelled: () -> Bool
    ) throws(StorageError) -> LockHolder? {
        var end = ContinuousClock.now + ArchiveStore.patience
        while try !epochs.hasEnded(side, layout) {
            if isCancelled() { throw StorageError.cancelled(layout.directory) }
            usleep(ArchiveStore.pause)
            guard .now > end else { continue }
            // A commit may take as long as it needs, but one that is suspended may never end.
            if let holder = epochs.stoppedHolder(side) { return holder }
            end = .now + ArchiveStore.patience
        }
        return nil
    }

    /// Indexes the segments again that a reclaimer had condemned when it died: it may have removed some of their rows.
    ///
    /// No reclaimer may be running.
    package func indexCondemnedAgain() throws(StorageError) {
        let condemned = try catalogue.segments().filter { $0.state == .condemned }
        if condemned.isEmpty { return }
        let opening = try UseLock.opening(layout)
        defer { withExtendedLifetime(opening) {} }
        for segment in condemned { try catalogue.forget(segment.number) }
        try CatalogueUpdate(self).run()
    }

    /// Excludes reclaimers for as long as the lock lives: no segment is dropped.
    ///
    /// - Parameter isWaiting: whether to wait for a running reclaimer.
    /// - Returns: nil if the archive cannot be written to.
    /// - Throws: `StorageError` with the code `inUse` if a reclaimer is running and is not waited for.
    package func withoutReclaimers(isWaiting: Bool = true) throws(StorageError) -> FileLock? {
        guard isWritable else { return nil }
        let path = layout.lock("reclaim.lock")
        if isWaiting {
            let work = "freeing space in \(layout.directory) or checking it"
            do { return try FileLock.exclusive(path, for: work, in: layout) } catch let error as FileError {
                throw StorageError(error)
            } catch {
                throw error as? StorageError ?? StorageError(.system, path.path, "cannot lock \(path.path): \(error)")
            }
        }
        if let lock = try storing({ () throws(FileError) in try FileLock.tryExclusive(path) }) { return lock }
        let holder = try? FileLock.holder(of: path)
        let process = holder.map { ": process \($0.process) (\($0.command))" } ?? ""
        throw StorageError(
            .inUse, layout.directory,
            "another process is freeing space in \(layout.directory) or checking it\(process)",
            remedy: "wait until it has ended")
    }
}

extension StorageError {
    /// The error for work that was cancelled.
    package static func cancelled(_ archive: FilePath) -> StorageError {
        StorageError(.cancelled, archive, "cancelled before the end; nothing is lost", remedy: "run it again")
    }
}
