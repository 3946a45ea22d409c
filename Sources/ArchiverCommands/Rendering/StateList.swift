// Saved states as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage

/// Lists of saved states for people and for programs.
enum StateList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "time"),
        TextTable.Column(title: "title", isElastic: true), TextTable.Column(title: "label", isElastic: true),
        TextTable.Column(title: "version", alignment: .right, dispensability: 2),
        TextTable.Column(title: "size", alignment: .right, dispensability: 1),
        TextTable.Column(title: "stored", alignment: .right, dispensability: 3),
    ]

    /// A table for a person, plain lines for a program.
    static func lines(_ states: [ListedState], _ console: Console) -> [String] {
        console.isForPerson ? table(states, console.style, width: console.output.columns) : states.map(plain)
    }

    static func table(_ states: [ListedState], _ style: Style, width: Int? = nil) -> [String] {
        var table = TextTable(columns)
        for state in states {
            table.add([
                state.id.short, LocalTime.text(state.time), Escaping.text(state.title),
                Escaping.text(state.label ?? ""), "\(state.version)", ByteCount.text(state.bytes),
                ByteCount.text(state.storedBytes),
            ])
        }
        return table.aligned(style, width: width)
    }

    /// One line with tabs: id, time, title, label, type, version, bytes, stored bytes.
    static func plain(_ state: ListedState) -> String {
        TextTable.plain([
            state.id.short, state.time.rfc3339, Escaping.text(state.title), Escaping.text(state.label ?? ""),
            Escaping.text(state.type), "\(state.version)", "\(state.bytes)", "\(state.storedBytes)",
        ])
    }
}
