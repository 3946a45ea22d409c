// Lists of pins and of forgotten snapshots and states.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Lists of pins.
enum PinList {
    static var listing: Listing<Pin> {
        Listing(
            [
                .text("id", mark: .yellow) { String($0.target.hex.prefix(8)) }, .time("pinned") { $0.time },
                .time("until") { $0.until }, .text("reason", isElastic: true) { Escaping.text($0.reason ?? "") },
            ], emptiness: "Nothing is pinned."
        ) { PinJSON($0) }
    }

    /// The field of `archiver show` for a pin; empty without a pin.
    static func fields(_ pin: Pin?) -> [FieldList.Field] {
        guard let pin else { return [] }
        func parts(_ time: (Timestamp) -> String) -> String {
            [
                "since \(time(pin.time))", pin.until.map { "until \(time($0))" }, pin.reason.map { Escaping.text($0) },
            ].compactMap(\.self).joined(separator: ", ")
        }
        return [.init("pinned", person: parts(LocalTime.text), pipe: parts(LocalTime.plain))]
    }
}

/// Lists of forgotten snapshots and states.
enum ForgottenList {
    static var listing: Listing<ForgottenSelection> {
        Listing(
            [
                .text("id", mark: .yellow) { String($0.id.hex.prefix(8)) }, .time("forgotten") { $0.forgotten },
                .time("time") { $0.selected?.time }, .text("root or title", isElastic: true, owner),
                .text("label", isElastic: true) { Escaping.text($0.selected?.label ?? "") },
                .text("why") { $0.reason.word ?? "" },
            ], emptiness: "Nothing is forgotten."
        ) { ForgottenJSON($0) }
    }

    private static func owner(_ one: ForgottenSelection) -> String {
        switch one.selected {
        case .snapshot(let snapshot): Escaping.text(snapshot.rootPath)
        case .state(let state): Escaping.text(state.title)
        case nil: "(cannot be read)"
        }
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
