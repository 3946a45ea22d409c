// Brings the catalogue up to date with the segments: after a crash, after a copy, or from nothing.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Indexes what segments hold beyond what the catalogue knows, and cuts off torn tails.
///
/// Only one process at a time does so (`UseLock.opening`).
package struct CatalogueUpdate {
    /// What an update found.
    package struct Summary: Sendable, Hashable {
        /// Segments in the archive.
        package var segments = 0
        /// Chunks newly indexed.
        package var chunks = 0
        /// Snapshots newly indexed.
        package var snapshots = 0
        /// Gaps newly indexed.
        package var gaps = 0
        /// Saved states newly indexed.
        package var states = 0
        /// Operations newly indexed, completions among them.
        package var operations = 0
        /// Bytes of torn tails, cut off.
        package var cutBytes = 0
        /// What was cut off and where it is kept, each as a sentence.
        package var cuts: [String] = []
        /// Damaged places, each as a sentence.
        package var damage: [String] = []
        /// Files that are not read, each as a sentence that says why.
        package var unread: [String] = []
    }

    /// A segment that was read and whose records are not entered yet.
    private struct Scanned {
        let path: String
        let number: Int64
        /// Nil where its header is damaged.
        let name: SegmentID?
        var scan: SegmentScan
        /// The file's length in bytes.
        let length: Int
        /// Whether nothing may be appended any more: it is sealed, or damaged before its end.
        let isClosed: Bool
        /// Whether all of it was read, and not only what the catalogue did not know.
        let isFromStart: Bool
        /// Blocks that cannot be read and may hold a snapshot.
        let lost: [(offset: Int, snapshot: SnapshotID?)]
        var damage: [String]
    }

    /// Chunks that wait to be entered together, some 40 bytes of memory each.
    private static let stepChunks = 1 << 20

    let store: ArchiveStore
    private var layout: ArchiveLayout { store.layout }
    private var catalogue: Catalogue { store.catalogue }

    init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Brings the catalogue up to date.
    ///
    /// The chunks of all segments are entered first: snapshots may be compressed against those of other segments. Only
    /// then is it noted how far the segments are indexed, so that an interrupted update is done again.
    @discardableResult
    func run() throws(StorageError) -> Summary {
        var summary = Summary()
        var known: [String: SegmentRecord] = [:]
        for record in try catalogue.segments() { known[record.path] = record }
        let listing = try SegmentListing(layout)
        for path in listing.strangers {
            summary.unread.append("\(layout.segment(path)) does not have the name of a segment, and is not read")
        }
        if store.isWritable { listing.unfinished.forEach(remove(unfinished:)) }
        let missing = Set(known.keys).subtracting(listing.segments).sorted()
        for lost in missing {
            let message = "segment \(layout.segment(lost)) is missing"
            summary.damage.append(message)
            try catalogue.note(message, ofSegment: lost)
            if let record = known[lost] { try catalogue.forget(record.number) }
        }
        var scanned: [Scanned] = []
        // Ids are spread evenly: many at once fill a page of the table where few would touch one each.
        var found = FoundBlocks()
        for path in listing.segments {
            summary.segments += 1
            if let record = known[path], isAsKnown(record) { continue }
            guard let new = try scan(path, known[path], &summary, &found) else { continue }
            scanned.append(new)
        }
        try found.enter(catalogue)
        try passOverDropped(&scanned)
        // Notices tell whose the records of all segments are.
        var notices: [StoredNotice] = []
        for index in scanned.indices { notices += try self.notices(of: scanned[index], &scanned[index].damage) }
        if !notices.isEmpty { try catalogue.enter(notices.sorted { $0.record.time < $1.record.time }) }
        let hasLost = !missing.isEmpty || scanned.contains { !$0.damage.isEmpty }
        for segment in scanned { try enterRecords(of: segment, &summary) }
        if hasLost { try catalogue.noteLossesOfAnyRoot() }
        return summary
    }

    /// Chunks and blocks that wait to be entered together.
    private struct FoundBlocks {
        // Ids are spread evenly: many at once fill a page of the table where few would touch one each.
        private var chunks: [(id: ChunkID, location: BlockLocation)] = []
        private var blocks: [(location: BlockLocation, block: StoredBlock)] = []

        mutating func add(
            _ header: BlockHeader, at location: BlockLocation, _ catalogue: Catalogue
        ) throws(StorageError) {
            for chunk in header.chunks { chunks.append((chunk.id, location)) }
            blocks.append((location, StoredBlock(header)))
            if chunks.count >= CatalogueUpdate.stepChunks { try enter(catalogue) }
        }

        mutating func enter(_ catalogue: Catalogue) throws(StorageError) {
            if blocks.isEmpty { return }
            try catalogue.enter(chunks, blocks)
            chunks.removeAll(keepingCapacity: true)
            blocks.removeAll(keepingCapacity: true)
        }
    }

    /// Enters which segments were dropped, and takes out those of them that are there all the same: a crash, or a copy of
    /// the archive, may have left them behind.
    private func passOverDropped(_ scanned: inout [Scanned]) throws(StorageError) {
        var dropped: [DroppedSegments] = []
        for index in scanned.indices {
            dropped += try readable(scanned[index].scan.dropped, { "what was dropped, \($0)" }, &scanned[index].damage)
            {
                (id) throws(StorageError) in try store.droppedSegments(id)
            }
        }
        if dropped.isEmpty { return }
        try catalogue.enter(dropped)
        let names = Set(dropped.flatMap(\.segments))
        scanned.removeAll { $0.name.map(names.contains) ?? false }
    }

    /// Whether a segment is as long as the catalogue says; where that cannot be told it is looked at.
    private func isAsKnown(_ record: SegmentRecord) -> Bool {
        var status = stat()
        let result = layout.segment(record.path).withPlatformString { stat($0, &status) }
        return result == 0 && FileKind(mode: status.st_mode) == .file && Int(status.st_size) == record.indexedLength
    }

    /// Removes a segment that was begun and never came to be, unless its writer is at work.
    private func remove(unfinished path: String) {
        let path = layout.segment(path)
        guard let file = try? SegmentFile(at: path, writable: true), (try? file.tryLock()) == true else { return }
        unlink(path.string)
    }

    private func scan(
        _ path: String, _ known: SegmentRecord?, _ summary: inout Summary,
        _ found: inout FoundBlocks
    ) throws(StorageError) -> Scanned? {
        guard let (file, isReadOnly) = try open(path, &summary) else { return nil }
        // A segment that is being written is its writer's to index.
        if store.isWritable, try !file.tryLock() { return nil }
        var damage: [String] = []
        var known = known
        // It may have been written to since the list was read.
        if let number = known?.number { known = try catalogue.segment(number) }
        var length = try file.length()
        if let record = known {
            if length == record.indexedLength { return nil }
            if length < record.indexedLength || record.isSealed {
                damage.append(
                    length < record.indexedLength
                        ? "segment \(file.path) has lost its end: \(length) of \(record.indexedLength) bytes are left"
                        : "segment \(file.path) was sealed with \(record.indexedLength) bytes and has \(length)")
                try catalogue.forget(record.number)
                known = nil
            }
        }
        var name: SegmentID?
        guard try checkHeader(of: file, length, &name, &damage, &summary) else {
            try note(damage, of: path, &summary)
            return nil
        }
        var isClosed = !damage.isEmpty
        let record: SegmentRecord
        if let known {
            record = known
        } else {
            record = try catalogue.enterSegment(path, name: name, indexedLength: SegmentHeader.byteCount)
        }
        catalogue.counters.segmentsScanned.add()
        let hasFooter = (try? SegmentScan.footer(of: file)) != nil
        let scan = try SegmentScan(
            of: file, from: record.indexedLength, verifyingPayloads: !hasFooter, passingDamage: true
        ) { (header, offset) throws(StorageError) in
            summary.chunks += header.chunks.count
            try found.add(header, at: BlockLocation(segment: record.number, offset: offset), catalogue)
        }
        damage += scan.damage.map { $0.message(in: file.path) }
        let lost = (scan.damage + scan.unfinished + [scan.tornTail].compactMap { $0 }).compactMap {
            CatalogueUpdate.lostSnapshot($0, file)
        }
        isClosed = isClosed || hasFooter || !scan.damage.isEmpty
        if let tail = scan.tornTail {
            if isClosed {
                damage.append(tail.message(in: file.path))
            } else if isReadOnly || !store.isWritable {
                summary.cuts.append("an unfinished write is passed over: \(tail.message(in: file.path))")
            } else if let failure = try cut(file, tail, &summary) {
                damage.append(failure)
                isClosed = true
            }
        }
        for part in scan.unfinished {
            summary.cuts.append("parts of an unfinished write are passed over: \(part.message(in: file.path))")
            isClosed = true
        }
        length = try file.length()
        if store.isWritable, !isReadOnly { try file.synchronize() }
        return Scanned(
            path: path, number: record.number, name: name, scan: scan, length: length, isClosed: isClosed,
            isFromStart: known == nil, lost: lost, damage: damage)
    }

    /// What may be lost with a damaged block; nil where it held no snapshot.
    private static func lostSnapshot(
        _ damage: SegmentScan.Damage, _ file: SegmentFile
    ) -> (offset: Int, snapshot: SnapshotID?)? {
        // What ends early was never finished, and so was never announced.
        if damage.reason.hasSuffix(FormatError.truncated.description) { return nil }
        if let header = try? file.blockHeader(at: damage.offset) {
            return header.chunks.first { $0.kind == .snapshot }.map { (damage.offset, SnapshotID($0.id)) }
        }
        // Not so where it is zeros, as an interrupted write leaves behind, or a footer.
        guard let bytes = try? file.read(at: damage.offset, atMost: BlockHeader.magic.count) else { return nil }
        return bytes == SegmentFooter.indexMagic || !bytes.contains { $0 != 0 } ? nil : (damage.offset, nil)
    }

    /// Opens a segment; where others may not be changed, at least for reading.
    ///
    /// - Returns: nil where it cannot be read, which is told.
    private func open(
        _ path: String, _ summary: inout Summary
    ) throws(StorageError) -> (file: SegmentFile, isReadOnly: Bool)? {
        let filePath = layout.segment(path)
        if store.isWritable {
            do { return (try SegmentFile(at: filePath, writable: true), false) } catch {
                guard error.code == .readOnly || error.code == .damaged else { throw error }
            }
        }
        do { return (try SegmentFile(at: filePath), store.isWritable) } catch {
            guard error.code == .readOnly || error.code == .damaged else { throw error }
            summary.unread.append(error.message)
            return nil
        }
    }

    /// Whether a segment is of this archive, and was not dropped.
    ///
    /// A segment of a newer format is refused, not passed over: what is in it would seem not to exist. Where its header is damaged it is taken for ours: the blocks prove themselves.
    private func checkHeader(
        of file: SegmentFile, _ length: Int, _ name: inout SegmentID?, _ damage: inout [String],
        _ summary: inout Summary
    ) throws(StorageError) -> Bool {
        if length < SegmentHeader.byteCount {
            damage.append("segment \(file.path) holds nothing: \(length) bytes are there")
            return false
        }
        do {
            let header = try file.readHeader()
            name = header.segment
            if header.archive == store.manifest.id { return try !catalogue.isDropped(header.segment) }
            summary.unread.append("segment \(file.path) belongs to another archive, and is not read")
            return false
        } catch  where error.code == .damaged {
            damage.append(error.message)
            return true
        }
    }

    /// Cuts off a tail that no whole block follows, and keeps it beside.
    ///
    /// - Returns: why that could not be done; the segment stays as it is then.
    private func cut(
        _ file: SegmentFile, _ tail: SegmentScan.Damage, _ summary: inout Summary
    ) throws(StorageError) -> String? {
        let count = try file.length() - tail.offset
        let place = "byte \(tail.offset) of \(file.path)"
        do {
            let copy = try Salvage.keep(file, from: tail.offset, in: layout)
            try file.truncate(to: tail.offset)
            let kept = copy.map { "kept as \($0)" } ?? "which were zeros"
            summary.cuts.append("an unfinished write at \(place) was cut off: \(count) bytes, \(kept)")
            summary.cutBytes += count
            return nil
        } catch {
            return "an unfinished write at \(place) cannot be cut off: \(error.message)"
        }
    }

    private func note(_ damage: [String], of path: String, _ summary: inout Summary) throws(StorageError) {
        guard let first = damage.first else { return }
        summary.damage += damage
        let more = damage.count > 1 ? ", and \(damage.count - 1) more findings in that segment" : ""
        try catalogue.note(first + more, ofSegment: path)
    }

    private func enterRecords(of segment: Scanned, _ summary: inout Summary) throws(StorageError) {
        var damage = segment.damage
        let snapshots = try snapshots(of: segment, &summary, &damage)
        try noteLostSnapshots(of: segment, besides: snapshots)
        let records = CommitRecords(
            snapshots: snapshots, gaps: try gaps(of: segment, &summary, &damage),
            operations: try operations(of: segment, &summary, &damage),
            states: try states(of: segment, &summary, &damage), forgotten: try forgotten(of: segment, &damage))
        if damage.isEmpty, segment.isFromStart {
            try catalogue.note(nil, ofSegment: segment.path)
        } else {
            try note(damage, of: segment.path, &summary)
        }
        try catalogue.enter(segment: segment.number, length: segment.scan.length, chunks: [], records: records)
        if segment.isClosed { try catalogue.markSealed(segment.number, length: segment.length) }
    }

    private func snapshots(of segment: Scanned, _ summary: inout Summary, _ damage: inout [String]) throws(StorageError)
        -> [SnapshotRecord]
    {
        let snapshots = try readable(segment.scan.snapshots, { "snapshot \($0.id.short)" }, &damage) {
            (found) throws(StorageError) in
            SnapshotRecord(try store.snapshot(found.id), id: found.id, ownBytes: found.ownBytes)
        }
        summary.snapshots += snapshots.count
        return snapshots
    }

    /// Notes the snapshots of a segment that cannot be read, and between which others they were made.
    private func noteLostSnapshots(of segment: Scanned, besides readable: [SnapshotRecord]) throws(StorageError) {
        let times = Dictionary(readable.map { ($0.id, $0.time) }) { first, _ in first }
        let places =
            segment.scan.snapshots.map { (offset: $0.offset, id: SnapshotID?.some($0.id), time: times[$0.id]) }
            + segment.lost.map { (offset: $0.offset, id: $0.snapshot, time: Timestamp?.none) }
        var lost: [LostSnapshot] = []
        var since = FilePath(segment.path).lastComponent.flatMap { SegmentName(fileName: $0.string) }?.time
        var waiting: [(offset: Int, id: SnapshotID?)] = []
        func take(until: Timestamp) {
            for place in waiting {
                lost.append(
                    LostSnapshot(
                        segment: segment.path, offset: place.offset, id: place.id,
                        since: since ?? Timestamp(seconds: 0), until: until))
            }
            waiting = []
        }
        for place in places.sorted(by: { $0.offset < $1.offset }) {
            guard let time = place.time else {
                waiting.append((place.offset, place.id))
                continue
            }
            take(until: time)
            since = time
        }
        take(until: .now)
        if segment.isFromStart || !lost.isEmpty {
            try catalogue.note(lost, ofSegment: segment.path, isWhole: segment.isFromStart)
        }
    }

    private func gaps(of segment: Scanned, _ summary: inout Summary, _ damage: inout [String]) throws(StorageError)
        -> [StoredGap]
    {
        let gaps = try readable(segment.scan.gaps, { "gap \($0)" }, &damage) { (id) throws(StorageError) in
            StoredGap(id: id, record: try store.gap(id))
        }
        summary.gaps += gaps.count
        return gaps
    }

    private func operations(of segment: Scanned, _ summary: inout Summary, _ damage: inout [String])
        throws(StorageError) -> [StoredOperation]
    {
        let operations = try readable(segment.scan.operations, { "operation \($0)" }, &damage) {
            (id) throws(StorageError) in
            StoredOperation(id: id, record: try store.operation(id))
        }
        summary.operations += operations.count
        return operations
    }

    private func states(of segment: Scanned, _ summary: inout Summary, _ damage: inout [String]) throws(StorageError)
        -> [SavedState]
    {
        let states = try readable(segment.scan.states, { "state \($0.id.short)" }, &damage) {
            (found) throws(StorageError) in
            SavedState(try store.stateRecord(found.id), id: found.id, ownBytes: found.ownBytes)
        }
        summary.states += states.count
        return states
    }

    private func forgotten(of segment: Scanned, _ damage: inout [String]) throws(StorageError) -> [ForgottenRecords] {
        try readable(segment.scan.forgotten, { "what is forgotten, \($0)" }, &damage) { (id) throws(StorageError) in
            try store.forgotten(id)
        }
    }

    private func notices(of segment: Scanned, _ damage: inout [String]) throws(StorageError) -> [StoredNotice] {
        try readable(segment.scan.notices, { "notice of a root \($0)" }, &damage) { (id) throws(StorageError) in
            StoredNotice(id: id, record: try store.notice(id))
        }
    }

    /// The records of what was found, but for those that are damaged, which are told of.
    private func readable<Found, Record>(
        _ found: [Found], _ name: (Found) -> String, _ damage: inout [String],
        _ read: (Found) throws(StorageError) -> Record
    ) throws(StorageError) -> [Record] {
        var records: [Record] = []
        for item in found {
            do {
                records.append(try read(item))
            } catch  where error.code == .damaged && error.path != layout.catalogue {
                damage.append(error.message(about: name(item)))
            }
        }
        return records
    }
}
