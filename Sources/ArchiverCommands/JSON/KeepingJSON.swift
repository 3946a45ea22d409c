// Pins, labels, notes and forgotten snapshots as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A pin.
struct PinJSON: Encodable {
    let pin: Pin

    init(_ pin: Pin) { self.pin = pin }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(pin.target.hex, forKey: .id)
        try object.encode(pin.time, forKey: .pinned)
        try object.encode(pin.until?.rfc3339, forKey: .until)
        try object.encode(pin.reason, forKey: .reason)
    }
}

/// A note.
struct NoteJSON: Encodable {
    let note: Note

    init(_ note: Note) { self.note = note }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(note.id.hex, forKey: .id)
        try object.encode(bytes: note.root.path.bytes, forKey: .root)
        try object.encode(note.snapshot?.hex, forKey: .snapshot)
        try object.encode(note.text, forKey: .text)
        try object.encode(note.time, forKey: .time)
    }
}

/// A line of the output of `note --remove --json`.
struct RemovedNoteJSON: Encodable {
    let id: String
}

/// The output of `unpin --json`.
struct UnpinnedJSON: Encodable {
    let id: String
}

/// The output of `label --json`; the label is null after its removal.
struct LabelJSON: Encodable {
    let id: String
    let label: String?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(id, forKey: .id)
        try object.encode(label, forKey: .label)
    }
}

/// The output of `forget --json`: what was forgotten, or would be.
struct ForgettingJSON: Encodable {
    let forgotten: [Selection]
    let kept: [(snapshot: ListedSnapshot, reason: ForgettingResult.Reason)]
    let isDryRun: Bool

    private struct Kept: Encodable {
        let id: String
        let reason: String
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(isDryRun, forKey: .dryRun)
        try object.encode(forgotten.map(SelectionJSON.init), forKey: .forgotten)
        try object.encode(
            kept.map { Kept(id: $0.snapshot.id.hex, reason: $0.reason.rawValue) }, forKey: .kept)
    }
}

/// A forgotten snapshot or state; `record` is null if it can no longer be read.
struct ForgottenJSON: Encodable {
    let forgotten: ForgottenSelection

    init(_ forgotten: ForgottenSelection) { self.forgotten = forgotten }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(forgotten.id.hex, forKey: .id)
        try object.encode(forgotten.forgotten, forKey: .forgotten)
        try object.encode(forgotten.reason.word, forKey: .reason)
        try object.encode(forgotten.selected.map(SelectionJSON.init), forKey: .record)
    }
}
