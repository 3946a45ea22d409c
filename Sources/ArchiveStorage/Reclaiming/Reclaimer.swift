// Gives the bytes of what is forgotten back to the file system.

package import ArchiveFormat
package import FileIO
internal import Glibc
package import SystemPackage

/// What a reclaimer did, or would do.
package struct Reclaimed: Sendable, Hashable {
    /// Bytes of all segments before.
    package var bytesBefore = 0
    /// Bytes of all segments afterwards; of a dry run, about.
    package var bytesAfter = 0
    /// Bytes of what was dropped, without those that were copied; others may have written more meanwhile.
    package var freedBytes = 0
    /// Segments that were there before, and those that were dropped.
    package var segments = 0
    package var dropped = 0
    /// Bytes that were copied out of those.
    package var movedBytes = 0
    /// Segments that others were writing to.
    package var inUse = 0
    /// Segments that stay because of damage, each as a sentence.
    package var damaged: [String] = []
}

/// Drops segments after what lives in them was copied elsewhere.
///
/// One at a time works in an archive; captures and restores go on meanwhile, and nobody waits for it. It can be ended at
/// any moment: what it had done is done, and nothing is missing.
package final class Reclaimer {
    /// What a reclaimer may do.
    package struct Options: Sendable {
        /// Whether only to tell what would be done.
        package var isDryRun = false
        /// Records that are to be in no segment afterwards, and neither is anything else that nothing needs; nil to drop what is
        /// worth it.
        ///
        /// Nobody else may use the archive then. It takes room for a copy of all that lives in the segments that go.
        package var purged: Set<ChunkID>?
        /// A segment is worth copying from when this share of it can be freed, in hundredths.
        package var leastShare = 10
        /// Asked now and then whether to end early.
        package var isCancelled: @Sendable () -> Bool = { false }
        /// Told of bytes that were dealt with, out of how many.
        package var onProgress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }

        package init() {}
    }

    private let store: ArchiveStore
    private let options: Options
    private let lock: FileLock
    private let pacing: Pacing
    private var live = ChunkSet()
    private var result = Reclaimed()

    private var catalogue: Catalogue { store.catalogue }

    /// Segments condemned at once have so many bytes at most: meanwhile what is captured is stored again where only they
    /// hold it.
    private static let batchBytes = 512 << 20
    /// So many segments of less than an eighth of the full size are made one.
    private static let smallSegments = 8
    /// Rows of the catalogue removed at once by one that is alone.
    private static let rowsAtOnce = 2_000
    /// Bytes of the catalogue that hold nothing are given back where there are so many; less is soon used again.
    private static let leastFreeBytes = 1 << 20
    /// Microseconds between two looks at whether commits have ended.
    private static let pause: UInt32 = 10_000

    /// - Throws: `StorageError` of the code `inUse` where another process reclaims.
    package init(_ store: ArchiveStore, _ options: Options = Options()) throws(StorageError) {
        if let refusal = store.refusal { throw refusal }
        self.store = store
        self.options = options
        pacing = Pacing(store)
        guard let taken = try store.withoutReclaimers(isWaiting: false) else {
            throw StorageError(.readOnly, store.layout.directory, "the archive cannot be written to")
        }
        lock = taken
    }

    /// What is to be called often by whatever takes long meanwhile: others, who capture, go first.
    package var pause: @Sendable () -> Void { pacing.pause }

    /// Drops what can be dropped.
    ///
    /// - Parameter mark: adds what lives by now to the set; what is in it stays there. Called again and again.
    package func run(_ mark: (inout ChunkSet) throws -> Void) throws -> Reclaimed {
        try tidy()
        store.giveUpWriters()
        try mark(&live)
        let present = try catalogue.segments()
        result.segments = present.count
        result.bytesBefore = present.reduce(0) { $0 + $1.indexedLength }
        var left = Dictionary(uniqueKeysWithValues: present.map { ($0.number, $0) })
        var done = 0
        while true {
            let survey = try SegmentSurvey(catalogue, live: live)
            let victims = try victims(among: Array(left.values), survey)
            if options.isDryRun {
                let freed = victims.reduce(0) { $0 + survey.tally(of: $1.number).freeBytes }
                result.dropped = victims.count
                result.freedBytes = freed
                result.bytesAfter = result.bytesBefore - freed
                return result
            }
            let batch = options.purged == nil ? Reclaimer.batch(of: victims) : victims
            if batch.isEmpty { break }
            let all = done + victims.reduce(0) { $0 + $1.indexedLength }
            options.onProgress(done, all)
            for segment in batch { left[segment.number] = nil }
            try reclaim(batch, mark) { [options] bytes in
                done += bytes
                options.onProgress(done, all)
            }
        }
        try shrinkCatalogue()
        result.freedBytes = max(0, result.freedBytes - result.movedBytes)
        result.bytesAfter = try catalogue.segments().reduce(0) { $0 + $1.indexedLength }
        return result
    }

    /// Gives back what the catalogue does not need any more, where that is much.
    private func shrinkCatalogue() throws(StorageError) {
        var pages = try catalogue.pages()
        guard pages.freeBytes >= Reclaimer.leastFreeBytes, pages.free > pages.count / 4 else { return }
        while pages.free > pages.count / 16 {
            if options.isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            let before = pages.free
            do throws(StorageError) {
                try catalogue.shrink(by: pacing.isShared ? Pacing.rows : Reclaimer.rowsAtOnce)
            } catch {
                // Its log takes room first.
                guard error.code == .noSpace else { throw error }
                return
            }
            try pacing.makeWay()
            pages = try catalogue.pages()
            guard pages.free < before else { return }
        }
    }

    // MARK: What is dropped

    /// The segments that are worth it, the newest first: what stands on others is written anew before those go.
    private func victims(
        among segments: [ListedSegment], _ survey: SegmentSurvey
    ) throws(StorageError) -> [ListedSegment] {
        if let purged = options.purged {
            let unclean = try PurgeSurvey(store, live: live, purged: purged, survey).segments
            return segments.filter { unclean.contains($0.number) }.sorted { $0.path > $1.path }
        }
        let small = segments.filter { $0.indexedLength < store.manifest.parameters.segmentBytes / 8 }
        let isMerging = small.count >= Reclaimer.smallSegments
        return segments.filter { segment in
            if isMerging, small.contains(segment) { return true }
            let tally = survey.tally(of: segment.number)
            // What stands on chunks that do not live keeps them; written anew, it does not.
            let gain = tally.freeBytes + tally.leaningBytes
            return gain > 0 && gain * 100 >= tally.bytes * options.leastShare
        }.sorted { $0.path > $1.path }
    }

    private static func batch(of victims: [ListedSegment]) -> [ListedSegment] {
        var bytes = 0
        let batch = victims.prefix { segment in
            defer { bytes += segment.indexedLength }
            return bytes == 0 || bytes + segment.indexedLength <= batchBytes
        }
        return Array(batch)
    }

    /// Drops the segments of a batch, all or none: what nobody needs in one may stand on what nobody needs in another.
    private func reclaim(
        _ batch: [ListedSegment], _ mark: (inout ChunkSet) throws -> Void, onProgress: (Int) -> Void
    ) throws {
        var victims = try batch.filter { segment throws(StorageError) in try condemn(segment) }
        do {
            try waitForCommits()
            // What was committed meanwhile may have taken up what seemed dead; a writer that died may have left a
            // snapshot behind that only its segment knows of.
            try update()
            try mark(&live)
            while !victims.isEmpty {
                guard let damaged = try evacuate(victims, onProgress) else { break }
                // It stays, and what it needs of the others has to be copied as well.
                try catalogue.acquit(damaged.number)
                victims.removeAll { $0.number == damaged.number }
            }
        } catch {
            for segment in victims { _ = try? catalogue.acquit(segment.number) }
            throw error
        }
        try drop(victims)
        result.dropped += victims.count
        result.freedBytes += victims.reduce(0) { $0 + $1.indexedLength }
    }

    /// Copies what lives out of the segments.
    ///
    /// - Returns: the first that is damaged; nil where all is copied.
    private func evacuate(
        _ victims: [ListedSegment], _ onProgress: (Int) -> Void
    ) throws(StorageError) -> ListedSegment? {
        let survey = try SegmentSurvey(catalogue, live: live)
        var evacuation = try Evacuation(
            store, live: live, survey, victims: Set(victims.map(\.number)), purged: options.purged, pacing)
        defer { result.movedBytes += evacuation.movedBytes }
        // The oldest first: what is written anew against a chunk knows then how deep that stands.
        for segment in victims.reversed() {
            do throws(StorageError) {
                try evacuation.move(blocks(of: segment), of: segment, isCancelled: options.isCancelled)
            } catch {
                guard error.code == .damaged || error.code == .newerFormat else { throw error }
                result.damaged.append(error.message)
                return segment
            }
            onProgress(segment.indexedLength)
        }
        return nil
    }

    private func blocks(of segment: ListedSegment) throws(StorageError) -> [SegmentFooter.Block] {
        let file = try store.reader.segment(segment.number)
        if let blocks = try file.index() { return blocks }
        // What an interrupted write has left keeps a segment from being sealed. A purge leaves that behind, too.
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

    /// Condemns a segment, after sealing it where that was still to be done.
    ///
    /// - Returns: whether it is condemned now; not where somebody writes to it.
    private func condemn(_ segment: ListedSegment) throws(StorageError) -> Bool {
        if segment.isSealed { return try catalogue.condemn(segment.number) }
        guard try store.seal(segment) else {
            result.inUse += 1
            return false
        }
        return try catalogue.condemn(segment.number)
    }

    /// Waits for the commits that may have looked at what was condemned just before.
    private func waitForCommits() throws(StorageError) {
        let epochs = try store.epochs()
        // A reclaimer that ended early may have begun this epoch while commits of the one before went on.
        try wait(for: epochs.sideBefore(), epochs)
        try wait(for: epochs.advance(), epochs)
    }

    private func wait(for side: Int, _ epochs: Epochs) throws(StorageError) {
        while try !epochs.hasEnded(side, store.layout) {
            if options.isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            usleep(Reclaimer.pause)
        }
    }

    // MARK: Dropping

    /// Takes segments out of the archive: out of the catalogue bit by bit, then durably on record, then off the disk.
    ///
    /// Where it ends in between, the next run has those that are still condemned indexed anew.
    private func drop(_ segments: [ListedSegment]) throws(StorageError) {
        if segments.isEmpty { return }
        for segment in segments { try removeRows(of: segment) }
        // Who opens the archive compares the catalogue with the files.
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
        guard pacing.isShared else { return try store.segments.remove(segment, pausing: nil) }
        try store.segments.remove(segment) { [pacing] () throws(StorageError) in
            try pacing.makeWay()
        }
    }

    /// Has the catalogue know of all that is in the segments, but for what somebody writes at this moment.
    private func update() throws(StorageError) {
        let opening = try UseLock.opening(store.layout)
        defer { withExtendedLifetime(opening) {} }
        try CatalogueUpdate(store).run()
    }

    /// Ends what a reclaimer that died had begun: what it took out of the catalogue in part is known again.
    package func tidy() throws(StorageError) {
        for segment in try catalogue.segments() where segment.state == .condemned {
            // Some of its rows may be gone; it is indexed anew.
            try catalogue.forget(segment.number)
        }
        try update()
        let opening = try UseLock.opening(store.layout)
        defer { withExtendedLifetime(opening) {} }
        let known = Set(try catalogue.segments().map(\.path))
        for name in try store.segments.list().segments where !known.contains(name) {
            guard let bytes = try? store.segments.open(name, writable: false),
                let header = try? Segment(bytes).readHeader(), header.archive == store.manifest.id,
                try catalogue.isDropped(header.segment)
            else { continue }
            try remove(name)
        }
    }
}

extension ArchiveStore {
    /// Keeps reclaimers away as long as the lock lives: nothing is dropped meanwhile.
    ///
    /// - Parameter isWaiting: whether to wait for one that is at work.
    /// - Returns: nil where the archive cannot be written to.
    /// - Throws: `StorageError` of the code `inUse` where one is at work that is not waited for.
    package func withoutReclaimers(isWaiting: Bool = true) throws(StorageError) -> FileLock? {
        guard isWritable else { return nil }
        let path = layout.lock("reclaim.lock")
        if isWaiting { return try storing { () throws(FileError) in try FileLock.exclusive(path) } }
        if let lock = try storing({ () throws(FileError) in try FileLock.tryExclusive(path) }) { return lock }
        let holder = try? FileLock.holder(of: path)
        let process = holder.map { ": process \($0.process) (\($0.command))" } ?? ""
        throw StorageError(
            .inUse, layout.directory,
            "space of \(layout.directory) is being given back, or all of it is being checked\(process)",
            remedy: "wait until that has ended")
    }
}

extension StorageError {
    /// Somebody asked for an early end.
    package static func cancelled(_ archive: FilePath) -> StorageError {
        StorageError(.cancelled, archive, "ended before all was done; nothing is lost", remedy: "run it again")
    }
}
