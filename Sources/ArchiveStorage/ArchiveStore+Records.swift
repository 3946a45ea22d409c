// The records of an archive: reading one, and entering records that are not part of a capture.

package import ArchiveFormat
package import FileIO

extension ArchiveStore {
    /// Reads the record in the chunk `id`.
    package func record<Record: ArchiveRecord>(
        _ id: ChunkID, as type: Record.Type = Record.self
    ) throws(StorageError) -> Record {
        try record(id, from: try read(id))
    }

    /// The record in these bytes of the chunk `id`.
    func record<Record: ArchiveRecord>(_ id: ChunkID, from bytes: [UInt8]) throws(StorageError) -> Record {
        do throws(FormatError) {
            return try Record(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id, error)
            throw failure
        }
    }

    /// A record to be entered, and the encoding that it gets.
    private struct Entry {
        let chunk: RawChunk
        let listed: any ListedRecord
        /// The rule that it breaks: readers would refuse it.
        let broken: FormatError?

        init<Record: ArchiveRecord>(_ type: Record.Type, _ bytes: [UInt8], _ listed: (ChunkID) -> any ListedRecord) {
            chunk = RawChunk(kind: Record.kind, bytes: bytes)
            self.listed = listed(chunk.id)
            do throws(FormatError) {
                _ = try Record(decoding: bytes)
                broken = nil
            } catch { broken = error }
        }
    }

    /// The encoding of `record`, with the fields of later programs that the record `old` has.
    func encoding<Record: ArchiveRecord>(
        of record: Record, keepingUnknownOf old: ChunkID?
    ) throws(StorageError) -> [UInt8] {
        guard let old else { return record.encoded() }
        let bytes = try read(old)
        do { return try record.encoded(keepingUnknownOf: bytes) } catch {
            let failure: StorageError = try undecodable(old, error)
            throw failure
        }
    }

    /// Enters `record` into the archive: it is durable when this returns, and absent if this throws.
    func enter(_ record: some ArchiveRecord, listed: any ListedRecord) throws(StorageError) {
        try enter([(record, listed)])
    }

    /// Enters a record that is listed independently of other records.
    ///
    /// - Parameter old: the record that it replaces: it keeps that record's fields of later programs.
    @discardableResult
    func enter<Record: PlainRecord>(
        plain record: Record, keepingUnknownOf old: ChunkID? = nil
    ) throws(StorageError) -> ChunkID {
        try enter(record, keepingUnknownOf: old) { StoredRecord(id: $0, record: record) }
    }

    /// Enters a record with the fields of later programs that the record `old` has.
    private func enter<Record: ArchiveRecord>(
        _ record: Record, keepingUnknownOf old: ChunkID?, listed: (ChunkID) -> any ListedRecord
    ) throws(StorageError) -> ChunkID {
        let entry = Entry(Record.self, try encoding(of: record, keepingUnknownOf: old), listed)
        try enter([entry])
        return entry.chunk.id
    }

    /// Enters records, at least one, in one commit.
    func enter<Record: ArchiveRecord>(_ records: [(record: Record, listed: any ListedRecord)]) throws(StorageError) {
        try enter(records.map { entry in Entry(Record.self, entry.record.encoded()) { _ in entry.listed } })
    }

    /// On a full disk, they take the place of the ballast.
    private func enter(_ entries: [Entry]) throws(StorageError) {
        do { try append(entries) } catch  where error.code == .noSpace {
            guard Ballast(layout).release() else { throw error }
            try append(entries)
        }
    }

    private func append(_ entries: [Entry]) throws(StorageError) {
        let writer = try beginCommit()
        do throws(StorageError) {
            var blocks: [EncodedBlock] = []
            var listed: [any ListedRecord] = []
            for entry in entries {
                if let reason = entry.broken {
                    throw StorageError(
                        .system, layout.directory, "the record cannot be stored: \(reason)",
                        remedy: "use a shorter text; if a record has the greatest sequence number, none can follow it")
                }
                blocks.append(try encode([entry.chunk]))
                listed.append(entry.listed)
                let found = FoundRecord(kind: entry.chunk.kind, id: entry.chunk.id, offset: 0, ownBytes: 0)
                let targets = found.unknownReferences(in: entry.chunk.bytes)
                if !targets.isEmpty { listed.append(ListedReferences(record: entry.chunk.id, targets: targets)) }
            }
            try writer.finish(blocks, CommitRecords(listed))
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// The kinds of records that this program knows.
    package var recordKinds: [ChunkKind] { RecordKind.all.map(\.kind) }

    /// The name of a record in messages; nil for kinds that this program does not know.
    package func name(of id: ChunkID, _ kind: ChunkKind) -> String? {
        RecordKind.all.first { $0.kind == kind }?.name(id)
    }

    /// Whether the catalogue agrees with the record in the chunk `id`.
    ///
    /// - Returns: nil for kinds that this program does not know, and for those that a check compares field by field.
    /// - Throws: `StorageError`, also if the record cannot be read.
    package func isListed(_ id: ChunkID, _ kind: ChunkKind) throws(StorageError) -> Bool? {
        guard let known = RecordKind.all.first(where: { $0.kind == kind }) else { return nil }
        let record = try known.read(self, FoundRecord(kind: kind, id: id, offset: 0, ownBytes: 0))
        return try catalogue.read { db in try record.isListed(in: db) }
    }

    // MARK: Kinds

    /// Reads the record of the state `id`.
    package func stateRecord(_ id: StateID) throws(StorageError) -> StateRecord {
        try record(id.chunk)
    }

    /// Enters `notice` into the archive: it is durable when this returns, and absent if this throws.
    package func enter(_ notice: RootNotice) throws(StorageError) {
        try enter(notice, listed: StoredNotice(notice))
    }

    /// Enters `record` into the archive: it is durable when this returns, and absent if this throws.
    ///
    /// - Parameter old: the record that it replaces: it keeps that record's fields of later programs.
    package func enter(
        _ record: OperationRecord, keepingUnknownOf old: ChunkID? = nil
    ) throws(StorageError) -> OperationID {
        OperationID(
            try enter(record, keepingUnknownOf: old) { StoredOperation(id: OperationID($0), record: record) })
    }

    /// Enters `gaps` into the archive in one commit: all are durable when this returns, and none is there if this
    /// throws.
    ///
    /// Gaps that the archive already has are skipped.
    package func enter(_ gaps: [GapRecord]) throws(StorageError) {
        var new: [ListedGap] = []
        for gap in Set(gaps).map(ListedGap.init) where try !holds(gap) { new.append(gap) }
        if new.isEmpty { return }
        let writer = try beginCommit()
        do throws(StorageError) {
            try writer.commit(new)
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// Enters `gap` in place of the gap `old`, whose fields of later programs it keeps.
    package func enter(_ gap: GapRecord, keepingUnknownOf old: ChunkID) throws(StorageError) {
        _ = try enter(gap, keepingUnknownOf: old) { ListedGap(id: $0, record: gap) }
    }

    /// Whether a gap is listed and its chunk is present.
    private func holds(_ gap: ListedGap) throws(StorageError) -> Bool {
        guard try catalogue.hasGap(gap.id) else { return false }
        return try catalogue.holds(gap.id)
    }

    /// Records that condemned segments are dropped.
    ///
    /// When this returns, the record is durable and nothing in the segments counts any more. Their files may be removed
    /// only then.
    ///
    /// - Throws: `StorageError`, also if one of `segments` is not condemned, or its header could not be read.
    package func enter(dropping segments: [ListedSegment], at time: Timestamp = .now) throws(StorageError) {
        if segments.isEmpty { return }
        var names: Set<SegmentID> = []
        for segment in segments {
            guard let known = try catalogue.segment(segment.number), known.state == .condemned, let name = known.name
            else {
                let path = self.segments.path(of: segment.path)
                throw StorageError(
                    .system, path, "segment \(path) cannot be dropped: it is not condemned", remedy: "condemn it first")
            }
            names.insert(name)
        }
        // A record drops an id, and so every file that has it.
        let dropped = Set(segments.map(\.number))
        let others = try catalogue.segments().filter { !dropped.contains($0.number) }.compactMap(\.name)
        guard names.isDisjoint(with: try catalogue.copiedSegments()), names.isDisjoint(with: others) else {
            throw StorageError(
                .damaged, layout.directory, "segments cannot be dropped: other files have the same ids",
                remedy: Advice.moveNamedFiles.text)
        }
        let record = DroppedSegments(time: time, segments: names)
        try enter(record, listed: record)
    }

    /// Records that missing segments are lost for good.
    package func enter(lost segments: Set<SegmentID>, _ reason: String) throws(StorageError) {
        let sorted = segments.sorted()
        for start in stride(from: 0, to: sorted.count, by: DroppedSegments.limit) {
            let part = Set(sorted[start...].prefix(DroppedSegments.limit))
            try enter(plain: LostSegments(time: .now, segments: part, reason: reason.isEmpty ? nil : reason))
        }
    }

    // MARK: Statements about existing snapshots and states

    /// Enters a label: it is durable when this returns, and absent if this throws.
    package func enter(_ label: LabelRecord) throws(StorageError) { try enter(plain: label) }

    /// Enters a pin or its end.
    ///
    /// - Parameter old: the pin that it replaces: it keeps that record's fields of later programs.
    package func enter(_ pin: PinRecord, keepingUnknownOf old: ChunkID? = nil) throws(StorageError) {
        try enter(plain: pin, keepingUnknownOf: old)
    }

    /// Enters a note.
    ///
    /// - Parameter old: the note that it replaces: it keeps that record's fields of later programs.
    package func enter(_ note: NoteRecord, keepingUnknownOf old: ChunkID? = nil) throws(StorageError) -> ChunkID {
        try enter(plain: note, keepingUnknownOf: old)
    }

    /// Enters a policy.
    package func enter(_ policy: PolicyRecord) throws(StorageError) { try enter(plain: policy) }

    /// Enters how long the files had lived that snapshots are the last to have.
    package func enter(lifetimes: [SnapshotID: UInt64]) throws(StorageError) {
        for record in DeletionRecord.splitting(lifetimes, at: .now) { _ = try enter(plain: record) }
    }

    /// Forgets snapshots and states in one commit: they are no longer listed, but their bytes stay.
    ///
    /// - Parameter time: when they are forgotten.
    package func forget(
        _ records: Set<ChunkID>, reason: ForgettingReason = .asked, at time: Timestamp = .now
    ) throws(StorageError) {
        if records.isEmpty { return }
        var statements: [(record: ForgottenRecords, listed: any ListedRecord)] = []
        let sequence = try catalogue.nextSequence(ofForgetting: records)
        for record in ForgottenRecords.splitting(records, at: time, reason: reason, sequence: sequence) {
            statements.append((record, record))
        }
        try enter(statements)
    }

    /// Lists forgotten snapshots and states again, in one commit; those that cannot be read stay unlisted.
    package func unforget(_ records: Set<ChunkID>) throws(StorageError) {
        if records.isEmpty { return }
        var statements: [(record: UnforgottenRecords, listed: any ListedRecord)] = []
        let sequence = try catalogue.nextSequence(ofForgetting: records)
        for record in UnforgottenRecords.splitting(records, at: .now, sequence: sequence) {
            statements.append((record, try listedAgain(record)))
        }
        try enter(statements)
    }

    /// Replaces a saved state by one with another label.
    package func replaceLabel(of state: StateRecord, _ id: StateID, by label: String?) throws(StorageError) {
        let new = StateRecord(
            title: state.title, host: state.host, time: state.time, sequence: state.sequence, label: label,
            type: state.type, version: state.version, content: state.content, storedBytes: state.storedBytes)
        let writer = try beginCommit()
        do throws(StorageError) { _ = try writer.commit(new, replacing: id) } catch {
            writer.abandon()
            throw error
        }
    }
}
