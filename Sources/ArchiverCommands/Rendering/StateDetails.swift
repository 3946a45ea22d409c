// The details of one saved state, as text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SavedStates

/// Texts about a saved state.
enum StateDetails {
    /// The lines of `archiver show` before the state's content.
    static func lines(_ state: ListedState, pin: Pin? = nil, _ console: Console) -> [String] {
        let fields: [FieldList.Field] = [
            .init("id", state.id.hex), .time("time", state.time), .init("title", Escaping.text(state.title)),
            .init("host", Escaping.text(state.host)), .init("label", state.label.map { Escaping.text($0) } ?? "-"),
            .init("type", Escaping.text(state.type)), .init("version", "\(state.version)"),
            .bytes("size", state.bytes), .bytes("stored", state.storedBytes),
        ]
        return FieldList(fields: fields + PinList.fields(pin)).lines(console)
    }

    /// Writes the state's content and a line feed; escaped on a terminal, unchanged in a pipe.
    static func write(_ content: StateContent, _ output: Output) throws {
        try content.writeJSON(pretty: true) { piece in
            guard output.isTerminal else { return try output.write(piece) }
            try output.write(Escaping.json(String(decoding: piece, as: UTF8.self)))
        }
        try output.line("")
    }

    /// "wrote 1a2b3c4d of 'Best Game Ever' to game.json: 120 B".
    static func summary(_ state: ListedState, _ export: StateExport, isDryRun: Bool) -> String {
        let verb = isDryRun ? "would write" : "wrote"
        return "\(verb) \(state.id.short) of '\(Escaping.text(state.title))' to "
            + "\(Escaping.text(export.destination.bytes)): \(ByteCount.text(UInt64(export.bytes)))"
    }
}
