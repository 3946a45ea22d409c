// One change at a time of what is kept: what one looks at, another must not alter before it is done.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
public import Roots

extension Archive {
    /// Runs `body` while no other process pins, labels, forgets or brings back.
    ///
    /// - Throws: `ArchiverError` of the code `readOnly` where nothing can be added to the archive.
    package func whileKeeping<Result>(_ body: () throws -> Result) throws(ArchiverError) -> Result {
        try facing {
            try store.requireWritable()
            let lock = try FileLock.exclusive(store.layout.lock("keeping.lock"))
            defer { withExtendedLifetime(lock) {} }
            return try body()
        }
    }

    /// Refuses what is not listed, or not any more.
    func requireListed(_ selected: Selected) throws {
        let isListed =
            switch selected {
            case .snapshot(let record): try store.catalogue.hasSnapshot(record.id)
            case .state(let state): try store.catalogue.hasState(state.id)
            }
        if isListed { return }
        throw ArchiverError(
            .noSuchSnapshot, "\(selected.name) is not in the archive, or was forgotten",
            remedy: "'archiver list --forgotten' shows what was forgotten")
    }
}

extension Selected {
    /// What messages call it.
    package var name: String {
        switch self {
        case .snapshot(let snapshot): "snapshot \(snapshot.id.short)"
        case .state(let state): "state \(state.id.short) of '\(state.title)'"
        }
    }

    /// The user's name for it.
    public var label: String? {
        switch self {
        case .snapshot(let snapshot): snapshot.label
        case .state(let state): state.label
        }
    }
}

extension Timestamp {
    /// Now, or a moment after `earlier` where the clock was set back: the later of two statements counts.
    static func now(after earlier: Timestamp?) -> Timestamp {
        let now = Timestamp.now
        return earlier.map { max(now, $0.advanced(byNanoseconds: 1)) } ?? now
    }
}
