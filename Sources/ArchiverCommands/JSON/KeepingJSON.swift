// Pins, labels, and what is forgotten, as JSON.

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
        try object.encode(pin.target.hex, forKey: "id")
        try object.encode(pin.time, forKey: "pinned")
        try object.encode(pin.until?.rfc3339, forKey: "until")
        try object.encode(pin.reason, forKey: "reason")
    }
}

/// A note.
struct NoteJSON: Encodable {
    let note: Note

    init(_ note: Note) { self.note = note }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(note.id.hex, forKey: "id")
        try object.encode(bytes: note.root.path.bytes, forKey: "root")
        try object.encode(note.snapshot?.hex, forKey: "snapshot")
        try object.encode(note.text, forKey: "text")
        try object.encode(note.time, forKey: "time")
    }
}

/// What `unpin` ended the pin of.
struct UnpinnedJSON: Encodable {
    let id: String
}

/// What something is called now; null for nothing.
struct LabelJSON: Encodable {
    let id: String
    let label: String?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(id, forKey: "id")
        try object.encode(label, forKey: "label")
    }
}

/// What `forget` forgot, or would.
struct ForgettingJSON: Encodable {
    let forgotten: [Selected]
    let kept: [(snapshot: ListedSnapshot, reason: ForgettingResult.Reason)]
    let isDryRun: Bool

    private struct Kept: Encodable {
        let id: String
        let reason: String
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(isDryRun, forKey: "dryRun")
        try object.encode(forgotten.map(SelectedJSON.init), forKey: "forgotten")
        try object.encode(
            kept.map { Kept(id: $0.snapshot.id.hex, reason: $0.reason.rawValue) }, forKey: "kept")
    }
}

/// Something that is forgotten; `record` is null where it cannot be read any more.
struct ForgottenJSON: Encodable {
    let forgotten: ForgottenSelection

    init(_ forgotten: ForgottenSelection) { self.forgotten = forgotten }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(forgotten.id.hex, forKey: "id")
        try object.encode(forgotten.forgotten, forKey: "forgotten")
        try object.encode(forgotten.reason.word, forKey: "reason")
        try object.encode(forgotten.selected.map(SelectedJSON.init), forKey: "record")
    }
}
