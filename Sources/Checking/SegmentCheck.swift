// Checks segments: that their blocks are intact, and that the catalogue lists their chunks.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Roots
internal import SystemPackage

/// Checks the segments block by block.
struct SegmentCheck {
    private let store: ArchiveStore
    private let data: CheckedData
    private let report: CheckReport
    private let progress: OperationProgress?
    private var found = FoundRecords()
    private var deltas = DeltaCheck()
    private var damaged: [Damaged] = []
    /// A block that cannot be unpacked and whose first unreadable chunk has no other copy.
    private var lostBlock: BlockLocation?
    /// The indexed length of each segment when the check began, by segment number.
    private var indexed: [Int64: Int] = [:]

    /// A place without an intact block.
    private struct Damaged {
        let message: String
        /// The chunks of the block at this place, if known.
        let chunks: [ChunkID]?
        /// The range of a write that may be unfinished; it was finished if the catalogue has chunks there.
        var unfinished: (segment: Int64, range: Range<Int>)?
    }

    /// Checks all segments.
    ///
    /// - Returns: their chunks and records.
    static func run(
        _ store: ArchiveStore, reading data: CheckedData, _ report: CheckReport, _ progress: OperationProgress?
    ) throws -> FoundRecords {
        var check = SegmentCheck(store: store, data: data, report: report, progress: progress)
        check.found.segments = try store.catalogue.segments()
        check.found.read = CheckNotice.numbers(of: check.found.segments, reading: data, store.layout)
        for segment in check.found.segments { try check.check(segment) }
        check.found.chunks.sort()
        try check.checkEarlierLosses()
        try check.deltas.run(&check.found.chunks, store, report)
        try check.collectLosses()
        check.reportDamage()
        return check.found
    }

    private init(store: ArchiveStore, data: CheckedData, report: CheckReport, progress: OperationProgress?) {
        self.store = store
        self.data = data
        self.report = report
        self.progress = progress
    }

    private mutating func check(_ segment: ListedSegment) throws {
        report.result.segments += 1
        indexed[segment.number] = segment.indexedLength
        let path = store.segments.path(of: segment.path)
        do {
            let file = try store.open(segment)
            // Of a segment in a replica, the footer is read.
            if segment.state == .away, !found.read.contains(segment.number), let index = try file.index() {
                return try check(index.map { ($0.header, $0.offset) }, of: file, segment)
            }
            let header = try file.readHeader()
            if header.archive != store.manifest.id {
                report.find("\(path) belongs to another archive", remedy: "move it back to its own archive")
            }
            let length = try file.length()
            if length < segment.indexedLength {
                find("\(path) is \(length) bytes long instead of \(segment.indexedLength)")
            }
            // The footer of a damaged segment does not match.
            let blocks = try checkBlocks(of: file, segment)
            if segment.isSealed, let blocks {
                try checkFooter(of: file, blocks, readingData: found.read.contains(segment.number))
            }
        } catch let error as StorageError {
            guard error.isAboutBytes else { throw error }
            // A segment that was dropped since the list was read is no loss.
            if try store.catalogue.segment(segment.number) != nil { find(error.message) }
        }
    }

    /// Checks the footer of a segment whose blocks are intact.
    private func checkFooter(of file: Segment, _ blocks: [SegmentFooter.Block], readingData: Bool) throws {
        do throws(StorageError) {
            guard let index = try file.index() else {
                return find("\(file.path) has lost its footer; its blocks can be read without it")
            }
            guard index == blocks else {
                return find("the index of \(file.path) differs from its blocks; these can be read without it")
            }
        } catch {
            guard error.code == .damaged else { throw error }
            return find("the index of \(file.path) is damaged; its blocks can be read without it")
        }
        if readingData, try file.isAsSealed() == false {
            find("\(file.path) has changed since it was sealed; its blocks can still be read")
        }
    }

    /// - Returns: all blocks of the file, if they are intact and without gaps.
    private mutating func checkBlocks(of file: Segment, _ segment: ListedSegment) throws -> [SegmentFooter.Block]? {
        let readsData = found.read.contains(segment.number)
        var all: [SegmentFooter.Block] = []
        var blocks: [(header: BlockHeader, offset: Int)] = []
        let scan = try SegmentScan(
            of: file, from: SegmentHeader.byteCount, verifyingPayloads: readsData, passingDamage: true
        ) { header, offset in
            all.append(SegmentFooter.Block(offset: offset, header: header))
            if !(header.isOpening && offset == SegmentHeader.byteCount) { blocks.append((header, offset)) }
        }
        for damage in scan.damage { record(damage, in: file) }
        for damage in scan.unfinished where damage.offset < segment.indexedLength {
            let end = blocks.first { $0.offset > damage.offset }?.offset ?? segment.indexedLength
            record(damage, in: file)
            damaged[damaged.count - 1].unfinished = (segment.number, damage.offset..<end)
        }
        // After the indexed part, another process may be writing.
        for tail in [scan.tornTail, scan.unsearched] {
            if let tail, tail.offset < segment.indexedLength { record(tail, in: file) }
        }
        report.result.bytesRead += UInt64(scan.length)
        try check(blocks, of: file, segment)
        return scan.damage.isEmpty && scan.unfinished.isEmpty && scan.unsearched == nil ? all : nil
    }

    /// Compares blocks with the catalogue, and reads their bytes if they are among those to read.
    private mutating func check(
        _ blocks: [(header: BlockHeader, offset: Int)], of file: Segment, _ segment: ListedSegment
    ) throws {
        let readsData = found.read.contains(segment.number)
        report.result.blocks += blocks.count
        for (header, offset) in blocks where !(header.isOpening && offset == SegmentHeader.byteCount) {
            // Each block may be needed to unpack others.
            store.raiseUnpacking(by: header.rawLength * ArchiveCheck.workFactor)
            let place = BlockLocation(segment: segment.number, offset: offset)
            let isIndexed = offset < segment.indexedLength
            if isIndexed, try !isGoing(segment.number), try store.catalogue.block(at: place) != StoredBlock(header) {
                report.find(inCatalogue: "the block at byte \(offset) of \(file.path) differs from the catalogue")
            }
            let failure = readsData && isIndexed ? try self.failure(ofBlockAt: place) : nil
            for chunk in header.chunks {
                try check(
                    chunk, of: header, at: place, file, isIndexed: isIndexed, readsData: readsData, failure)
            }
            deltas.add(header, at: place)
            progress?.add(entries: header.chunks.count, bytes: UInt64(header.blockLength))
        }
    }

    /// The error on unpacking the block at `place`; nil if it can be unpacked.
    private func failure(ofBlockAt place: BlockLocation) throws(StorageError) -> StorageError? {
        do throws(StorageError) { try store.unpackBlock(at: place) } catch {
            guard error.isAboutBytes else { throw error }
            return error
        }
        return nil
    }

    private mutating func check(
        _ chunk: BlockHeader.Chunk, of header: BlockHeader, at place: BlockLocation, _ file: Segment,
        isIndexed: Bool, readsData: Bool, _ failure: StorageError?
    ) throws {
        let newest = try store.catalogue.location(of: chunk.id)
        if isIndexed {
            report.result.chunks += 1
            found.add(chunk)
            if newest == nil, try !isGoing(place.segment) {
                report.find(inCatalogue: "chunk \(chunk.id) of \(file.path) is not in the catalogue")
            }
        }
        guard let newest else { return }
        guard try newest == place || hasCopy(chunk.id, at: place) else {
            // Another copy, which a restore would read, is checked at its own place, if it has one.
            let isAway = try store.catalogue.isAway(chunk.id)
            if isIndexed, !isAway, try !isGoing(place.segment), (try? store.read(chunk.id, at: newest)) == nil {
                report.find(inCatalogue: "chunk \(chunk.id) of \(file.path) is not where the catalogue says")
            }
            return
        }
        if readsData, isIndexed {
            do throws(StorageError) {
                if let failure { throw failure }
                let bytes = try store.read(chunk.id, at: place)
                guard bytes.count == chunk.length else { return find("chunk \(chunk.id) has a wrong length") }
            } catch {
                guard error.isAboutBytes else { throw error }
                // If this copy is intact, its base may have another copy.
                let isHopeless = try lostBlock == place && copyCount(of: chunk.id) == 1
                guard !isHopeless, (try? store.read(chunk.id))?.count == chunk.length else {
                    if failure != nil { lostBlock = place }
                    return find(error.message)
                }
                report.record(spare: error.message)
            }
        }
        found.chunks.add(chunk, depth: header.depth)
    }

    /// Whether a segment is being dropped or was dropped: its rows in the catalogue are removed step by step.
    private func isGoing(_ segment: Int64) throws -> Bool {
        try store.catalogue.segment(segment).map { $0.state == .condemned } ?? true
    }

    private func hasCopy(_ id: ChunkID, at place: BlockLocation) throws -> Bool {
        try store.catalogue.copies(beginning: ChunkPrefix(id)).contains { $0.id == id && $0.location == place }
    }

    private func copyCount(of id: ChunkID) throws -> Int {
        try store.catalogue.copies(beginning: ChunkPrefix(id)).count { $0.id == id }
    }

    // MARK: Losses

    private mutating func record(_ damage: SegmentScan.Damage, in file: Segment) {
        let chunks = (try? file.blockHeader(at: damage.offset))?.chunks.map(\.id)
        damaged.append(Damaged(message: damage.message(in: file.path), chunks: chunks))
    }

    /// Reports the damage; it is no loss if all its chunks have another copy, or if the write was never finished.
    private func reportDamage() {
        for damage in damaged where damage.unfinished == nil {
            if damage.chunks?.allSatisfy(found.chunks.contains) ?? false {
                report.record(spare: damage.message)
            } else {
                find(damage.message)
            }
        }
    }

    /// Reports the losses of earlier checks that read more bytes, unless the chunks can be read now.
    private mutating func checkEarlierLosses() throws {
        if data == .all { return }
        let earlier = try store.catalogue.losses().filter(found.chunks.contains)
        for id in try store.unreadable(of: earlier) {
            find("chunk \(id) is lost, as an earlier check found")
            found.chunks.remove(id)
        }
    }

    /// Records the chunks that the catalogue lists and that were not found.
    private mutating func collectLosses() throws {
        var lost: [ChunkID] = []
        let unfinished = damaged.indices.filter { damaged[$0].unfinished != nil }
        try store.catalogue.forEachChunk { id, place in
            for index in unfinished {
                guard let (segment, range) = damaged[index].unfinished else { continue }
                if segment == place.segment, range.contains(place.offset) { damaged[index].unfinished = nil }
            }
            // Chunks that were added after the check began were not checked.
            if place.offset < indexed[place.segment] ?? 0, lost.last != id, !found.chunks.contains(id) {
                lost.append(id)
            }
            return true
        }
        found.lost = lost
    }

    private func find(_ message: String) {
        report.find(
            message,
            remedy:
                "put the segment back from a copy, or capture again: that stores lost data that the root still has")
    }
}

/// The contents of the segments that the catalogue should list.
struct FoundRecords {
    /// Chunks that can be read.
    var chunks = ChunkTable()
    /// Chunks that the catalogue lists and that cannot be read, ordered by id.
    var lost: [ChunkID] = []
    /// The segments that were checked.
    var segments: [ListedSegment] = []
    /// The numbers of those whose bytes are read.
    var read: Set<Int64> = []
    /// The chunks that hold records, by kind.
    private var records: [ChunkKind: [ChunkID]] = [:]

    /// The chunks that hold records of a kind.
    func records(of kind: ChunkKind) -> [ChunkID] { records[kind, default: []] }

    mutating func add(_ chunk: BlockHeader.Chunk) {
        if chunk.kind.isRecord { records[chunk.kind, default: []].append(chunk.id) }
    }
}
