// Lists of saved states.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// Lists of saved states for people and for programs.
enum StateList {
    static func listing(emptiness: String) -> Listing<ListedState> {
        Listing(
            [
                .text("id", mark: .yellow) { $0.id.short }, .time("time") { $0.time },
                .text("title", isElastic: true) { Escaping.text($0.title) },
                .text("label", isElastic: true) { Escaping.text($0.label ?? "") },
                .pipe { Escaping.text($0.type) },
                .text("version", alignment: .right, dispensability: 2) { "\($0.version)" },
                .bytes("size", dispensability: 1) { $0.bytes }, .bytes("stored", dispensability: 3) { $0.storedBytes },
            ], emptiness: emptiness
        ) { SavedStateJSON($0) }
    }
}
