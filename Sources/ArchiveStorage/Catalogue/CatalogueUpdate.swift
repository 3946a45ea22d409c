// Brings the catalogue up to date with the segments: after a crash, after a copy, or from scratch.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Indexes the parts of segments that the catalogue does not have, and cuts off torn tails.
///
/// Only one process at a time does this (`UseLock.opening`).
package struct CatalogueUpdate {
    /// What an update found.
    package struct Summary: Sendable, Hashable {
        /// Segments in the archive.
        package var segments = 0
        /// Chunks newly indexed.
        package var chunks = 0
        /// Records newly indexed, by kind; completions count as operations.
        fileprivate(set) var records: [ChunkKind: Int] = [:]
        /// Bytes of torn tails that were cut off.
        package var cutBytes = 0
        /// Unfinished writes that were cut off or skipped; each entry is a sentence.
        package var cuts: [String] = []
        /// Records that break a rule and were moved into `salvage`; each entry is a sentence.
        package var moved: [String] = []
        /// Damaged places; each entry is a sentence.
        package var damage: [String] = []
        /// Segments that others name and that are not there; each entry is a sentence.
        package var missing: [String] = []
        /// The ids of these segments.
        fileprivate(set) var missingSegments: Set<SegmentID> = []
        /// Missing segments that were recorded as lost; each entry is a sentence.
        package var lost: [String] = []
        /// What later programs wrote and this one cannot read; each entry is a sentence.
        package var unreadable: [String] = []
        /// Files that were not read; each entry is a sentence with the reason.
        package var unread: [String] = []
        /// Files that are no segments; each entry is a sentence.
        package var strangers: [String] = []
    }

    /// A scanned segment whose records are not entered yet.
    private struct Scanned {
        let path: String
        let number: Int64
        /// Nil if its header is damaged.
        let name: SegmentID?
        var scan: SegmentScan
        /// The file's length in bytes.
        let length: Int
        /// Whether nothing may be appended any more: it is sealed, or damaged before its end.
        let isClosed: Bool
        /// Whether all of it was scanned, and not only the part that was not indexed.
        let isFromStart: Bool
        /// The other segments that it names.
        let others: [SegmentID]
        /// Unreadable blocks that may hold a snapshot.
        let lost: [(offset: Int, snapshot: SnapshotID?)]
        var damage: [String]
        /// What its records refer to by fields that this program does not know.
        var references: [ListedReferences] = []
    }

    /// The most chunks collected for one transaction, some 40 bytes of memory each.
    private static let stepChunks = 1 << 20

    let store: ArchiveStore
    private var layout: ArchiveLayout { store.layout }
    private var segments: any SegmentSource { store.segments }
    private var catalogue: Catalogue { store.catalogue }

    init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Brings the catalogue up to date.
    ///
    /// The chunks of all segments are entered first, as snapshots may have bases in other segments. The indexed lengths
    /// are recorded only afterwards, so that an interrupted update is repeated.
    @discardableResult
    func run() throws(StorageError) -> Summary {
        var summary = Summary()
        var known: [String: ListedSegment] = [:]
        for listed in try catalogue.segments() { known[listed.path] = listed }
        let listing = try segments.list()
        for path in listing.strangers {
            let message = "\(segments.path(of: path)) is not read: it does not have the name of a segment"
            // A renamed segment is missed; any other file does no harm.
            if path.hasSuffix(".segment") { summary.unread.append(message) } else { summary.strangers.append(message) }
        }
        if store.isWritable { try listing.unfinished.forEach(store.writable().removeUnfinished) }
        let copies = try SegmentCopies(among: listing.segments, known: known, of: store)
        for copy in copies.unread {
            if let listed = known.removeValue(forKey: copy.path) { try catalogue.forget(listed) }
        }
        let missing = Set(known.keys).subtracting(listing.segments).sorted()
        for lost in missing {
            let message = "segment \(segments.path(of: lost)) is missing"
            summary.damage.append(message)
            try catalogue.record(message, ofSegment: lost)
            guard let listed = known[lost] else { continue }
            try catalogue.forget(listed.number)
            if let name = listed.name { try catalogue.markLost(name) }
        }
        var scanned: [Scanned] = []
        var found = FoundBlocks()
        for path in copies.chosen {
            summary.segments += 1
            if let listed = known[path], isAsKnown(listed) { continue }
            guard let new = try scan(path, known[path], &summary, &found) else { continue }
            scanned.append(new)
        }
        try found.enter(catalogue)
        try enterForgotten(&scanned, &summary)
        try passOverDropped(&scanned, &summary)
        try enter(copies, &summary)
        // Notices decide which roots the records of all segments belong to.
        var notices: [any ListedRecord] = []
        for index in scanned.indices {
            notices += try records(of: .notices, in: &scanned[index], &summary)
        }
        try catalogue.enter(notices.sorted { $0.time < $1.time })
        let hasLost = !missing.isEmpty || scanned.contains { !$0.damage.isEmpty }
        for index in scanned.indices {
            try findReferences(ofUnknownRecordsIn: &scanned[index])
            try enterRecords(of: &scanned[index], &summary)
        }
        if hasLost { try catalogue.recordLossesOfAnyRoot() }
        try findMissing(scanned, listing, &summary)
        try markAway()
        return summary
    }

    /// Finds the segments that are named, by others or by the store, and that are neither there nor dropped.
    private func findMissing(
        _ scanned: [Scanned], _ listing: SegmentListing, _ summary: inout Summary
    ) throws(StorageError) {
        var names: [SegmentID: String?] = [:]
        for other in scanned.flatMap(\.others) { names[other] = .some(nil) }
        for name in listing.begun { names[name.segment] = name.path }
        try catalogue.enter(named: names)
        try note(listing)
        var present = Set(try catalogue.segments().compactMap(\.name))
        for path in listing.segments {
            if let name = path.split(separator: "/").last.flatMap({ SegmentName(fileName: String($0)) }) {
                present.insert(name.segment)
            }
        }
        let lost = try catalogue.lostSegments()
        for (name, path) in try catalogue.namedSegments(withLost: false).sorted(by: { $0.key < $1.key })
        where !present.contains(name) {
            let file = path ?? listing.begun.first { $0.segment == name }?.path
            let place = file.map { segments.path(of: $0).string } ?? "\(name) of \(layout.directory)"
            if let known = lost[name] {
                let reason = known.reason.map { ": \($0)" } ?? ""
                summary.lost.append("segment \(place) is lost, as was recorded at \(known.time.rfc3339)\(reason)")
            } else {
                summary.missing.append("segment \(place) is missing: what it held is lost or not listed")
                summary.missingSegments.insert(name)
            }
        }
    }

    /// Notes the archive's own segments that the store has not noted.
    private func note(_ listing: SegmentListing) throws(StorageError) {
        if !store.isWritable || listing.unnoted.isEmpty { return }
        let own = Set(try catalogue.segments().map(\.path))
        try store.writable().note(
            begun: listing.unnoted.filter(own.contains).compactMap {
                $0.split(separator: "/").last.flatMap { SegmentName(fileName: String($0)) }
            })
    }

    /// Chunks and blocks collected for one transaction.
    private struct FoundBlocks {
        // Ids are spread evenly: a large batch fills pages of the table where a small one would touch a page for each
        // chunk.
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
            let found = chunks
            chunks = []
            try catalogue.enter(consume found, blocks)
            blocks.removeAll(keepingCapacity: true)
        }
    }

    /// Enters the records of forgetting before all others: a forgotten record may break a rule of the format.
    private func enterForgotten(_ scanned: inout [Scanned], _ summary: inout Summary) throws(StorageError) {
        var isBroken = false
        for index in scanned.indices {
            var copy = scanned[index]
            try catalogue.enter(try records(of: .forgotten, in: &copy, &summary))
            if copy.damage.count > scanned[index].damage.count { isBroken = true }
            scanned[index].references = copy.references
        }
        if !isBroken { return }
        // Now those are known that broken ones among them forget.
        for index in scanned.indices { _ = try records(of: .forgotten, in: &scanned[index], &summary) }
    }

    /// Enters dropped segments, and skips those that still exist, left behind by a crash or a copy of the archive.
    private func passOverDropped(_ scanned: inout [Scanned], _ summary: inout Summary) throws(StorageError) {
        var dropped: [any ListedRecord] = []
        for index in scanned.indices {
            dropped += try records(of: .droppedSegments, in: &scanned[index], &summary)
        }
        if dropped.isEmpty { return }
        try catalogue.enter(dropped)
        let names = Set(dropped.compactMap { $0 as? DroppedSegments }.flatMap(\.segments))
        scanned.removeAll { $0.name.map(names.contains) ?? false }
    }

    /// Reports the files that are not read because another file has the same id.
    private func enter(_ copies: SegmentCopies, _ summary: inout Summary) throws(StorageError) {
        var unread: [SegmentCopies.Unread] = []
        for copy in copies.unread where try !catalogue.isDropped(copy.id) {
            let (path, chosen) = (segments.path(of: copy.path), segments.path(of: copy.chosen))
            summary.unread.append("segment \(path) is not read: \(chosen) has the same id")
            unread.append(copy)
        }
        try catalogue.enter(copies: unread)
    }

    /// Whether a segment is as long as the catalogue says; false if its length cannot be determined.
    private func isAsKnown(_ row: ListedSegment) -> Bool { segments.length(of: row.path) == row.indexedLength }

    private func scan(
        _ path: String, _ known: ListedSegment?, _ summary: inout Summary,
        _ found: inout FoundBlocks
    ) throws(StorageError) -> Scanned? {
        guard let (file, writable) = try open(path, &summary) else { return nil }
        // A segment that is being written is indexed by its writer.
        if let writable, try !writable.tryLock() { return nil }
        var damage: [String] = []
        var known = known
        // It may have been written to since the list was read.
        if let number = known?.number { known = try catalogue.segment(number) }
        var length = try file.length()
        if let listed = known {
            if length == listed.indexedLength { return nil }
            if length < listed.indexedLength || listed.isSealed {
                damage.append(
                    length < listed.indexedLength
                        ? "segment \(file.path) has lost its end: \(length) of \(listed.indexedLength) bytes are left"
                        : "segment \(file.path) was sealed with \(listed.indexedLength) bytes and has \(length)")
                try catalogue.forget(listed.number)
                known = nil
            }
        }
        var name: SegmentID?
        guard try checkHeader(of: file, length, &name, &damage, &summary) else {
            try record(damage, of: path, &summary)
            return nil
        }
        var isClosed = !damage.isEmpty
        let listed: ListedSegment
        if let known {
            listed = known
        } else {
            listed = try catalogue.enterSegment(path, name: name, indexedLength: SegmentHeader.byteCount)
        }
        catalogue.counters.segmentsScanned.add()
        let hasFooter = try hasFooter(file)
        let scan = try SegmentScan(
            of: file, from: listed.indexedLength, verifyingPayloads: !hasFooter, passingDamage: true
        ) { (header, offset) throws(StorageError) in
            if header.isOpening, offset == SegmentHeader.byteCount { return }
            if header.mayHideReferences, let obstacle = header.obstacle {
                try pass(StorageError.later(file.path, offset: offset, obstacle), &summary)
            }
            summary.chunks += header.chunks.count
            try found.add(header, at: BlockLocation(segment: listed.number, offset: offset), catalogue)
        }
        let opening = known == nil ? try self.opening(of: file, &damage) : nil
        damage += scan.damage.map { $0.message(in: file.path) }
        let ends = [scan.tornTail, scan.unsearched].compactMap { $0 }
        let lost = (scan.damage + scan.unfinished + ends).compactMap {
            CatalogueUpdate.lostSnapshot($0, file)
        }
        isClosed = isClosed || hasFooter || !scan.damage.isEmpty
        if let tail = scan.unsearched {
            // There may be blocks, so nothing is cut off.
            damage.append("\(tail.message(in: file.path)); the rest is not searched: it has too many false headers")
            isClosed = true
        }
        if let tail = scan.tornTail {
            if isClosed {
                damage.append(tail.message(in: file.path))
            } else if let writable {
                if let failure = try cut(file, writable, tail, &summary) {
                    damage.append(failure)
                    isClosed = true
                }
            } else {
                summary.cuts.append("an unfinished write is skipped: \(tail.message(in: file.path))")
            }
        }
        for part in scan.unfinished {
            summary.cuts.append("parts of an unfinished write are skipped: \(part.message(in: file.path))")
            isClosed = true
        }
        length = try file.length()
        try writable?.synchronize()
        return Scanned(
            path: path, number: listed.number, name: name, scan: scan, length: length, isClosed: isClosed,
            isFromStart: known == nil, others: opening?.others ?? [], lost: lost, damage: damage)
    }

    private func hasFooter(_ file: Segment) throws(StorageError) -> Bool {
        do { return try file.trailer() != nil } catch {
            if error.code == .away { throw error }
            return false
        }
    }

    /// Marks in the catalogue which segments are only in a replica.
    ///
    /// A listed segment that has its file may be about to leave: it stays as it is marked.
    private func markAway() throws(StorageError) {
        guard let joined = store.joined else { return }
        let listed = try joined.listed()
        let rows = try catalogue.segments()
        try catalogue.markLocal(rows.filter { $0.state == .away && listed[$0.path] == nil }.map(\.number))
        if listed.isEmpty { return }
        try catalogue.markAway(
            rows.filter { $0.state == .sealed && listed[$0.path] != nil && !joined.isLocal($0.path) }.map(\.number))
    }

    /// Reports what a later program wrote and this one cannot read; throws it if the archive is open for writing.
    ///
    /// What cannot be read may need any chunk, or be newer than everything else: so nothing may be added or dropped.
    private func pass(_ error: StorageError, _ summary: inout Summary) throws(StorageError) {
        if store.isWritable { throw error }
        if !summary.unreadable.contains(error.message) { summary.unreadable.append(error.message) }
    }

    /// The opening of a segment.
    ///
    /// Its copy of archive.json counts if it is newer than the file, as after that was put back from an old copy.
    private func opening(of file: Segment, _ damage: inout [String]) throws(StorageError) -> SegmentOpening? {
        let opening: SegmentOpening
        do {
            guard let found = try file.opening() else { return nil }
            opening = found
        } catch  where error.code == .damaged {
            let message = error.message(about: "the opening of \(file.path)")
            // A scan reports a damaged header itself, and does not read the payloads of a sealed segment.
            if (try? file.blockHeader(at: SegmentHeader.byteCount)) != nil { damage.append(message) }
            return nil
        }
        guard let copy = try? ArchiveManifest(decoding: Array(opening.manifest.utf8)), copy.id == store.manifest.id,
            copy.revision > store.manifest.revision
        else { return opening }
        if let word = copy.obstacleToReading { throw StorageError.later(layout.directory, word, isReading: true) }
        if store.isWritable, let word = copy.obstacleToWriting {
            throw StorageError.later(layout.directory, word, isReading: false)
        }
        return opening
    }

    /// The snapshot that may be lost with a damaged block; nil if it held none.
    private static func lostSnapshot(
        _ damage: SegmentScan.Damage, _ file: Segment
    ) -> (offset: Int, snapshot: SnapshotID?)? {
        // A truncated block was never finished, so its snapshot was never announced.
        if damage.reason.hasSuffix(FormatError.truncated.description) { return nil }
        if let header = try? file.blockHeader(at: damage.offset) {
            return header.chunks.first { $0.kind == .snapshot }.map { (damage.offset, SnapshotID($0.id)) }
        }
        // Zeros (left by an interrupted write) and a footer hold no snapshot.
        guard let bytes = try? file.read(at: damage.offset, atMost: BlockHeader.magic.count) else { return nil }
        return bytes == SegmentFooter.indexMagic || !bytes.contains { $0 != 0 } ? nil : (damage.offset, nil)
    }

    /// Opens a segment for writing, or for reading if it cannot be changed.
    ///
    /// - Returns: nil if it cannot be read; the reason is then added to `unread`.
    private func open(
        _ path: String, _ summary: inout Summary
    ) throws(StorageError) -> (file: Segment, writable: (any SegmentBytes)?)? {
        if store.isWritable {
            do {
                let bytes = try store.writable().openToWrite(path)
                return (Segment(bytes, of: store.manifest.id), bytes)
            } catch {
                guard error.code == .readOnly || error.code == .damaged else { throw error }
            }
        }
        do { return (Segment(try segments.open(path), of: store.manifest.id), nil) } catch {
            guard error.code == .readOnly || error.code == .damaged else { throw error }
            // Another process may have dropped it since the list was made.
            if !store.isWritable, error.code == .damaged, segments.length(of: path) == nil { return nil }
            summary.unread.append(error.message)
            return nil
        }
    }

    /// Whether a segment belongs to this archive and was not dropped.
    ///
    /// A segment of a newer format throws instead of being skipped: otherwise its contents would seem not to exist. A
    /// segment with a damaged header counts as ours: its blocks are verified anyway.
    private func checkHeader(
        of file: Segment, _ length: Int, _ name: inout SegmentID?, _ damage: inout [String],
        _ summary: inout Summary
    ) throws(StorageError) -> Bool {
        if length < SegmentHeader.byteCount {
            damage.append("segment \(file.path) is too short: it has \(length) bytes")
            return false
        }
        do {
            let header = try file.readHeader()
            name = header.segment
            if header.archive == store.manifest.id { return try !catalogue.isDropped(header.segment) }
            summary.unread.append("segment \(file.path) is not read: it belongs to another archive")
            return false
        } catch  where error.code == .damaged {
            damage.append(error.message)
            return true
        }
    }

    /// Cuts off a torn tail after saving a copy of it.
    ///
    /// - Returns: nil if that succeeded, otherwise the reason; the segment is then unchanged.
    private func cut(
        _ file: Segment, _ writable: any SegmentBytes, _ tail: SegmentScan.Damage, _ summary: inout Summary
    ) throws(StorageError) -> String? {
        let count = try file.length() - tail.offset
        let place = "byte \(tail.offset) of \(file.path)"
        do {
            let copy = try Salvage.store(file, from: tail.offset, in: layout)
            try writable.truncate(to: tail.offset)
            let kept = copy.map { "saved as \($0)" } ?? "all zeros"
            summary.cuts.append("an unfinished write at \(place) was cut off: \(count) bytes, \(kept)")
            summary.cutBytes += count
            return nil
        } catch {
            return "an unfinished write at \(place) cannot be cut off: \(error.message)"
        }
    }

    private func record(_ damage: [String], of path: String, _ summary: inout Summary) throws(StorageError) {
        guard let first = damage.first else { return }
        summary.damage += damage
        let more = damage.count > 1 ? ", and \(damage.count - 1) more findings in that segment" : ""
        try catalogue.record(first + more, ofSegment: path)
    }

    /// Finds what the records of unknown kinds refer to.
    private func findReferences(ofUnknownRecordsIn segment: inout Scanned) throws(StorageError) {
        let known = Set(RecordKind.all.map(\.kind))
        for record in segment.scan.records where !known.contains(record.kind) {
            do {
                let targets = record.unknownReferences(in: try bytes(of: record, in: segment))
                if !targets.isEmpty { segment.references.append(ListedReferences(record: record.id, targets: targets)) }
            } catch {
                if error.code == .away { throw error }
            }
        }
    }

    private func bytes(of record: FoundRecord, in segment: Scanned) throws(StorageError) -> [UInt8] {
        try store.read(record.id, preferring: BlockLocation(segment: segment.number, offset: record.offset))
    }

    private func enterRecords(of segment: inout Scanned, _ summary: inout Summary) throws(StorageError) {
        var records: [any ListedRecord] = []
        for kind in RecordKind.all where !RecordKind.enteredFirst.contains(kind.kind) {
            let found = try self.records(of: kind, in: &segment, &summary)
            summary.records[kind.kind, default: 0] += found.count
            // Where the last statement counts, the earlier ones then change nothing.
            let isLastFirst = [.label, .pin].contains(kind.kind)
            records += isLastFirst ? found.sorted { $0.isAfter($1) } : found
        }
        try recordLostSnapshots(of: segment, besides: records.compactMap { ($0 as? NewSnapshot)?.listed })
        if segment.damage.isEmpty, segment.isFromStart {
            try catalogue.record(nil, ofSegment: segment.path)
        } else {
            try record(segment.damage, of: segment.path, &summary)
        }
        try catalogue.enter(
            segment: segment.number, length: segment.scan.length, chunks: [],
            records: CommitRecords(records + segment.references))
        if segment.isClosed { try catalogue.markSealed(segment.number, length: segment.length) }
    }

    /// Records the unreadable snapshots of a segment, and the times of the readable ones before and after each.
    private func recordLostSnapshots(of segment: Scanned, besides readable: [ListedSnapshot]) throws(StorageError) {
        let times = Dictionary(readable.map { ($0.id, $0.time) }) { first, _ in first }
        var found: [FoundRecord] = []
        for record in segment.scan.records where record.kind == .snapshot {
            // A forgotten one that is unreadable breaks a rule of the format.
            if times[SnapshotID(record.id)] == nil, try catalogue.isForgotten(record.id) { continue }
            found.append(record)
        }
        let places =
            found.map { (offset: $0.offset, id: SnapshotID?.some(SnapshotID($0.id)), time: times[SnapshotID($0.id)]) }
            + segment.lost.map { (offset: $0.offset, id: $0.snapshot, time: Timestamp?.none) }
        var lost: [LostSnapshot] = []
        var since = FilePath(segment.path).lastComponent.flatMap { SegmentName(fileName: $0.string) }?.time
        var waiting: [(offset: Int, id: SnapshotID?)] = []
        func close(until: Timestamp) {
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
            close(until: time)
            since = time
        }
        close(until: .now)
        if segment.isFromStart || !lost.isEmpty {
            try catalogue.record(lost, ofSegment: segment.path, isWhole: segment.isFromStart)
        }
    }

    /// The readable records of a kind in a segment; the others are added to its damage, and to its references what they
    /// refer to by fields that this program does not know.
    private func records(
        of kind: RecordKind, in segment: inout Scanned, _ summary: inout Summary
    ) throws(StorageError) -> [any ListedRecord] {
        var records: [any ListedRecord] = []
        let shape = kind.shape()
        for found in segment.scan.records where found.kind == kind.kind {
            do {
                let bytes = try bytes(of: found, in: segment)
                let targets = shape.unknownReferences(in: bytes)
                if !targets.isEmpty { segment.references.append(ListedReferences(record: found.id, targets: targets)) }
                records.append(try kind.decode(store, found, bytes))
            } catch  where error.code == .damaged && error.path != layout.catalogue {
                if try catalogue.isForgotten(found.id) { continue }
                segment.damage.append(error.message(about: kind.name(found.id)))
            } catch  where error.code == .newerFormat {
                try pass(error, &summary)
            }
        }
        return records
    }
}

extension CatalogueUpdate.Summary {
    package var snapshots: Int { records[.snapshot, default: 0] }
    package var gaps: Int { records[.gap, default: 0] }
    package var states: Int { records[.state, default: 0] }
    package var operations: Int { records[.operation, default: 0] }
}
