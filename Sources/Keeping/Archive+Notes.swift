// Notes: texts that a user wrote about a root, or about one snapshot of it.

public import ArchiveFormat
package import ArchiveStorage
public import Archives
public import FileIO
public import Roots
internal import SystemPackage

/// A note about a root or a snapshot.
public struct Note: Sendable, Hashable {
    /// The id of its chunk.
    public let id: ChunkID
    /// The root that the note is about.
    public let root: ArchivedRoot
    /// The time that the note is about.
    public let time: Timestamp
    /// What was noted.
    public let text: String
    /// The snapshot that it is about; nil if it is about the root at `time`.
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
    /// Stores a note about a root.
    ///
    /// - Parameters:
    ///   - snapshot: the snapshot that it is about; nil if it is about the root at `time`.
    ///   - time: nil for now.
    /// - Throws: `ArchiverError`: `unsuitableSettings` if the text is blank or too long, `noSuchSnapshot` if the root
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
                    ? "the note is blank"
                    : "the note has \(text.utf8.count) bytes; at most \(NoteRecord.limit) are allowed",
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

    /// Removes notes about a root: they are no longer listed, and the next prune removes their bytes.
    ///
    /// - Parameters:
    ///   - text: the notes' exact text.
    ///   - snapshot: only notes about this snapshot; nil for all.
    /// - Returns: the removed notes.
    /// - Throws: `ArchiverError`: `noSuchNote` if there is none, `readOnly`…
    @discardableResult
    public func removeNotes(
        _ text: String, about root: ArchivedRoot, snapshot: SnapshotID? = nil
    ) throws(ArchiverError) -> [Note] {
        let found = try notes(of: root).filter { $0.text == text && (snapshot == nil || $0.snapshot == snapshot) }
        if found.isEmpty {
            throw ArchiverError(
                .noSuchNote, "\(root.path) has no note with this text",
                remedy: "give the text of a listed note exactly",
                path: root.path)
        }
        try whileKeeping {
            for note in found {
                _ = try store.enter(
                    NoteRecord(
                        removing: note.id, rootPath: root.path.bytes, time: .now, machine: root.machine))
            }
        }
        return found
    }

    /// Returns the latest snapshot of a root; nil if it has none.
    package func latestSnapshot(of root: ArchivedRoot) throws(ArchiverError) -> ListedSnapshot? {
        try facing { try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: root.machine) }
    }

    /// Throws if `id` is not a listed snapshot of `root`.
    private func requireSnapshot(_ id: SnapshotID, of root: ArchivedRoot) throws {
        let found = try store.catalogue.snapshots(Catalogue.SnapshotFilter(idPrefix: id.hex, limit: 1)).first
        if let found, found.isOf(root) { return }
        throw ArchiverError(
            .noSuchSnapshot, "the archive holds no snapshot \(id.short) of \(root.path)",
            remedy: Advice.listSnapshots.text, path: root.path)
    }

    /// Returns the notes about snapshots of a root, by snapshot; those of each by time.
    ///
    /// - Parameter root: nil for all roots.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func notesBySnapshot(of root: ArchivedRoot? = nil) throws(ArchiverError) -> [SnapshotID: [Note]] {
        var notes: [SnapshotID: [Note]] = [:]
        for note in try self.notes(of: root) {
            if let snapshot = note.snapshot { notes[snapshot, default: []].append(note) }
        }
        return notes
    }

    /// Returns the notes about a root, by time.
    ///
    /// - Parameters:
    ///   - root: nil for all roots.
    ///   - since: only notes of this instant or later.
    ///   - until: only notes of this instant or earlier.
    /// - Throws: `ArchiverError` if the archive cannot be read.
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
