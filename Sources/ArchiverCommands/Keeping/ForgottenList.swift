// Lists of pins and of forgotten snapshots and states, as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Lists of pins.
enum PinList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "pinned"),
        TextTable.Column(title: "until"), TextTable.Column(title: "reason", isElastic: true),
    ]

    /// The field of `archiver show` for a pin; empty without a pin.
    static func fields(_ pin: Pin?, _ console: Console) -> [(name: String, value: String)] {
        guard let pin else { return [] }
        func time(_ time: Timestamp) -> String { console.isForPerson ? LocalTime.text(time) : time.rfc3339 }
        let parts = [
            "since \(time(pin.time))", pin.until.map { "until \(time($0))" }, pin.reason.map { Escaping.text($0) },
        ]
        return [("pinned", parts.compactMap { $0 }.joined(separator: ", "))]
    }

    /// A table for a person; lines with tabs for a program: id, time, end, reason.
    static func lines(_ pins: [Pin], _ console: Console) -> [String] {
        guard console.isForPerson else {
            return pins.map { pin in
                TextTable.plain([
                    String(pin.target.hex.prefix(8)), pin.time.rfc3339, pin.until?.rfc3339 ?? "",
                    Escaping.text(pin.reason ?? ""),
                ])
            }
        }
        var table = TextTable(columns)
        for pin in pins {
            table.add([
                String(pin.target.hex.prefix(8)), LocalTime.text(pin.time), pin.until.map { LocalTime.text($0) } ?? "",
                Escaping.text(pin.reason ?? ""),
            ])
        }
        return table.aligned(console.style, width: console.output.columns)
    }
}

/// Lists of forgotten snapshots and states.
enum ForgottenList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "forgotten"),
        TextTable.Column(title: "time"), TextTable.Column(title: "root or title", isElastic: true),
        TextTable.Column(title: "label", isElastic: true), TextTable.Column(title: "why"),
    ]

    /// A table for a person; lines with tabs for a program: id, time of forgetting, time, root or title, label, reason.
    static func lines(_ forgotten: [ForgottenSelection], _ console: Console) -> [String] {
        guard console.isForPerson else {
            return forgotten.map { TextTable.plain(cells($0, time: \.rfc3339)) }
        }
        var table = TextTable(columns)
        for one in forgotten { table.add(cells(one) { LocalTime.text($0) }) }
        return table.aligned(console.style, width: console.output.columns)
    }

    private static func cells(_ one: ForgottenSelection, time: (Timestamp) -> String) -> [String] {
        let owner =
            switch one.selected {
            case .snapshot(let snapshot): Escaping.text(snapshot.rootPath)
            case .state(let state): Escaping.text(state.title)
            case nil: "(cannot be read)"
            }
        return [
            String(one.id.hex.prefix(8)), time(one.forgotten), one.selected.map { time($0.time) } ?? "", owner,
            Escaping.text(one.selected?.label ?? ""), one.reason.word ?? "",
        ]
    }
}

extension ForgettingReason {
    /// "asked", "policy", "room" or "purged"; nil for a reason of a later version.
    var word: String? {
        switch self {
        case .asked: "asked"
        case .policy: "policy"
        case .room: "room"
        case .purged: "purged"
        default: nil
        }
    }
}
