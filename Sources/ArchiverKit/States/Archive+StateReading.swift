// Looking at saved states whatever type they have: listing them, and what they hold.

internal import ArchiveFormat
package import ArchiveStorage
package import FileIO
internal import FoundationEssentials
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
