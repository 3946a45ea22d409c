// Versions, changes, names, lines and sessions as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A version as `log --json` shows it.
struct PathVersionJSON: Encodable {
    let version: PathVersion
    let lines: LineCounts?
    /// Nil to leave out the field.
    let notes: [Note]?

    init(_ version: PathVersion, _ lines: LineCounts? = nil, notes: [Note]? = nil) {
        self.version = version
        self.lines = lines
        self.notes = notes
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: version.snapshot.rootPath, forKey: .root)
        try object.encode(version.snapshot.id.hex, forKey: .snapshot)
        try object.encode(version.snapshot.time, forKey: .time)
        try object.encode(version.snapshot.cause.rawValue, forKey: .cause)
        try object.encode(version.snapshot.label, forKey: .label)
        try object.encode(version.change.rawValue, forKey: .change)
        try object.encode(bytes: version.path.bytes, forKey: .path)
        if let other = version.otherPath { try object.encode(bytes: other.bytes, forKey: .otherPath) }
        try object.encode(version.kind.word, forKey: .kind)
        if version.kind == .file { try object.encode(version.size, forKey: .size) }
        if case .some(.some(let lines)) = lines {
            try object.encode(lines.added, forKey: .linesAdded)
            try object.encode(lines.removed, forKey: .linesRemoved)
        }
        try object.encodeIfPresent(notes?.map(NoteJSON.init), forKey: .notes)
    }
}

/// A directory's version as `log --json` shows it.
struct DirectoryVersionJSON: Encodable {
    let version: DirectoryVersion
    let lines: LineCounts?
    let notes: [Note]

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: version.snapshot.rootPath, forKey: .root)
        try object.encode(version.snapshot.id.hex, forKey: .snapshot)
        try object.encode(version.snapshot.time, forKey: .time)
        try object.encode(version.snapshot.cause.rawValue, forKey: .cause)
        try object.encode(version.snapshot.label, forKey: .label)
        try object.encode(bytes: version.path.bytes, forKey: .path)
        try object.encode(version.isFirst, forKey: .first)
        try object.encode(version.counts.added, forKey: .added)
        try object.encode(version.counts.modified, forKey: .modified)
        try object.encode(version.counts.removed, forKey: .removed)
        if case .some(.some(let lines)) = lines {
            try object.encode(lines.added, forKey: .linesAdded)
            try object.encode(lines.removed, forKey: .linesRemoved)
        }
        try object.encode(notes.map(NoteJSON.init), forKey: .notes)
    }
}

/// The combined change of a path as `changes --json` shows it.
struct CombinedChangeJSON: Encodable {
    let root: ArchivedRoot
    let change: CombinedChange

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(bytes: change.path.bytes, forKey: .path)
        try object.encode(change.change.word, forKey: .change)
        try object.encode(change.snapshotCount, forKey: .snapshots)
        if let other = change.otherPath { try object.encode(bytes: other.bytes, forKey: .otherPath) }
    }
}

/// A deleted path as `deleted --json` shows it.
struct DeletedPathJSON: Encodable {
    let root: ArchivedRoot
    let deleted: DeletedPath

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(bytes: deleted.path.bytes, forKey: .path)
        try object.encode(deleted.kind.word, forKey: .kind)
        if deleted.kind == .file { try object.encode(deleted.size, forKey: .size) }
        try object.encode(deleted.contained, forKey: .contained)
        try object.encode(deleted.deletedIn.time, forKey: .time)
        try object.encode(deleted.deletedIn.id.hex, forKey: .deletedIn)
        try object.encode(deleted.lastIn.id.hex, forKey: .lastIn)
    }
}

/// A name as `find --json` shows it.
struct FoundNameJSON: Encodable {
    let root: ArchivedRoot
    let name: FoundName

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(bytes: name.path.bytes, forKey: .path)
        try object.encode(name.kind.word, forKey: .kind)
        if name.kind == .file { try object.encode(name.size, forKey: .size) }
        try object.encode(name.versionCount, forKey: .versions)
        try object.encode(name.isDeleted, forKey: .deleted)
        try object.encode(name.first.time, forKey: .first)
        try object.encode(name.lastChange.time, forKey: .lastChanged)
        try object.encode(name.lastChange.id.hex, forKey: .lastChangedIn)
        try object.encode(name.lastIn.id.hex, forKey: .lastIn)
        try object.encode(name.deletedIn?.id.hex, forKey: .deletedIn)
    }
}

/// A line as `grep --json` shows it.
struct FoundLineJSON: Encodable {
    let root: ArchivedRoot
    let line: FoundLine

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(bytes: line.path.bytes, forKey: .path)
        try object.encode(line.number, forKey: .line)
        try object.encode(bytes: line.bytes, forKey: .text)
        try object.encode(line.first.id.hex, forKey: .first)
        try object.encode(line.first.time, forKey: .since)
        try object.encode(line.gone?.id.hex, forKey: .goneIn)
        try object.encode(line.gone?.time.rfc3339, forKey: .gone)
        try object.encode(line.lastIn.id.hex, forKey: .lastIn)
        try object.encode(line.interruptions.map(Interruption.init), forKey: .interruptions)
    }

    /// A span without the line.
    private struct Interruption: Encodable {
        let gone: String
        let back: String
        let goneIn: String
        let backIn: String

        init(_ gap: FoundLine.Interruption) {
            (gone, back) = (gap.gone.time.rfc3339, gap.back.time.rfc3339)
            (goneIn, backIn) = (gap.gone.id.hex, gap.back.id.hex)
        }
    }
}

/// A line as `blame --json` shows it.
struct BlamedLineJSON: Encodable {
    let number: Int
    let line: BlamedLine

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(number, forKey: .line)
        try object.encode(line.sourceLine, forKey: .sourceLine)
        try object.encode(bytes: line.version.path.bytes, forKey: .path)
        try object.encode(line.version.snapshot.id.hex, forKey: .snapshot)
        try object.encode(line.version.snapshot.time, forKey: .time)
        try object.encode(line.version.snapshot.label, forKey: .label)
        try object.encode(bytes: line.bytes, forKey: .text)
    }
}

/// A session as `sessions --json` shows it.
struct WorkSessionJSON: Encodable {
    let root: ArchivedRoot
    let number: Int
    let session: WorkSession

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(number, forKey: .number)
        try object.encode(session.first.time, forKey: .start)
        try object.encode(session.last.time, forKey: .end)
        try object.encode(session.snapshots, forKey: .snapshots)
        try object.encode(session.changes.added, forKey: .added)
        try object.encode(session.changes.modified, forKey: .modified)
        try object.encode(session.changes.removed, forKey: .removed)
        try object.encode(session.storedBytes, forKey: .storedBytes)
        try object.encode(session.before?.id.hex, forKey: .before)
        try object.encode(session.last.id.hex, forKey: .last)
    }
}
