// Verifies after a purge that nothing of the target is left in the archive.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots

/// Unpacks every block of an archive and reports anything that the purge should have removed.
struct PurgeVerification {
    private let store: ArchiveStore
    private let progress: OperationProgress?
    private var search: PurgeSearch
    private let target: PurgeTarget

    private static let findingsLimit = 100

    init(_ store: ArchiveStore, _ target: PurgeTarget, _ progress: OperationProgress?) throws {
        self.store = store
        self.target = target
        self.progress = progress
        search = try PurgeSearch(target, in: store, progress)
    }

    /// Verifies the archive.
    ///
    /// - Parameters:
    ///   - gone: records that must not be there.
    ///   - nodes: nodes that must not be there.
    ///   - contents: contents that must not be there unless something else has the same bytes, which is then reported.
    ///   - found: the result to add to.
    mutating func run(
        gone: Set<ChunkID>, nodes: [ChunkID], contents: PurgedContents, _ found: inout PurgeResult.Verification
    ) throws {
        var live = ChunkSet()
        var mark = LiveMark(store, progress)
        try mark.run(protecting: ForgottenSpan(since: Timestamp(seconds: .min))) { live.insert($0) }
        let unwanted = gone.union(nodes).union(contents.chunks.filter { !live.contains($0) })
        for finding in store.findings where finding.kind == .unread || finding.kind == .stranger {
            add("\(finding.message): its contents are unknown", &found)
        }
        for segment in try store.catalogue.segments() {
            do { try visit(segment, unwanted, &found) } catch let error as StorageError {
                guard error.code == .damaged || error.code == .newerFormat else { throw error }
                add("\(error.message): its contents are unknown", &found)
            }
        }
        try visitSnapshots(&found)
        var others = SharedBytes(contents, text: search.matcher.text, in: store)
        try others.find { add($0, &found) }
    }

    private func visit(
        _ segment: ListedSegment, _ unwanted: Set<ChunkID>, _ found: inout PurgeResult.Verification
    ) throws {
        let file = try store.open(segment)
        let scan = try SegmentScan(
            of: file, from: SegmentHeader.byteCount, verifyingPayloads: true, passingDamage: true)
        for place in scan.damage + scan.unfinished + [scan.unsearched].compactMap({ $0 }) {
            add("\(place.message(in: file.path)): its contents are unknown", &found)
        }
        for offset in Set(scan.chunks.map(\.offset)).sorted() {
            let place = BlockLocation(segment: segment.number, offset: offset)
            let header = try file.blockHeader(at: offset)
            found.blocks += 1
            for chunk in header.chunks {
                found.chunks += 1
                if unwanted.contains(chunk.id) {
                    add("chunk \(chunk.id.hex.prefix(8)) is still in \(file.path)", &found)
                }
                let bytes = try store.read(chunk.id, at: place)
                if chunk.kind.isRecord, let text = search.matcher.text, bytes.firstRange(of: text) != nil {
                    add("a record in \(file.path) has the text", &found)
                }
                guard let digest = search.matcher.content, digest.isIn(bytes) else { continue }
                add("the bytes are inside other data, in chunk \(chunk.id.hex.prefix(8)) of \(file.path)", &found)
            }
        }
    }

    private mutating func visitSnapshots(_ found: inout PurgeResult.Verification) throws {
        for root in try store.catalogue.roots() {
            if let wanted = target.root, wanted.path.bytes != root.path || wanted.machine != root.machine { continue }
            for listed in try store.catalogue.snapshots(Catalogue.SnapshotFilter(of: root.number)) {
                if try search.touches(store.snapshot(listed.id)) {
                    add("snapshot \(listed.id.short) still names it", &found)
                }
            }
        }
    }

    private func add(_ finding: String, _ found: inout PurgeResult.Verification) {
        if found.findings.count < PurgeVerification.findingsLimit { found.findings.append(finding) }
    }
}

extension ContentDigest {
    /// Shorter contents are not searched for: they occur by chance.
    private static let leastBytes = 16

    /// Whether `bytes` contain the content, or its first bytes, anywhere.
    fileprivate func isIn(_ bytes: [UInt8]) -> Bool {
        guard beginning.count >= ContentDigest.leastBytes, bytes.count >= beginning.count else { return false }
        return bytes.firstRange(of: beginning) != nil
    }
}
