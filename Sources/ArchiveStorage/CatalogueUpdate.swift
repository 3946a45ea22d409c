// Brings the catalogue up to date with the segments: after a crash, after a copy, or from nothing.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Indexes what segments hold beyond what the catalogue knows, and cuts off torn tails.
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
        /// Damaged places, each as a sentence.
        package var damage: [String] = []
    }

    /// A segment that was read and whose records are not entered yet.
    private struct Scanned {
        let record: SegmentRecord
        var scan: SegmentScan
        /// Whether nothing may be appended any more: it is sealed, or damaged before its end.
        let isClosed: Bool
        /// Held with its lock until the catalogue is up to date.
        let file: SegmentFile
    }

    /// Chunks that are entered together, some 40 bytes of memory each.
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
        var scanned: [Scanned] = []
        // Ids are spread evenly: many at once fill a page of the table where few would touch one each.
        var chunks: [(id: ChunkID, location: BlockLocation)] = []
        let paths = try segmentPaths()
        for lost in Set(known.keys).subtracting(paths) {
            summary.damage.append("segment \(layout.segment(lost)) is missing")
            if let record = known[lost] { try catalogue.forget(record.number) }
        }
        for path in paths {
            summary.segments += 1
            if known[path]?.isSealed == true { continue }
            guard var new = try scan(path, known[path], &summary) else { continue }
            let number = new.record.number
            chunks += new.scan.takeChunks().map { ($0.id, BlockLocation(segment: number, offset: $0.offset)) }
            scanned.append(new)
            if chunks.count >= CatalogueUpdate.stepChunks {
                try catalogue.enter(chunks)
                chunks.removeAll(keepingCapacity: true)
            }
        }
        if !chunks.isEmpty { try catalogue.enter(chunks) }
        for segment in scanned { try enterRecords(of: segment, &summary) }
        return summary
    }

    /// The paths of all segment files below `segments`, oldest first.
    private func segmentPaths() throws(StorageError) -> [String] {
        var paths: [String] = []
        var folders = [""]
        while let folder = folders.popLast() {
            let path = folder.isEmpty ? layout.segments : layout.segment(folder)
            for record in try DirectoryReader.names(in: path) {
                let name = String(decoding: record.name, as: UTF8.self)
                let relative = folder.isEmpty ? name : folder + "/" + name
                if SegmentName(fileName: name) != nil {
                    paths.append(relative)
                } else if record.kind == .directory {
                    folders.append(relative)
                }
            }
        }
        return paths.sorted()
    }

    private func scan(
        _ path: String, _ known: SegmentRecord?, _ summary: inout Summary
    ) throws(StorageError) -> Scanned? {
        var known = known
        var isHeaderDamaged = false
        let filePath = layout.segment(path)
        let file: SegmentFile
        do {
            file = try SegmentFile(at: filePath, writable: store.isWritable)
            if let known, try file.length() == known.indexedLength { return nil }
            // A segment that is being written is its writer's to index.
            if store.isWritable, !file.tryLock() { return nil }
            if let record = known, try file.length() < record.indexedLength {
                summary.damage.append("segment \(filePath) has lost its end")
                try catalogue.forget(record.number)
                known = nil
            }
            if try file.length() < SegmentHeader.byteCount {
                // Its writer was interrupted before there was anything in it.
                if store.isWritable { unlink(filePath.string) }
                return nil
            }
            do {
                guard try file.readHeader().archive == store.manifest.id else {
                    summary.damage.append("\(filePath) belongs to another archive")
                    return nil
                }
            } catch  where error.code == .damaged {
                // The blocks prove themselves.
                summary.damage.append(error.message)
                isHeaderDamaged = true
            }
        } catch {
            guard error.code == .newerFormat || error.code == .readOnly else { throw error }
            summary.damage.append(error.message)
            return nil
        }
        let record: SegmentRecord
        if let known {
            record = known
        } else {
            record = try catalogue.enterSegment(path, indexedLength: SegmentHeader.byteCount)
        }
        // Behind what the catalogue knows, nothing was announced: it is cut at the first tear. In a segment that the
        // catalogue does not know, what lies behind damage is worth keeping. Only what is not sealed may be torn.
        catalogue.counters.segmentsScanned.add()
        let isSealed = try SegmentScan.footer(of: file) != nil
        let scan = try SegmentScan(
            of: file, from: record.indexedLength, verifyingPayloads: !isSealed, passingDamage: known == nil)
        summary.damage += scan.damage.map { "block at byte \($0.offset) of \(filePath): \($0.reason)" }
        if scan.tornTail != nil, !isHeaderDamaged, store.isWritable {
            summary.cutBytes += try file.length() - scan.length
            try file.truncate(to: scan.length)
        }
        if store.isWritable { try file.synchronize() }
        summary.chunks += scan.chunks.count
        let isClosed = scan.isSealed || isHeaderDamaged || !scan.damage.isEmpty
        return Scanned(record: record, scan: scan, isClosed: isClosed, file: file)
    }

    private func enterRecords(of segment: Scanned, _ summary: inout Summary) throws(StorageError) {
        let records = CommitRecords(
            snapshots: try snapshots(of: segment, &summary), gaps: try gaps(of: segment, &summary),
            operations: try operations(of: segment, &summary),
            states: try states(of: segment, &summary), forgotten: try forgotten(of: segment, &summary))
        let number = segment.record.number
        try catalogue.enter(segment: number, length: segment.scan.length, chunks: [], records: records)
        if segment.isClosed {
            try catalogue.markSealed(number, length: try segment.file.length())
        }
    }

    private func snapshots(of segment: Scanned, _ summary: inout Summary) throws(StorageError) -> [SnapshotRecord] {
        let snapshots = try readable(segment.scan.snapshots, { "snapshot \($0.id.short)" }, &summary) {
            (found) throws(StorageError) in
            SnapshotRecord(try store.snapshot(found.id), id: found.id, ownBytes: found.ownBytes)
        }
        summary.snapshots += snapshots.count
        return snapshots
    }

    private func gaps(of segment: Scanned, _ summary: inout Summary) throws(StorageError) -> [StoredGap] {
        let gaps = try readable(segment.scan.gaps, { "gap \($0)" }, &summary) { (id) throws(StorageError) in
            StoredGap(id: id, record: try store.gap(id))
        }
        summary.gaps += gaps.count
        return gaps
    }

    private func operations(of segment: Scanned, _ summary: inout Summary) throws(StorageError) -> [StoredOperation] {
        let operations = try readable(segment.scan.operations, { "operation \($0)" }, &summary) {
            (id) throws(StorageError) in
            StoredOperation(id: id, record: try store.operation(id))
        }
        summary.operations += operations.count
        return operations
    }

    private func states(of segment: Scanned, _ summary: inout Summary) throws(StorageError) -> [SavedState] {
        let states = try readable(segment.scan.states, { "state \($0.id.short)" }, &summary) {
            (found) throws(StorageError) in
            SavedState(try store.stateRecord(found.id), id: found.id, ownBytes: found.ownBytes)
        }
        summary.states += states.count
        return states
    }

    private func forgotten(of segment: Scanned, _ summary: inout Summary) throws(StorageError) -> [ForgottenRecords] {
        try readable(segment.scan.forgotten, { "what is forgotten, \($0)" }, &summary) { (id) throws(StorageError) in
            try store.forgotten(id)
        }
    }

    /// The records of what was found, but for those that are damaged, which are told.
    private func readable<Found, Record>(
        _ found: [Found], _ name: (Found) -> String, _ summary: inout Summary,
        _ read: (Found) throws(StorageError) -> Record
    ) throws(StorageError) -> [Record] {
        var records: [Record] = []
        for item in found {
            do {
                records.append(try read(item))
            } catch  where error.code == .damaged && error.path != layout.catalogue {
                summary.damage.append("\(name(item)): \(error.message)")
            }
        }
        return records
    }
}

extension DirectoryReader {
    /// The names in the directory at `path`; none where there is no such directory.
    fileprivate static func names(in path: FilePath) throws(StorageError) -> DirectoryRecords {
        do {
            return try list(Descriptor.open(path, O_RDONLY | O_DIRECTORY), path: .root)
        } catch  where error.code == .noSuchFileOrDirectory {
            return DirectoryRecords()
        } catch {
            throw StorageError(FileError(error.operation, path, error.code))
        }
    }
}
