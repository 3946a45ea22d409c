// Notes: what a user wrote down about a root, or about one snapshot of it.

public import ArchiveFormat
internal import ArchiveStorage
public import FileIO
internal import SystemPackage

/// Something that a user wrote down about a root.
public struct Note: Sendable, Hashable {
    /// The id of the chunk that holds it.
    public let id: ChunkID
    public let root: ArchivedRoot
    public let time: Timestamp
    public let text: String
    /// The snapshot that it is about; nil where it is about the root at that time.
    public let snapshot: SnapshotID?

    init(_ stored: StoredRecord<NoteRecord>) {
        let record = stored.record
        id = stored.id
        root = ArchivedRoot(path: FilePath(bytes: record.rootPath), machine: record.machine, host: record.host)
        time = record.time
        text = record.text
        snapshot = record.snapshot
    }
}

extension Archive {
    /// Writes down a note about a root.
    ///
    /// - Parameters:
    ///   - snapshot: the snapshot that it is about; nil where it is about the root at `time`.
    ///   - time: nil for now.
    /// - Throws: `ArchiverError`: `unsuitableSettings` where the text is empty or too long, `readOnly`…
    @discardableResult
    public func note(
        _ text: String, about root: ArchivedRoot, snapshot: SnapshotID? = nil, at time: Timestamp? = nil
    ) throws(ArchiverError) -> Note {
        if text.isEmpty || text.utf8.count > NoteRecord.limit {
            throw ArchiverError(
                .unsuitableSettings, "a note has 1 to \(NoteRecord.limit) bytes, and this one has \(text.utf8.count)",
                remedy: text.isEmpty ? "write something" : "write less, or several notes")
        }
        return try facing {
            let record = NoteRecord(
                rootPath: root.path.bytes, host: root.host, time: time ?? .now, text: text, snapshot: snapshot,
                machine: root.machine)
            return Note(StoredRecord(id: try store.enter(record), record: record))
        }
    }

    /// The notes about a root, by time.
    ///
    /// - Parameters:
    ///   - root: nil for those of all roots.
    ///   - since: those of this instant or after.
    ///   - until: those of this instant or before.
    public func notes(
        of root: ArchivedRoot? = nil, since: Timestamp? = nil, until: Timestamp? = nil
    ) throws(ArchiverError) -> [Note] {
        try facing {
            var number: Int64?
            if let root {
                number = try self.number(of: root)
                if number == nil { return [] }
            }
            return try store.catalogue.notes(root: number, since: since, until: until).map(Note.init)
        }
    }
}
