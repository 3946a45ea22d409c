// Notes: what a user wrote down about a root, or about one snapshot of it.

public import ArchiveFormat
package import ArchiveStorage
public import Archives
public import FileIO
public import Roots
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
    /// - Throws: `ArchiverError`: `unsuitableSettings` where the text is blank or too long, `noSuchSnapshot` where the root
    ///   has no such snapshot, `readOnly`…
    @discardableResult
    public func note(
        _ text: String, about root: ArchivedRoot, snapshot: SnapshotID? = nil, at time: Timestamp? = nil
    ) throws(ArchiverError) -> Note {
        let isBlank = text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        if isBlank || text.utf8.count > NoteRecord.limit {
            throw ArchiverError(
                .unsuitableSettings,
                isBlank
                    ? "a note needs a text, and this one is blank"
                    : "a note has at most \(NoteRecord.limit) bytes, and this one has \(text.utf8.count)",
                remedy: isBlank ? "write something" : "write less, or several notes")
        }
        return try whileKeeping {
            if let snapshot { try requireSnapshot(snapshot, of: root) }
            let record = NoteRecord(
                rootPath: root.path.bytes, host: root.host, time: time ?? .now, text: text, snapshot: snapshot,
                machine: root.machine)
            return Note(StoredRecord(id: try store.enter(record), record: record))
        }
    }

    /// The latest snapshot of a root; nil where it has none.
    package func latestSnapshot(of root: ArchivedRoot) throws(ArchiverError) -> ListedSnapshot? {
        try facing { try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: root.machine) }
    }

    /// Refuses what is no snapshot of `root`, or was forgotten.
    private func requireSnapshot(_ id: SnapshotID, of root: ArchivedRoot) throws {
        let found = try store.catalogue.snapshots(Catalogue.SnapshotFilter(idPrefix: id.hex, limit: 1)).first
        if let found, found.isOf(root) { return }
        throw ArchiverError(
            .noSuchSnapshot, "the archive holds no snapshot \(id.short) of \(root.path)",
            remedy: "'archiver list' shows what there is", path: root.path)
    }

    /// The notes about snapshots of a root, by snapshot; those of each by time.
    ///
    /// - Parameter root: nil for those of all roots.
    public func notesBySnapshot(of root: ArchivedRoot? = nil) throws(ArchiverError) -> [SnapshotID: [Note]] {
        var notes: [SnapshotID: [Note]] = [:]
        for note in try self.notes(of: root) {
            if let snapshot = note.snapshot { notes[snapshot, default: []].append(note) }
        }
        return notes
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
