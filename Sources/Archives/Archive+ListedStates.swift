// Lists the states that programs saved in an archive, of any type, and finds the state that a selector names.

internal import ArchiveFormat
package import ArchiveStorage
package import FileIO
package import Roots

/// Selects saved states.
package struct StateQuery: Sendable {
    /// Only states of this title.
    package var title: String?
    /// Only states with this label.
    package var label: String?
    /// Only states saved at or after this instant.
    package var since: Timestamp?
    /// Only states saved at or before this instant.
    package var until: Timestamp?
    /// Whether the newest state comes first.
    package var newestFirst: Bool
    /// The maximum number of states to return.
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
    /// The saved states that `query` selects: those of one title in their order, those of all titles by time.
    package func states(_ query: StateQuery = StateQuery()) throws(ArchiverError) -> [ListedState] {
        try facing { try store.catalogue.states(Archive.filter(query)) }
    }

    /// The titles of the saved states, in alphabetical order.
    package func stateTitles() throws(ArchiverError) -> [StateTitle] {
        try facing { try store.catalogue.stateTitles() }
    }

    /// The number of saved states that `query` selects, without its limit.
    package func stateCount(_ query: StateQuery = StateQuery()) throws(ArchiverError) -> Int {
        try facing { try store.catalogue.count(Archive.filter(query)) }
    }

    private static func filter(_ query: StateQuery) -> Catalogue.StateFilter {
        Catalogue.StateFilter(
            of: query.title, label: query.label, until: query.until, since: query.since,
            newestFirst: query.newestFirst, limit: query.limit)
    }

    /// The two states to compare by default: `state` and the latest of its title.
    ///
    /// If `state` is the latest, it is compared with the one before it.
    ///
    /// - Returns: the earlier and the later of the two; nil if there is only one.
    package func comparison(of state: ListedState) throws(ArchiverError) -> (left: ListedState, right: ListedState)? {
        let newest = try states(StateQuery(title: state.title, newestFirst: true, limit: 2))
        guard let latest = newest.first else { return nil }
        if latest != state { return (state, latest) }
        return newest.count == 2 ? (newest[1], latest) : nil
    }

    // MARK: Selecting

    /// The state that `selector` names; nil if the title has no states, or if there are none at all.
    ///
    /// - Parameter title: the title to search; nil for all states.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot`, `ambiguousSelector` or `malformedSelector`.
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
            case .time(let time): filter.until = store.clock.flatMap { selector.time(at: $0()) } ?? time
            case .session:
                throw ArchiverError(
                    .malformedSelector, "'\(selector)' is for directories, not for saved states",
                    remedy: "name a state by 'latest~2', a time, its id or its label")
            case .name(let name): return try state(named: name, any)
            case .malformed(let message, let remedy):
                throw ArchiverError(.malformedSelector, message, remedy: remedy)
            }
            // Both queries read the same instant. Otherwise a state saved in between would make them contradict each
            // other.
            let looks = try store.catalogue.states([filter, any])
            if let found = looks[0].first { return found }
            if looks[1].isEmpty { return nil }
            throw ArchiverError(
                .noSuchSnapshot, "no state is that old: '\(selector)'",
                remedy: Advice.listStates.text)
        }
    }

    /// The newest state with the label `name`; if there is none, the state whose id begins with `name`.
    ///
    /// - Parameter any: finds the latest of the states to search.
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
                remedy: Advice.listStates.text)
        }
        _ = try Archive.only(
            candidates.map(Selection.state), "the ids of several states begin with '\(name)'")
        return first
    }

    /// The states whose ids begin with `digits`, newest first.
    func states(withIDPrefix digits: String) throws -> [ListedState] {
        try Archive.idFilter(digits, titled: nil).map { try store.catalogue.states($0) } ?? []
    }

    /// A filter for the states whose ids begin with `digits`, newest first; nil if no id can begin with them.
    ///
    /// - Parameter title: only states of this title; nil for all.
    private static func idFilter(_ digits: String, titled title: String?) -> Catalogue.StateFilter? {
        guard mayBeID(digits) else { return nil }
        return Catalogue.StateFilter(
            of: title, idPrefix: digits.lowercased(), newestFirst: true, limit: candidatesLimit)
    }
}
