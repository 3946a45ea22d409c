// Pins: snapshots and saved states that are kept whatever the policy says.

public import ArchiveFormat
internal import ArchiveStorage
public import Archives
public import FileIO
public import Roots

/// What keeps a snapshot or a saved state.
public struct Pin: Sendable, Hashable {
    /// The id of the snapshot or the state.
    public let target: ChunkID
    /// When it was pinned.
    public let time: Timestamp
    /// When the pin ends by itself; nil where it does not.
    public let until: Timestamp?
    /// Why, for people.
    public let reason: String?

    init(_ record: PinRecord) {
        target = record.target
        time = record.time
        until = record.until
        reason = record.reason
    }
}

extension Archive {
    /// Pins a snapshot or a saved state: no policy lets it go, and nobody can forget it.
    ///
    /// A pin that it has is replaced.
    ///
    /// - Parameters:
    ///   - until: when the pin ends by itself; nil where only `unpin` ends it.
    ///   - reason: why, for people.
    /// - Throws: `ArchiverError`: `unsuitableSettings` where `until` is past, `readOnly`…
    @discardableResult
    public func pin(
        _ selected: Selected, until: Timestamp? = nil, reason: String? = nil
    ) throws(ArchiverError) -> Pin {
        if let until, until <= .now {
            throw ArchiverError(
                .unsuitableSettings, "a pin until \(until.rfc3339) would be over already", remedy: "name a time to come"
            )
        }
        if let reason, reason.isEmpty || reason.utf8.count > PinRecord.reasonLimit {
            throw ArchiverError(
                .unsuitableSettings, "the reason is empty, or has more than \(PinRecord.reasonLimit) bytes",
                remedy: "leave it out, or say it in fewer words")
        }
        return try whileKeeping {
            try requireListed(selected)
            let time = Timestamp.now(after: try store.catalogue.timeOfPin(selected.id))
            let record = PinRecord(target: selected.id, time: time, until: until, reason: reason)
            try store.enter(record)
            return Pin(record)
        }
    }

    /// Ends the pin of a snapshot or a saved state.
    ///
    /// - Throws: `ArchiverError`: `notPinned`, `readOnly`…
    public func unpin(_ selected: Selected) throws(ArchiverError) {
        try whileKeeping {
            guard let pin = try store.catalogue.pin(of: selected.id) else {
                throw ArchiverError(
                    .notPinned, "\(selected.name) is not pinned", remedy: "'archiver pin' lists what is pinned")
            }
            let time = Timestamp.now(after: pin.time)
            try store.enter(PinRecord(removedFrom: selected.id, time: time))
        }
    }

    /// What is pinned, the newest pin last; pins that have come to their end are left out.
    public func pins() throws(ArchiverError) -> [Pin] {
        try facing {
            let now = Timestamp.now
            return try store.catalogue.pins().values.filter { $0.holds(at: now) }.map(Pin.init)
                .sorted { ($0.time, $0.target) < ($1.time, $1.target) }
        }
    }

    /// The pin of a snapshot or a saved state; nil where it has none, or that has come to its end.
    public func pin(of selected: Selected) throws(ArchiverError) -> Pin? {
        try facing {
            try store.catalogue.pin(of: selected.id).flatMap { $0.holds(at: .now) ? Pin($0) : nil }
        }
    }

    /// Refuses to forget what is pinned.
    package func requireUnpinned(_ ids: some Collection<ChunkID>, _ name: (ChunkID) -> String) throws {
        let pins = try store.catalogue.pins()
        if pins.isEmpty { return }
        let now = Timestamp.now
        for id in ids {
            guard let pin = pins[id], pin.holds(at: now) else { continue }
            let reason = pin.reason.map { ": \($0)" } ?? ""
            throw ArchiverError(
                .pinned, "\(name(id)) is pinned\(reason)",
                remedy: "end that first with 'archiver unpin \(id.hex.prefix(8))'")
        }
    }
}
