// Which states programs have saved in an archive, of whatever type, and the one that a selector names.

internal import ArchiveFormat
package import ArchiveStorage
package import FileIO
package import Roots

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
