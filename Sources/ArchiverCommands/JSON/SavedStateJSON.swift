// Saved states as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SavedStates

/// A saved state as `list --states --json` shows it.
struct SavedStateJSON: Encodable {
    let state: ListedState

    init(_ state: ListedState) { self.state = state }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(state.id.hex, forKey: .id)
        try object.encode(state.time, forKey: .time)
        try object.encode(state.title, forKey: .title)
        try object.encode(state.label, forKey: .label)
        try object.encode(state.type, forKey: .type)
        try object.encode(state.version, forKey: .version)
        try object.encode(state.bytes, forKey: .bytes)
        try object.encode(state.storedBytes, forKey: .storedBytes)
        try object.encode(state.host, forKey: .host)
    }
}

/// A saved state and its content as `show --json` shows them.
struct StateDetailsJSON {
    let state: ListedState
    let content: StateContent

    /// Writes one object on one line; the content is streamed, because its values may not fit in memory.
    func write(to output: Output) throws {
        try output.write(JSONText.of(SavedStateJSON(state)).dropLast() + ",\"state\":")
        try content.writeJSON(pretty: false) { try output.write($0) }
        try output.line("}")
    }
}

/// The result of writing a state to a file, or the plan of a dry run.
struct StateExportJSON: Encodable {
    let state: ListedState
    let export: StateExport
    let isDryRun: Bool

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(state.id.hex, forKey: .id)
        try object.encode(state.title, forKey: .title)
        try object.encode(isDryRun, forKey: .dryRun)
        try object.encode(bytes: export.destination.bytes, forKey: .destination)
        try object.encode(export.bytes, forKey: .bytes)
    }
}

/// A snapshot or a saved state; only a state has a title.
struct SelectionJSON: Encodable {
    let selected: Selection

    init(_ selected: Selection) { self.selected = selected }

    func encode(to encoder: any Encoder) throws {
        switch selected {
        case .snapshot(let snapshot): try SnapshotJSON(snapshot).encode(to: encoder)
        case .state(let state): try SavedStateJSON(state).encode(to: encoder)
        }
    }
}
