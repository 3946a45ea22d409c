// Finding the one snapshot or saved state that a selector names.

package import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Roots

extension Archive {
    /// The one snapshot that `selector` names.
    ///
    /// - Parameter root: where to look; nil to look at all roots.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot` or `ambiguousSelector` (with the candidates).
    public func snapshot(
        _ selector: SnapshotSelector, of root: ArchivedRoot? = nil
    ) throws(ArchiverError) -> ListedSnapshot {
        if selector.back > 0 { return try snapshot(selector.back, before: snapshot(selector.withoutSteps, of: root)) }
        return try facing {
            var filter = Catalogue.SnapshotFilter(newestFirst: true, limit: 1)
            if let root {
                guard let number = try number(of: root) else {
                    throw ArchiverError(
                        .noSuchSnapshot, "\(root.path) has no snapshots",
                        remedy: "make one with 'archiver capture \(root.path)'", path: root.path)
                }
                filter.owner = number
            }
            switch selector.meaning {
            case .latest(let back):
                filter.offset = back
            case .oldest:
                filter.newestFirst = false
            case .time(let time):
                filter.until = time
                filter.isByTime = true
            case .session(let back):
                guard let before = try sessions(of: root, limit: back).dropFirst(back - 1).first?.before else {
                    throw noSuchSnapshot(selector, root)
                }
                return before
            case .name(let name):
                return try snapshot(named: name, filter)
            case .malformed(let message, let remedy):
                throw ArchiverError(.malformedSelector, message, remedy: remedy)
            }
            guard let found = try store.catalogue.snapshots(filter).first else {
                throw noSuchSnapshot(selector, root)
            }
            return found
        }
    }

    /// The snapshot or the saved state that `selector` names: by its place in time a snapshot; else, whichever of the
    /// two has the label; else, the id; else the latest state with that title.
    ///
    /// - Parameters:
    ///   - root: where to look for snapshots first.
    ///   - isElsewhere: whether to look at all roots then.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot` or `ambiguousSelector` (with the candidates).
    package func selected(
        _ selector: SnapshotSelector, of root: ArchivedRoot?, orElsewhere isElsewhere: Bool
    ) throws(ArchiverError) -> Selected {
        guard case .name(let name) = selector.meaning else { return .snapshot(try snapshot(selector, of: root)) }
        if selector.back > 0 {
            switch try selected(selector.withoutSteps, of: root, orElsewhere: isElsewhere) {
            case .snapshot(let record): return .snapshot(try snapshot(selector.back, before: record))
            case .state(let state): return .state(try self.state(selector.back, before: state))
            }
        }
        return try facing {
            var labelled = try snapshots(SnapshotQuery(root: root, label: name, newestFirst: true, limit: 1))
            if labelled.isEmpty, isElsewhere {
                labelled = try snapshots(SnapshotQuery(label: name, newestFirst: true, limit: 1))
            }
            let states = try states(StateQuery(label: name, newestFirst: true, limit: 1))
            let byLabel = labelled.map(Selected.snapshot) + states.map(Selected.state)
            if let found = try Archive.only(byLabel, "the label '\(name)' is that of a snapshot and of a saved state") {
                return found
            }
            let byID =
                try snapshots(withIDPrefix: name).map(Selected.snapshot)
                + self.states(withIDPrefix: name).map(Selected.state)
            if let found = try Archive.only(byID, "'\(name)' is the beginning of several ids") { return found }
            if let state = try state(.latest, titled: name) { return .state(state) }
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot or saved state has the id, label or title '\(name)'",
                remedy: "'archiver list' shows the snapshots, 'archiver list --states' the states")
        }
    }

    /// The snapshot of the same root that is `steps` before `record`.
    private func snapshot(_ steps: Int, before record: ListedSnapshot) throws(ArchiverError) -> ListedSnapshot {
        try facing {
            let root = try store.catalogue.root(path: record.rootPath, machine: record.machine)
            var filter = Catalogue.SnapshotFilter(of: root?.number, newestFirst: true, limit: 1, offset: steps - 1)
            filter.behind = .init(sequence: record.sequence, time: record.time, id: record.id.chunk)
            if let found = try store.catalogue.snapshots(filter).first { return found }
            throw ArchiverError(
                .noSuchSnapshot,
                steps == 1
                    ? "there is no snapshot before \(record.id.short)"
                    : "there are fewer than \(steps) snapshots before \(record.id.short)",
                remedy: "'oldest' names the first one")
        }
    }

    /// The state of the same title that is `steps` before `state`.
    func state(_ steps: Int, before state: ListedState) throws(ArchiverError) -> ListedState {
        try facing {
            var filter = Catalogue.StateFilter(of: state.title, newestFirst: true, limit: 1, offset: steps - 1)
            filter.behind = .init(time: state.time, id: state.id.chunk)
            if let found = try store.catalogue.states(filter).first { return found }
            throw ArchiverError(
                .noSuchSnapshot,
                steps == 1
                    ? "there is no state of '\(state.title)' before \(state.id.short)"
                    : "there are fewer than \(steps) states of '\(state.title)' before \(state.id.short)",
                remedy: "'archiver list --states' shows what there is")
        }
    }

    /// The one of `candidates`; nil where there is none.
    ///
    /// - Throws: `ArchiverError` of the code `ambiguousSelector` where there are several.
    package static func only(_ candidates: [Selected], _ message: @autoclosure () -> String) throws -> Selected? {
        guard candidates.count > 1 else { return candidates.first }
        throw ArchiverError(
            .ambiguousSelector, message(), remedy: "name one by more digits of its id",
            candidates: candidates)
    }

    /// The snapshot with the label `name`, the newest where several have it; else the one whose id begins with it.
    private func snapshot(named name: String, _ filter: Catalogue.SnapshotFilter) throws -> ListedSnapshot {
        var byLabel = filter
        byLabel.label = name
        if let labelled = try store.catalogue.snapshots(byLabel).first { return labelled }
        guard Archive.mayBeID(name) else {
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot has the label '\(name)'", remedy: "'archiver list' shows the labels")
        }
        let candidates = try snapshots(withIDPrefix: name)
        guard let first = candidates.first else {
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot's id begins with '\(name)'", remedy: "'archiver list' shows the ids")
        }
        _ = try Archive.only(candidates.map(Selected.snapshot), "'\(name)' is the beginning of several ids")
        return first
    }

    /// The snapshots whose ids begin with `digits`, the newest first; an id is unique wherever its snapshot's root is.
    private func snapshots(withIDPrefix digits: String) throws -> [ListedSnapshot] {
        guard Archive.mayBeID(digits) else { return [] }
        return try store.catalogue.snapshots(
            Catalogue.SnapshotFilter(
                idPrefix: digits.lowercased(), newestFirst: true, limit: Archive.candidatesLimit))
    }

    /// The ids of snapshots that begin with `digits`; of one root where it is given.
    package func snapshotIDs(
        beginning digits: String, of root: ArchivedRoot?, limit: Int
    ) throws(ArchiverError) -> [SnapshotID] {
        try facing {
            guard Archive.mayBeID(digits) else { return [] }
            var filter = Catalogue.SnapshotFilter(idPrefix: digits.lowercased(), newestFirst: true, limit: limit)
            if let root {
                guard let number = try number(of: root) else { return [] }
                filter.owner = number
            }
            return try store.catalogue.snapshots(filter).map(\.id)
        }
    }

    /// More than this many candidates help nobody.
    package static let candidatesLimit = 20

    /// Whether `text` may be the beginning of an id.
    package static func mayBeID(_ text: String) -> Bool {
        text.count <= 2 * ChunkID.byteCount && text.utf8.allSatisfy { Hex.value($0) != nil }
    }

    private func noSuchSnapshot(_ selector: SnapshotSelector, _ root: ArchivedRoot?) -> ArchiverError {
        let place = root.map { "of \($0.path) " } ?? ""
        return ArchiverError(
            .noSuchSnapshot, "no snapshot \(place)is that old: '\(selector)'",
            remedy: "'archiver list' shows what there is")
    }
}
