// Checking segments: are their blocks whole, and does the catalogue know what is in them?

internal import ArchiveFormat
internal import ArchiveStorage
internal import SystemPackage

/// Goes through the segments, block by block.
struct SegmentCheck {
    private let store: ArchiveStore
    private let readsData: Bool
    private let report: CheckReport
    private let progress: OperationProgress?
    private var found = FoundRecords()
    private var deltas = DeltaCheck()

    /// Checks all segments.
    ///
    /// - Returns: what is in them.
    static func run(
        _ store: ArchiveStore, readingData: Bool, _ report: CheckReport, _ progress: OperationProgress?
    ) throws -> FoundRecords {
        var check = SegmentCheck(store: store, readsData: readingData, report: report, progress: progress)
        for segment in try store.catalogue.segments() { try check.check(segment) }
        check.found.chunks.sort()
        check.deltas.run(check.found.chunks, store, report)
        return check.found
    }

    private init(store: ArchiveStore, readsData: Bool, report: CheckReport, progress: OperationProgress?) {
        self.store = store
        self.readsData = readsData
        self.report = report
        self.progress = progress
    }

    private mutating func check(_ segment: SegmentRecord) throws {
        report.result.segments += 1
        let path = store.layout.segment(segment.path)
        do {
            let file = try SegmentFile(at: path)
            let header = try file.readHeader()
            if header.archive != store.manifest.id {
                report.find("\(path) belongs to another archive", remedy: "put it back where it belongs")
            }
            let length = try file.length()
            if length < segment.indexedLength {
                find("\(path) is \(length) bytes long instead of \(segment.indexedLength)")
            }
            try checkBlocks(of: file, segment)
            if segment.isSealed, try SegmentScan.footer(of: file) == nil {
                find("\(path) has lost its footer; its blocks can be read without it")
            }
        } catch let error as StorageError {
            find(error.message)
        }
    }

    private mutating func checkBlocks(of file: SegmentFile, _ segment: SegmentRecord) throws {
        var blocks: [(header: BlockHeader, offset: Int)] = []
        let scan = try SegmentScan(
            of: file, from: SegmentHeader.byteCount, verifyingPayloads: readsData, passingDamage: true
        ) { blocks.append(($0, $1)) }
        for damage in scan.damage { find(damage.message(in: file.path)) }
        // Behind what is indexed, another process may be writing at this moment.
        if let tail = scan.tornTail, tail.offset < segment.indexedLength {
            find(tail.message(in: file.path))
        }
        report.result.blocks += blocks.count
        report.result.bytesRead += UInt64(scan.length)
        for (header, offset) in blocks {
            let place = BlockLocation(segment: segment.number, offset: offset)
            for chunk in header.chunks {
                try check(chunk, of: header, at: place, file, isIndexed: offset < segment.indexedLength)
            }
            deltas.add(header, at: place)
            progress?.add(entries: header.chunks.count, bytes: UInt64(header.blockLength))
        }
    }

    private mutating func check(
        _ chunk: BlockHeader.Chunk, of header: BlockHeader, at place: BlockLocation, _ file: SegmentFile,
        isIndexed: Bool
    ) throws {
        let known = try store.catalogue.location(of: chunk.id)
        if isIndexed {
            report.result.chunks += 1
            found.add(chunk)
            if known == nil { report.find(inCatalogue: "chunk \(chunk.id) of \(file.path) is not in the catalogue") }
        }
        // Of several copies the one counts that a restore would read.
        guard known == place else { return }
        if readsData, isIndexed {
            do {
                let bytes = try store.read(chunk.id)
                guard bytes.count == chunk.length else { return find("chunk \(chunk.id) is not as long as recorded") }
            } catch {
                return find(error.message)
            }
        }
        found.chunks.add(chunk, depth: header.depth)
    }

    private func find(_ message: String) {
        report.find(
            message,
            remedy:
                "put the segment back from a copy, or capture again what is still there: what is lost is stored anew")
    }
}
