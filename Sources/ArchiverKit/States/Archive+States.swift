// Programs' states in an archive: saving and loading any Codable value by name, and looking at states of whatever type.

internal import ArchiveFormat
public import ArchiveStorage
package import FileIO
public import Foundation
public import Roots
public import SavedStates

extension Archive {
    /// Opens the archive in the directory at `url`.
    ///
    /// - Throws: see `open(_:creating:)` of a `FilePath`; `noArchive` where the URL is not that of a file.
    public static func open(_ url: URL, creating: Bool = false) throws(ArchiverError) -> Archive {
        guard url.isFileURL else {
            throw ArchiverError(
                .noArchive, "\(url.absoluteString) is not on this machine: an archive is a directory",
                remedy: "give the URL of a directory, such as URL(filePath: \"/var/states\")")
        }
        return try open(url.path(percentEncoded: false), creating: creating)
    }

    // MARK: Saving and loading

    /// Saves `state` as the newest under `title`: when this returns it is durable, where it throws nothing has changed.
    ///
    /// A state equal to the latest one is not stored again, unless it is to get another label.
    ///
    /// - Parameters:
    ///   - title: the name under which the program keeps its states, such as "Best Game Ever".
    ///   - label: the user's name for this one state.
    @discardableResult
    public func save<State: Codable & Sendable>(
        _ state: State, as title: String, label: String? = nil
    ) throws(StateError) -> Memento {
        try StateStore(title: title, archive: self).save(state, label: label)
    }

    /// The state saved last under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` where there is none, `undecodable` where it is no `State`…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ title: String, at selector: SnapshotSelector = .latest
    ) throws(StateError) -> State {
        try load(title, at: selector)
    }

    /// The state saved last under `title`, or the one that `selector` names.
    ///
    /// - Throws: `StateError`: `noSuchState` where there is none, `undecodable` where it is no `State`…
    public func load<State: Codable & Sendable>(
        _ title: String, at selector: SnapshotSelector = .latest
    ) throws(StateError) -> State {
        let store = StateStore<State>(title: title, archive: self)
        return try store.state(of: store.memento(selector))
    }

    /// The state that `memento` stands for.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` where it was forgotten…
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ memento: Memento
    ) throws(StateError) -> State {
        try load(memento)
    }

    /// The state that `memento` stands for.
    ///
    /// - Throws: `StateError`: `noSuchState` or `noSuchSelection` where it was forgotten…
    public func load<State: Codable & Sendable>(_ memento: Memento) throws(StateError) -> State {
        try load(memento.title, at: SnapshotSelector(memento))
    }

    /// The state saved last under `title`; at the first start, `state`, which is saved then.
    ///
    /// Of several programs that start first at the same time, one begins with its state, and the others go on from there.
    public func load<State: Codable & Sendable>(
        _ title: String, startingFrom state: @autoclosure () throws -> State
    ) throws(StateError) -> State {
        do throws(StateError) { return try load(State.self, title) } catch {
            guard case .noSuchState = error else { throw error }
        }
        let first: State
        do { first = try state() } catch { throw error as? StateError ?? .originator(title: title, cause: error) }
        return try StateStore(title: title, archive: self).begin(with: first) ?? first
    }

    /// The state saved last under `title`; at the first start, the one in the JSON file at `url`, which is saved then.
    public func load<State: Codable & Sendable>(
        _ type: State.Type, _ title: String, startingFrom url: URL
    ) throws(StateError) -> State {
        try load(title, startingFrom: StateFile.load(type, from: url))
    }

    // MARK: Changing

    /// Changes the state saved last under `title`, and saves it: nobody else saves under the title meanwhile, no other
    /// program and no other thread, so that no change is lost.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: alters the state; where it throws, nothing is saved. Others wait for it. It must save nothing under the
    ///     title itself: that fails with `titleInUse`.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `StateError`: `noSuchState` where there is none…
    @discardableResult
    public func update<State: Codable & Sendable, Result>(
        _ title: String, label: String? = nil, _ body: (inout State) throws -> Result
    ) throws -> Result {
        try StateStore(title: title, archive: self).update(from: nil, label: label, body)
    }

    /// Changes the state saved last under `title`, at the first start `state`, and saves it: nobody else saves under the
    /// title meanwhile, no other program and no other thread, so that no change is lost.
    ///
    /// - Parameters:
    ///   - label: the user's name for the new state.
    ///   - body: alters the state; where it throws, nothing is saved. Others wait for it. It must save nothing under the
    ///     title itself: that fails with `titleInUse`.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `StateError`.
    @discardableResult
    public func update<State: Codable & Sendable, Result>(
        _ title: String, startingFrom state: @autoclosure () throws -> State, label: String? = nil,
        _ body: (inout State) throws -> Result
    ) throws -> Result {
        let first: State
        do { first = try state() } catch { throw StateError.originator(title: title, cause: error) }
        return try StateStore(title: title, archive: self).update(from: first, label: label, body)
    }

    // MARK: History

    /// The states saved under `title`, the oldest first.
    public func history(of title: String) throws(StateError) -> [Memento] {
        try stating { try store.catalogue.states(.init(of: title)).map(Memento.init) }
    }

    /// The titles that states are saved under, in alphabetical order.
    public func titles() throws(StateError) -> [StateTitle] {
        try stating { try store.catalogue.stateTitles() }
    }

    /// Forgets states: they are neither listed nor loaded any more; their bytes stay in the archive.
    ///
    /// - Throws: `StateError`: `archive` with the code `pinned` where one is pinned; then none is forgotten.
    public func forget(_ mementos: [Memento]) throws(StateError) {
        let names = Dictionary(mementos.map { ($0.id, "state \($0.short) of '\($0.title)'") }) { first, _ in first }
        try stating {
            if names.isEmpty { return }
            try whileKeeping {
                try requireUnpinned(names.keys) { names[$0] ?? $0.hex }
                try store.forget(Set(names.keys))
            }
        }
    }

    // MARK: Selecting

    /// The state that `selector` names; nil where no state has the title, or where there is none at all.
    ///
    /// - Parameter title: where to look; nil to look at all states.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot` or `ambiguousSelector`.
    package func state(_ selector: SnapshotSelector, titled title: String?) throws(ArchiverError) -> ListedState? {
        if selector.back > 0 {
            guard let base = try state(selector.withoutSteps, titled: title) else { return nil }
            return try state(selector.back, before: base)
        }
        return try facing {
            let any = Catalogue.StateFilter(of: title, newestFirst: true, limit: 1)
            var filter = any
            switch selector.meaning {
            case .latest(0): return try store.catalogue.states(any).first
            case .latest(let back): filter.offset = back
            case .oldest: filter.newestFirst = false
            case .time(let time): filter.until = time
            case .session:
                throw ArchiverError(
                    .malformedSelector, "'\(selector)' is for directories, not for saved states",
                    remedy: "name a state by 'latest~2', a time, its id or its label")
            case .name(let name): return try state(named: name, any)
            case .malformed(let message, let remedy):
                throw ArchiverError(.malformedSelector, message, remedy: remedy)
            }
            // At one instant: a state that is saved meanwhile would make the first look contradict the second.
            let looks = try store.catalogue.states([filter, any])
            if let found = looks[0].first { return found }
            if looks[1].isEmpty { return nil }
            throw ArchiverError(
                .noSuchSnapshot, "no state is that old: '\(selector)'",
                remedy: "'archiver list --states' shows what there is")
        }
    }

    /// The state with the label `name`, the newest where several have it; else the one whose id begins with it.
    ///
    /// - Parameter any: finds the latest state of those that are looked at.
    private func state(named name: String, _ any: Catalogue.StateFilter) throws -> ListedState? {
        var byLabel = any
        byLabel.label = name
        let byID = Archive.idFilter(name, titled: any.owner)
        let looks = try store.catalogue.states([any, byLabel] + [byID].compactMap { $0 })
        if let labelled = looks[1].first { return labelled }
        if looks[0].isEmpty { return nil }
        let candidates = byID == nil ? [] : looks[2]
        guard let first = candidates.first else {
            throw ArchiverError(
                .noSuchSnapshot, "no state has the label or the id '\(name)'",
                remedy: "'archiver list --states' shows what there is")
        }
        _ = try Archive.only(
            candidates.map(Selected.state), "'\(name)' is the beginning of the ids of several states")
        return first
    }

    /// The states whose ids begin with `digits`, the newest first.
    func states(withIDPrefix digits: String) throws -> [ListedState] {
        try Archive.idFilter(digits, titled: nil).map { try store.catalogue.states($0) } ?? []
    }

    /// Finds the states whose ids begin with `digits`, the newest first; nil where these can begin none.
    ///
    /// - Parameter title: of this title only; nil for all.
    private static func idFilter(_ digits: String, titled title: String?) -> Catalogue.StateFilter? {
        guard mayBeID(digits) else { return nil }
        return Catalogue.StateFilter(
            of: title, idPrefix: digits.lowercased(), newestFirst: true, limit: candidatesLimit)
    }
}

// MARK: - Looking at states whatever type they have

/// Which saved states are wanted.
package struct StateQuery: Sendable {
    /// Of this title only.
    package var title: String?
    /// With this label only.
    package var label: String?
    /// Saved at this instant or after.
    package var since: Timestamp?
    /// Saved at this instant or before.
    package var until: Timestamp?
    /// Whether the newest comes first.
    package var newestFirst: Bool
    /// The most states to give.
    package var limit: Int?

    package init(
        title: String? = nil, label: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil,
        newestFirst: Bool = false, limit: Int? = nil
    ) {
        self.title = title
        self.label = label
        self.since = since
        self.until = until
        self.newestFirst = newestFirst
        self.limit = limit
    }
}

extension Archive {
    /// The saved states that `query` asks for, by time.
    package func states(_ query: StateQuery = StateQuery()) throws(ArchiverError) -> [ListedState] {
        try facing { try store.catalogue.states(Archive.filter(query)) }
    }

    /// The titles that there are saved states of, in alphabetical order.
    package func stateTitles() throws(ArchiverError) -> [StateTitle] {
        try facing { try store.catalogue.stateTitles() }
    }

    /// How many saved states `query` asks for, its limit left aside.
    package func stateCount(_ query: StateQuery = StateQuery()) throws(ArchiverError) -> Int {
        try facing { try store.catalogue.count(Archive.filter(query)) }
    }

    private static func filter(_ query: StateQuery) -> Catalogue.StateFilter {
        Catalogue.StateFilter(
            of: query.title, label: query.label, until: query.until, since: query.since,
            newestFirst: query.newestFirst, limit: query.limit)
    }

    /// What a state is compared with where nothing else is said: the latest of its title; the latest, with the one
    /// before it.
    ///
    /// - Returns: the earlier of the two and the later; nil where there is only one.
    package func comparison(of state: ListedState) throws(ArchiverError) -> (left: ListedState, right: ListedState)? {
        let newest = try states(StateQuery(title: state.title, newestFirst: true, limit: 2))
        guard let latest = newest.first else { return nil }
        if latest != state { return (state, latest) }
        return newest.count == 2 ? (newest[1], latest) : nil
    }

    /// What `state` holds, with its version where that is not 1.
    ///
    /// - Throws: `ArchiverError` of the code `damaged` where its bytes are lost, wrong, or no CBOR item.
    package func content(of state: ListedState) throws(ArchiverError) -> StateContent {
        try facing {
            let record = try store.stateRecord(state.id)
            guard record.content.size <= UInt64(StateContent.bytesLimit) else {
                throw ArchiverError(
                    .system,
                    "the state \(state.id.short) of '\(state.title)' has \(record.content.size) bytes, more than the "
                        + "\(StateContent.bytesLimit) that archiver can show",
                    remedy: "load it with the program that saved it")
            }
            let bytes = try store.bytes(of: record)
            do { return try StateContent(bytes, version: state.version) } catch {
                throw ArchiverError(
                    .damaged, "the state \(state.id.short) of '\(state.title)' cannot be read: \(error)",
                    remedy: "see 'archiver check --data', and 'archiver list --states' for other states")
            }
        }
    }

    /// The state's stored record, rendered as JSON with sorted keys.
    package func rawJSON(of state: ListedState) throws(ArchiverError) -> String {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(store.stateRecord(state.id)), as: UTF8.self)
        }
    }
}
