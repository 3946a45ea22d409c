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
    /// States before a page of a span of time are passed over in the index.
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

    /// Renames the title `old`: its states are then those of `new`, with their times, labels and pins.
    ///
    /// Programs that save under `old` meanwhile wait, and begin that title again. If the call is interrupted, repeat it.
    ///
    /// - Throws: `StateError`: `noSuchState` if nothing is saved under `old`, `titleTaken` if `new` has other states,
    ///   `malformedTitle` if `new` cannot be a title…
    public func rename(_ old: String, to new: String) throws(StateError) {
        try StateTitle.check(new)
        if StateTitle.canonical(old) == StateTitle.canonical(new) { return }
        try stating { try renameStates(of: old, to: new) }
    }

    /// The values that differ between two states of any type, in the order of their places.
    ///
    /// - Throws: `StateError`: `noSuchState` if one was forgotten, `archive` with the code `system` if one is larger than
    ///   128 MiB or holds too many values to compare.
    public func differences(
        from old: Memento, to new: Memento
    ) throws(StateError) -> [(place: String, old: StateValue?, new: StateValue?)] {
        try stating {
            try StateComparison.differences(from: StateJSON(item(of: old)), to: StateJSON(item(of: new))).map {
                ($0.path, $0.old.map { StateValue($0.item) }, $0.new.map { StateValue($0.item) })
            }
        }
    }

    /// The state of `memento` as a value of no particular type, for programs that show any state.
    ///
    /// - Throws: `StateError`: `noSuchState` if it was forgotten, `archive` with the code `system` if it is larger than
    ///   128 MiB.
    public func value(of memento: Memento) throws(StateError) -> StateValue {
        try stating { StateValue(try item(of: memento)) }
    }

    private func item(of memento: Memento) throws -> CBORValue {
        guard case .state(let state) = try selection(memento) else {
            throw StateError.noSuchState(title: memento.title)
        }
        return try CBORValue(decoding: content(of: state).bytes)
    }

    private func renameStates(of old: String, to new: String) throws {
        let writer = StateWriter(store: store, title: old, type: "", version: 1)
        try writer.exclusively { _ in
            try StateWriter(store: store, title: new, type: "", version: 1).exclusively { _ in
                let states = try store.catalogue.states(.init(of: old))
                guard !states.isEmpty else { throw StateError.noSuchState(title: old) }
                let taken = try store.catalogue.states(.init(of: new))
                // An interrupted renaming has left the first states under both titles.
                let known = try taken.map { try store.stateRecord($0.id) }
                for (state, known) in zip(states, known) {
                    let record = try store.stateRecord(state.id)
                    guard record.time == known.time, record.content == known.content else {
                        throw StateError.titleTaken(title: new)
                    }
                }
                guard taken.count <= states.count else { throw StateError.titleTaken(title: new) }
                var renamed = taken
                for state in states.dropFirst(taken.count) { renamed.append(try copy(state, to: new)) }
                try movePins(zip(states, renamed))
                try forget(states.map(Memento.init))
            }
        }
    }

    /// Commits the record of `state` again under another title; its content is shared.
    private func copy(_ state: ListedState, to title: String) throws -> ListedState {
        let record = try store.stateRecord(state.id)
        let commit = try store.beginCommit(healing: false)
        do {
            let copy = StateRecord(
                title: StateTitle.canonical(title), host: record.host, time: record.time, label: state.label,
                type: record.type, version: record.version, content: record.content)
            return try commit.commit(copy, bases: [state.id.chunk].compactMap { try store.base($0) })
        } catch {
            commit.abandon()
            throw error
        }
    }

    private func movePins(_ pairs: Zip2Sequence<[ListedState], [ListedState]>) throws {
        let pins = Dictionary(try pins().map { ($0.target, $0) }) { first, _ in first }
        for (old, new) in pairs {
            guard let pin = pins[old.id.chunk], pin.until.map({ $0 > .now }) ?? true else { continue }
            _ = try self.pin(.state(new), until: pin.until, reason: pin.reason)
            try unpin(.state(old))
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
