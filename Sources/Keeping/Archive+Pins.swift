// Pins: snapshots and saved states that are kept whatever the policy.

public import ArchiveFormat
internal import ArchiveStorage
public import Archives
public import FileIO
public import Roots

/// A pin of a snapshot or a saved state.
public struct Pin: Sendable, Hashable {
    /// The id of the snapshot or the state.
    public let target: ChunkID
    /// When it was pinned.
    public let time: Timestamp
    /// When the pin expires; nil if it does not.
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
    /// Pins a snapshot or a saved state: no policy and no user can forget it.
    ///
    /// An earlier pin is replaced.
    ///
    /// - Parameters:
    ///   - until: when the pin expires; nil if only `unpin` ends it.
    ///   - reason: why, for people.
    /// - Throws: `ArchiverError`: `unsuitableSettings` if `until` is past, `readOnly`…
    @discardableResult
    public func pin(
        _ selected: Selection, until: Timestamp? = nil, reason: String? = nil
    ) throws(ArchiverError) -> Pin {
        if let until, until <= .now {
            throw ArchiverError(
                .unsuitableSettings, "a pin until \(until.rfc3339) would already be over", remedy: "name a future time"
            )
        }
        if let reason, reason.isEmpty || reason.utf8.count > PinRecord.reasonLimit {
            throw ArchiverError(
                .unsuitableSettings, "the reason is empty or longer than \(PinRecord.reasonLimit) bytes",
                remedy: "omit it, or shorten it")
        }
        return try whileKeeping {
            try requireListed(selected)
            let record = PinRecord(
                target: selected.id, time: .now, until: until, reason: reason,
                sequence: try store.catalogue.nextSequence(ofPin: selected.id))
            try store.enter(record)
            return Pin(record)
        }
    }

    /// Ends the pin of a snapshot or a saved state.
    ///
    /// - Throws: `ArchiverError`: `notPinned`, `readOnly`…
    public func unpin(_ selected: Selection) throws(ArchiverError) {
        try whileKeeping {
            guard let pin = try store.catalogue.pin(of: selected.id) else {
                throw ArchiverError(
                    .notPinned, "\(selected.name) is not pinned", remedy: Advice.listPins.text)
            }
            try store.enter(PinRecord(removedFrom: selected.id, time: .now, sequence: pin.sequence + 1))
        }
    }

    /// Returns the pins, the newest last, without those that have expired.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func pins() throws(ArchiverError) -> [Pin] {
        try facing {
            let now = Timestamp.now
            return try store.catalogue.pins().values.filter { $0.holds(at: now) }.map(Pin.init)
                .sorted { ($0.time, $0.target) < ($1.time, $1.target) }
        }
    }

    /// Returns the pin of a snapshot or a saved state; nil if it has none or that has expired.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func pin(of selected: Selection) throws(ArchiverError) -> Pin? {
        try facing {
            try store.catalogue.pin(of: selected.id).flatMap { $0.holds(at: .now) ? Pin($0) : nil }
        }
    }

    /// Throws if any of `ids` is pinned.
    package func requireUnpinned(_ ids: some Collection<ChunkID>, _ name: (ChunkID) -> String) throws {
        let pins = try store.catalogue.pins()
        if pins.isEmpty { return }
        let now = Timestamp.now
        for id in ids {
            guard let pin = pins[id], pin.holds(at: now) else { continue }
            let reason = pin.reason.map { ": \($0)" } ?? ""
            throw ArchiverError(
                .pinned, "\(name(id)) is pinned\(reason)",
                remedy: Advice.unpin.text)
        }
    }
}
