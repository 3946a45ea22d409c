// Checks records: that each can be read and is listed, and that the chunks it refers to exist.

internal import ArchiveFormat
internal import ArchiveStorage

/// Checks gaps, saved states, operations and records of forgetting, and that all snapshots are listed.
struct RecordCheck {
    private let store: ArchiveStore
    private let found: FoundRecords
    private let contents: ContentCheck
    private let report: CheckReport
    /// Records that need not be readable.
    private let forgotten: Set<ChunkID>

    init(_ store: ArchiveStore, _ found: FoundRecords, _ contents: ContentCheck, _ report: CheckReport) throws {
        forgotten = Set(try store.catalogue.forgotten().map(\.id))
        self.store = store
        self.found = found
        self.contents = contents
        self.report = report
    }

    func run(_ listed: ListedRecords) throws {
        try checkSnapshots()
        try checkGaps()
        try checkStates()
        for state in listed.states { try check(state) }
        try checkOperations()
        try checkNotices(listed.notices)
        try checkDropped(listed.dropped)
        try checkForgotten(listed.forgotten)
        for kind in store.recordKinds where !RecordCheck.comparedKinds.contains(kind) {
            for id in records(of: kind) { try checkListing(of: id, kind) }
        }
    }

    /// The records of a kind, without forgotten ones: those break a rule of the format.
    private func records(of kind: ChunkKind) -> Set<ChunkID> { Set(found.records(of: kind)).subtracting(forgotten) }

    /// Records of these kinds are compared field by field; for all others, the catalogue is asked whether it lists
    /// them.
    private static let comparedKinds: Set<ChunkKind> = [
        .snapshot, .gap, .state, .operation, .rootNotice, .droppedSegments,
    ]

    private func checkListing(of id: ChunkID, _ kind: ChunkKind) throws {
        guard let name = store.name(of: id, kind),
            let isListed = try read(name, { () throws(StorageError) in try store.isListed(id, kind) })
        else { return }
        if isListed == false { report.find(inCatalogue: "\(name) is not in the catalogue") }
    }

    /// Checks that the catalogue hides only snapshots and states that a record forgets.
    ///
    /// - Parameter listed: the chunks that the catalogue listed as forgotten before the segments were read.
    private func checkForgotten(_ listed: Set<ChunkID>) throws {
        if listed.isEmpty { return }
        var unfound = listed
        for id in Set(found.records(of: .forgotten)) {
            if let record = try? store.record(id, as: ForgottenRecords.self) { unfound.subtract(record.records) }
        }
        for id in unfound where found.chunks.contains(id) {
            report.find(inCatalogue: "the catalogue lists \(id.hex.prefix(8)) as forgotten, but no record does")
        }
    }

    /// Checks that all snapshots are listed; listed ones are checked with their trees.
    private func checkSnapshots() throws {
        for id in found.records(of: .snapshot).map(SnapshotID.init) {
            if try store.catalogue.hasSnapshot(id) || store.catalogue.isForgotten(id.chunk) { continue }
            let name = "snapshot \(id.short)"
            let snapshot = try read(name, snapshot: id) { () throws(StorageError) in try store.snapshot(id) }
            if snapshot != nil { report.find(inCatalogue: "\(name) is not in the catalogue", snapshot: id) }
        }
    }

    private func checkGaps() throws {
        let listed = Set(try store.catalogue.gaps().map { $0.ofRoot($0.rootPath, $0.machine) })
        for id in records(of: .gap) {
            guard
                let gap = try read("gap \(id)", { () throws(StorageError) in try store.record(id, as: GapRecord.self) })
            else { continue }
            report.result.gaps += 1
            let place = try store.catalogue.place(ofRoot: gap.rootPath, on: gap.machine, at: gap.start)
            if !listed.contains(gap.ofRoot(place.path, place.machine)) {
                report.find(inCatalogue: "gap \(id) is not in the catalogue")
            }
        }
    }

    private func checkStates() throws {
        for id in found.records(of: .state).map(StateID.init) {
            if try store.catalogue.hasState(id) || store.catalogue.isForgotten(id.chunk) { continue }
            let name = "state \(id.short)"
            let state = try read(name) { () throws(StorageError) in try store.stateRecord(id) }
            if state != nil { report.find(inCatalogue: "\(name) is not in the catalogue") }
        }
    }

    private func check(_ state: ListedState) throws {
        report.result.states += 1
        let name = "state \(state.id.short) of '\(state.title)'"
        guard let record = try read(name, { () throws(StorageError) in try store.stateRecord(state.id) }) else {
            return
        }
        if let fault = try contents.fault(in: record.content) {
            let remedy =
                "load an older state of the title"
                + (fault.isLoss ? ", or save the same state again to store the lost bytes" : "")
            report.find("\(name) \(fault.text)", remedy: remedy)
        }
    }

    private func checkOperations() throws {
        let operations = try store.catalogue.operations()
        let listed = Dictionary(operations.map { ($0.id, $0.record) }) { first, _ in first }
        for id in records(of: .operation).map(OperationID.init) {
            let name = "operation \(id.short)"
            guard
                let record = try read(
                    name, { () throws(StorageError) in try store.record(id.chunk, as: OperationRecord.self) })
            else { continue }
            report.result.operations += 1
            let place = try store.catalogue.place(of: record)
            let known = listed[id].map { $0.ofRoot($0.rootPath, $0.machine, $0.sequence) }
            if known != record.ofRoot(place.path, place.machine, place.sequence) {
                report.find(inCatalogue: "\(name) is not in the catalogue")
            }
            let references = [record.before?.chunk, record.snapshot?.chunk, record.target?.chunk]
            for chunk in references.compactMap({ $0 }) where !found.chunks.contains(chunk) {
                // A forgotten snapshot may have been pruned by now.
                if try store.catalogue.isForgotten(chunk) { continue }
                report.find(
                    "\(name) refers to \(chunk), which is lost",
                    remedy: Advice.restoreListed.text)
            }
        }
    }

    /// Checks that the catalogue and the records name the same segments as dropped: a dropped segment is not read.
    ///
    /// - Parameter listed: the dropped segments that the catalogue listed before the segments were read.
    private func checkDropped(_ listed: Set<SegmentID>) throws {
        var unfound = listed
        let present = try store.catalogue.droppedSegments()
        for id in records(of: .droppedSegments) {
            let name = "record of dropped segments \(id)"
            guard
                let record = try read(
                    name, { () throws(StorageError) in try store.record(id, as: DroppedSegments.self) })
            else {
                continue
            }
            unfound.subtract(record.segments)
            if !present.isSuperset(of: record.segments) {
                report.find(inCatalogue: "\(name) is not in the catalogue")
            }
        }
        for segment in unfound {
            report.find(inCatalogue: "the catalogue lists segment \(segment.short) as dropped, but no record does")
        }
    }

    /// Checks that the catalogue has exactly the root notices of the segments: they decide a snapshot's root.
    ///
    /// - Parameter listed: the notices that the catalogue listed before the segments were read.
    private func checkNotices(_ listed: Set<StoredNotice>) throws {
        var unfound = listed
        let present = try store.catalogue.notices()
        for id in records(of: .rootNotice) {
            let name = "root notice \(id)"
            guard let record = try read(name, { () throws(StorageError) in try store.record(id, as: RootNotice.self) })
            else { continue }
            let notice = StoredNotice(id: id, record: record).withoutHost
            unfound.remove(notice)
            if !present.contains(notice) { report.find(inCatalogue: "\(name) is not in the catalogue") }
        }
        for notice in unfound { report.find(inCatalogue: "root notice \(notice.id) is in no segment") }
    }

    /// Returns the record that `body` reads; reports a finding and returns nil if it throws.
    @discardableResult
    private func read<Record>(
        _ name: String, snapshot: SnapshotID? = nil, _ body: () throws(StorageError) -> Record
    ) throws(StorageError) -> Record? {
        do throws(StorageError) { return try body() } catch {
            guard error.isAboutBytes else { throw error }
            report.find(error.message(about: name), snapshot: snapshot, remedy: error.remedy)
            return nil
        }
    }
}

// The catalogue has the root's present path and machine, and leaves the host name empty: compare records in that form.

extension GapRecord {
    fileprivate func ofRoot(_ path: [UInt8], _ machine: MachineID) -> GapRecord {
        GapRecord(rootPath: path, host: "", cause: cause, start: start, end: end, detail: detail, machine: machine)
    }
}

extension OperationRecord {
    fileprivate func ofRoot(_ path: [UInt8], _ machine: MachineID, _ sequence: UInt64) -> OperationRecord {
        OperationRecord(
            rootPath: path, host: "", kind: kind, time: time, before: before, snapshot: snapshot, path: self.path,
            target: target, machine: machine, name: name, parts: parts, failed: failed,
            leavesRepositories: leavesRepositories, sequence: sequence)
    }
}
