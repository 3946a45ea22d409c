// Checking an archive: are all blocks whole, is everything there that the snapshots name?

internal import ArchiveFormat
internal import ArchiveStorage
internal import SnapshotTree
internal import SystemPackage

extension Archive {
    /// Checks the archive: the segments' blocks, the catalogue against them, and every snapshot's tree and content.
    ///
    /// - Parameter data: whether to read every byte and verify it; else the structure only.
    public func check(data: Bool, progress: OperationProgress? = nil) throws(ArchiverError) -> CheckResult {
        try facing {
            var check = Check(store: store, nodes: nodes, data: data, progress: progress)
            try check.run()
            return check.result
        }
    }
}

/// One check of an archive.
struct Check {
    let store: ArchiveStore
    let nodes: StoredNodes
    let data: Bool
    let progress: OperationProgress?
    private(set) var result = CheckResult()
    /// Chunks that some whole block holds.
    private var present: Set<ChunkID> = []
    /// Nodes and lists of which everything below was found to be there.
    private var good: Set<ChunkID> = []
    private var bad: Set<ChunkID> = []
    /// Gaps that the segments hold.
    private var gaps: Set<ChunkID> = []
    /// Saved states that the segments hold.
    private var states: Set<StateID> = []
    /// Operations that the segments hold.
    private var operations: Set<OperationID> = []

    init(store: ArchiveStore, nodes: StoredNodes, data: Bool, progress: OperationProgress?) {
        self.store = store
        self.nodes = nodes
        self.data = data
        self.progress = progress
    }

    mutating func run() throws {
        for segment in try store.catalogue.segments() { try check(segment) }
        let records = try store.catalogue.snapshots()
        result.snapshots = records.count
        try checkGaps()
        try checkStates()
        try checkOperations()
        for record in records {
            let before = result.findingCount
            let isGood = try check(record)
            if isGood { result.goodSnapshots += 1 }
            if !isGood, result.findingCount == before { result.find("snapshot \(record.id.short) shares the damage") }
        }
    }

    // MARK: Segments

    private mutating func check(_ segment: SegmentRecord) throws {
        result.segments += 1
        let path = store.layout.segment(segment.path)
        do {
            let file = try SegmentFile(at: path)
            let header = try file.readHeader()
            if header.archive != store.manifest.id { result.find("\(path) belongs to another archive") }
            let length = try file.length()
            if length < segment.indexedLength {
                result.find("\(path) is \(length) bytes long instead of \(segment.indexedLength)")
            }
            try checkBlocks(of: file, segment)
            if segment.isSealed, try SegmentScan.footer(of: file) == nil {
                result.find("\(path) has lost its footer; its blocks can be read without it")
            }
        } catch let error as StorageError {
            result.find(error.message)
        }
    }

    private mutating func checkBlocks(of file: SegmentFile, _ segment: SegmentRecord) throws {
        let scan = try SegmentScan(
            of: file, from: SegmentHeader.byteCount, verifyingPayloads: data, passingDamage: true)
        for damage in scan.damage { result.find("block at byte \(damage.offset) of \(file.path): \(damage.reason)") }
        // Behind what is indexed, another process may be writing at this moment.
        if let tail = scan.tornTail, tail.offset < segment.indexedLength {
            result.find("block at byte \(tail.offset) of \(file.path): \(tail.reason)")
        }
        result.blocks += Set(scan.chunks.map(\.offset)).count
        result.bytesRead += UInt64(scan.length)
        for chunk in scan.chunks {
            present.insert(chunk.id)
            if chunk.offset < segment.indexedLength { try checkChunk(chunk.id, file) }
        }
        gaps.formUnion(scan.gaps)
        states.formUnion(scan.states.map(\.id))
        operations.formUnion(scan.operations)
        progress?.add(entries: scan.chunks.count, bytes: UInt64(scan.length))
    }

    private mutating func checkChunk(_ id: ChunkID, _ file: SegmentFile) throws {
        result.chunks += 1
        if try store.catalogue.location(of: id) == nil {
            result.find("chunk \(id) of \(file.path) is not in the catalogue; run 'archiver repair --catalogue'")
        } else if data {
            do { _ = try store.read(id) } catch {
                result.find(error.message)
                present.remove(id)
            }
        }
    }

    private mutating func checkGaps() throws {
        let listed = Set(try store.catalogue.gaps())
        for id in gaps where try store.catalogue.location(of: id) != nil {
            do throws(StorageError) {
                let gap = try store.gap(id)
                if !listed.contains(gap) {
                    result.find("gap \(id) is not in the catalogue; run 'archiver repair --catalogue'")
                }
                result.gaps += 1
            } catch {
                result.find("gap \(id): \(error.message)")
            }
        }
    }

    private mutating func checkStates() throws {
        for state in states {
            if try !store.catalogue.hasState(state), try !store.catalogue.isForgotten(state.chunk) {
                result.find("state \(state.short) is not in the catalogue; run 'archiver repair --catalogue'")
            }
        }
        for state in try store.catalogue.states() {
            result.states += 1
            do throws(StorageError) {
                let record = try store.stateRecord(state.id)
                try check(record.content, "state \(state.id.short) of '\(state.title)'")
            } catch {
                result.find("state \(state.id.short) of '\(state.title)': \(error.message)")
            }
        }
    }

    private mutating func checkOperations() throws {
        let listed = Set(try store.catalogue.operations())
        for id in operations where try store.catalogue.location(of: id.chunk) != nil {
            do throws(StorageError) {
                if !listed.contains(StoredOperation(id: id, record: try store.operation(id))) {
                    result.find("operation \(id.short) is not in the catalogue; run 'archiver repair --catalogue'")
                }
                result.operations += 1
            } catch {
                result.find("operation \(id.short): \(error.message)")
            }
        }
    }

    // MARK: Snapshots

    private mutating func check(_ record: SnapshotRecord) throws -> Bool {
        do {
            let snapshot = try store.snapshot(record.id)
            guard snapshot.tree == record.tree else {
                result.find("snapshot \(record.id.short) differs from the catalogue; run 'archiver repair --catalogue'")
                return false
            }
            return try check(node: record.tree, level: nil, of: record)
        } catch let error as StorageError {
            result.find("snapshot \(record.id.short): \(error.message)")
            return false
        }
    }

    /// Checks a node and all below it; what several snapshots share is checked once.
    private mutating func check(node id: ChunkID, level: Int?, of record: SnapshotRecord) throws -> Bool {
        if good.contains(id) { return true }
        if bad.contains(id) { return false }
        var isGood = true
        do {
            switch try nodes.node(id, level: level) {
            case .leaf(let entries):
                for entry in entries {
                    let isEntryGood = try check(entry, of: record)
                    isGood = isGood && isEntryGood
                }
            case .inner(let level, let children):
                for child in children {
                    let isChildGood = try check(node: child.id, level: level - 1, of: record)
                    isGood = isGood && isChildGood
                }
            }
        } catch let error as StorageError {
            result.find("snapshot \(record.id.short): a part of its tree is lost: \(error.message)")
            isGood = false
        }
        if isGood { good.insert(id) } else { bad.insert(id) }
        return isGood
    }

    private mutating func check(_ entry: Entry, of record: SnapshotRecord) throws -> Bool {
        let owner = "snapshot \(record.id.short)"
        do throws(StorageError) { return try check(entry.content, "\(owner): \(entry.path)") } catch {
            result.find("\(owner): \(entry.path): \(error.message)")
            return false
        }
    }

    /// Checks that all of a content is there.
    ///
    /// - Parameter owner: whose content it is, for findings.
    @discardableResult
    private mutating func check(_ content: Content, _ owner: String) throws(StorageError) -> Bool {
        let slices: [Slice]
        switch content {
        case .none, .inline, .linkTarget: return true
        case .slices(let own): slices = own
        case .sliceLists(let lists, let size):
            var all: [Slice] = []
            for list in lists { all += try ContentReader.slices(in: list, of: store) }
            guard all.reduce(0, { $0 + $1.length }) == size else {
                result.find("\(owner) is not as long as recorded")
                return false
            }
            slices = all
        }
        guard let lost = slices.compactMap(\.chunk).first(where: { !present.contains($0) }) else { return true }
        result.find("\(owner) is lost in part: chunk \(lost)")
        return false
    }
}
