// Lists of states, what people add to them, and states of any type.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
public import FileIO
internal import Keeping
public import Mementos
internal import Roots

extension Archive {
    /// The states saved under `title`, a page at a time; the cost depends on the page, not on the history.
    ///
    /// - Parameters:
    ///   - label: only states with this label.
    ///   - since: only states saved at or after this time.
    ///   - until: only states saved at or before this time.
    ///   - newestFirst: whether the newest state comes first.
    ///   - limit: the maximum number of states.
    ///   - last: the last state of the previous page, to continue after it; nil for the first page.
    /// - Throws: `StateError` if the archive cannot be read.
    public func states(
        of title: String, label: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil,
        newestFirst: Bool = false, limit: Int? = nil, after last: Memento? = nil
    ) throws(StateError) -> [Memento] {
        var filter = Catalogue.StateFilter(
            of: title, label: label, until: until, since: since, newestFirst: newestFirst, limit: limit)
        filter.behind = last.map { .init(sequence: $0.sequence, time: $0.time, id: $0.id) }
        return try stating { try store.catalogue.states(filter).map(Memento.init) }
    }

    /// Labels a saved state; an earlier label is replaced.
    ///
    /// - Throws: `StateError`: `archive` with the code `malformedSelector` if `label` is not a valid label…
    public func label(_ memento: Memento, as label: String) throws(StateError) {
        try stating { try self.label(selection(memento), as: label) }
    }

    /// Removes the label of a saved state.
    ///
    /// - Throws: `StateError`: `archive` with the code `noLabel` if it has none…
    public func removeLabel(of memento: Memento) throws(StateError) {
        try stating { try removeLabel(of: selection(memento)) }
    }

    /// Pins a saved state, so that no retention forgets it.
    ///
    /// - Parameters:
    ///   - until: when the pin ends; nil for never.
    ///   - reason: why, for people.
    /// - Throws: `StateError`: `noSuchState` if it was forgotten…
    public func pin(_ memento: Memento, until: Timestamp? = nil, reason: String? = nil) throws(StateError) {
        try stating { _ = try pin(selection(memento), until: until, reason: reason) }
    }

    /// Ends the pin of a saved state.
    ///
    /// - Throws: `StateError`: `archive` with the code `notPinned` if it is not pinned…
    public func unpin(_ memento: Memento) throws(StateError) {
        try stating { try unpin(selection(memento)) }
    }

    /// Forgets all states of `title`, so that the title is no longer listed.
    ///
    /// - Throws: `StateError`: `archive` with the code `pinned` if one is pinned; then none is forgotten.
    public func forget(allOf title: String) throws(StateError) { try forget(history(of: title)) }

    /// The state of `memento` as a value of no particular type, for programs that show any state.
    ///
    /// - Throws: `StateError`: `noSuchState` if it was forgotten, `archive` with the code `system` if it is larger than
    ///   128 MiB.
    public func value(of memento: Memento) throws(StateError) -> StateValue {
        try stating {
            guard case .state(let state) = try selection(memento) else {
                throw StateError.noSuchState(title: memento.title)
            }
            return StateValue(try CBORValue(decoding: content(of: state).bytes))
        }
    }

    /// What the functions of snapshots and states call a memento.
    private func selection(_ memento: Memento) throws -> Selection {
        if let state = try store.catalogue.states(.init(idPrefix: memento.id.hex, limit: 1)).first {
            return .state(state)
        }
        if let snapshot = try store.catalogue.snapshots(.init(idPrefix: memento.id.hex, limit: 1)).first {
            return .snapshot(snapshot)
        }
        throw StateError.noSuchState(title: memento.title)
    }
}
