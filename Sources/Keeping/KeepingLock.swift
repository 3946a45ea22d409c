// Serialises pinning, labelling and forgetting: each checks first and then changes.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
public import Roots

extension Archive {
    /// Runs `body` while no other process pins, labels, forgets or brings back snapshots.
    ///
    /// - Parameter isDryRun: whether `body` only reads; then the archive need not be writable.
    /// - Throws: `ArchiverError` with the code `readOnly` if the archive cannot be written to.
    package func whileKeeping<Result>(
        isDryRun: Bool = false, _ body: () throws -> Result
    ) throws(ArchiverError) -> Result {
        try facing {
            if isDryRun, !store.isWritable { return try body() }
            try store.requireWritable()
            let lock = try FileLock.exclusive(
                store.layout.lock("keeping.lock"), for: "changing what \(directory) keeps", in: store.layout)
            defer { withExtendedLifetime(lock) {} }
            return try body()
        }
    }

    /// Throws if `selected` is not in the archive, or was forgotten.
    func requireListed(_ selected: Selection) throws {
        let isListed =
            switch selected {
            case .snapshot(let listed): try store.catalogue.hasSnapshot(listed.id)
            case .state(let state): try store.catalogue.hasState(state.id)
            }
        if isListed { return }
        throw ArchiverError(
            .noSuchSnapshot, "\(selected.name) is not in the archive, or was forgotten",
            remedy: Advice.listForgotten.text)
    }
}

extension Selection {
    /// Its name in messages.
    package var name: String {
        switch self {
        case .snapshot(let snapshot): "snapshot \(snapshot.id.short)"
        case .state(let state): "state \(state.id.short) of '\(state.title)'"
        }
    }

    /// Its label.
    public var label: String? {
        switch self {
        case .snapshot(let snapshot): snapshot.label
        case .state(let state): state.label
        }
    }
}
