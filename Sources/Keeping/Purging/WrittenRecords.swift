// The records that hold a text which a person wrote: labels, notes, pins and gaps. Those of operations are rewritten with
// the references to them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// Finds and removes the records that contain the text of a purge.
///
/// The catalogue lists only the latest label and pin of a snapshot. So all records of all segments are read.
struct WrittenRecords {
    private let store: ArchiveStore
    private let matcher: PurgeMatcher
    /// The records to remove.
    private(set) var gone: Set<ChunkID> = []
    /// Operations whose name contains the text.
    private var operations = 0
    private var labelled: Set<ChunkID> = []
    private var gaps: [(id: ChunkID, gap: GapRecord)] = []

    init(_ store: ArchiveStore, _ matcher: PurgeMatcher) {
        self.store = store
        self.matcher = matcher
    }

    /// How many records have the text.
    var count: Int { gone.count + operations }

    mutating func find() throws {
        var seen: Set<ChunkID> = []
        for segment in try store.catalogue.segments() {
            let scan = try SegmentScan(
                of: store.open(segment), from: SegmentHeader.byteCount, verifyingPayloads: false, passingDamage: true)
            for found in scan.records where seen.insert(found.id).inserted { try add(found) }
        }
    }

    private mutating func add(_ found: FoundRecord) throws {
        do throws(StorageError) {
            switch found.kind {
            case .label:
                let label = try store.record(found.id, as: LabelRecord.self)
                guard matcher.isIn(label.label) else { return }
                gone.insert(found.id)
                labelled.insert(label.target)
            case .pin:
                if matcher.isIn(try store.record(found.id, as: PinRecord.self).reason) { gone.insert(found.id) }
            case .note:
                if matcher.isIn(try store.record(found.id, as: NoteRecord.self).text) { gone.insert(found.id) }
            case .gap:
                let gap = try store.record(found.id, as: GapRecord.self)
                guard matcher.isIn(gap.detail) else { return }
                gone.insert(found.id)
                gaps.append((found.id, gap))
            case .operation:
                if matcher.isIn(try store.record(found.id, as: OperationRecord.self).name) { operations += 1 }
            default: return
            }
        } catch {
            // The verification reports it.
            guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
        }
    }

    /// Enters records without the text in place of those that count now; otherwise older ones would count again.
    func remove() throws {
        for target in labelled {
            guard matcher.isIn(try store.catalogue.label(of: target, else: nil)) else { continue }
            let sequence = try store.catalogue.nextSequence(ofLabel: target)
            try store.enter(LabelRecord(target: target, time: .now, label: nil, sequence: sequence))
        }
        for (target, pin) in try store.catalogue.pins() where matcher.isIn(pin.reason) {
            try store.enter(
                PinRecord(target: target, time: .now, until: pin.until, sequence: pin.sequence + 1),
                keepingUnknownOf: store.catalogue.pinRecord(of: target))
        }
        for (id, gap) in gaps {
            try store.enter(
                GapRecord(
                    rootPath: gap.rootPath, host: gap.host, cause: gap.cause, start: gap.start, end: gap.end,
                    machine: gap.machine), keepingUnknownOf: id)
        }
    }
}
