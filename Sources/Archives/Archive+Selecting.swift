// Finds the one snapshot or saved state that a selector names.

package import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Roots

extension Archive {
    /// The one snapshot that `selector` names.
    ///
    /// - Parameter root: the root to search; nil for all roots. A selector by order or time, such as `latest` or `@1d`,
    ///   needs a root unless the archive has only one: the snapshots of several roots have no common order.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot`, `malformedSelector` or `ambiguousSelector` (with the
    ///   candidates).
    public func snapshot(
        _ selector: SnapshotSelector, of root: ArchivedRoot? = nil
    ) throws(ArchiverError) -> ListedSnapshot {
        if selector.back > 0 { return try snapshot(selector.back, before: snapshot(selector.withoutSteps, of: root)) }
        return try facing {
            var filter = Catalogue.SnapshotFilter(newestFirst: true, limit: 1)
            filter.owner = try number(ofRoot: root)
            if filter.owner == nil, selector.isRelative { try requireOneRoot(for: selector) }
            switch selector.meaning {
            case .latest(let back):
                filter.offset = back
            case .oldest:
                filter.newestFirst = false
            case .time(let time):
                if let number = filter.owner {
                    guard let found = try store.catalogue.lastSnapshot(root: number, at: time) else {
                        throw noSuchSnapshot(selector, root)
                    }
                    return found
                }
                filter.until = time
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

    /// - Throws: `ArchiverError` with the code `ambiguousSelector` if the archive has several roots; the candidates are
    ///   their latest snapshots.
    private func requireOneRoot(for selector: SnapshotSelector) throws {
        let roots = try store.catalogue.roots()
        guard roots.count > 1 else { return }
        let names = roots.prefix(3).map { "\(ArchivedRoot($0).path)" }.joined(separator: ", ")
        let latest = try store.catalogue.latestSnapshots()
        throw ArchiverError(
            .ambiguousSelector,
            "'\(selector)' could mean a snapshot of \(roots.count) roots: \(names)\(roots.count > 3 ? "…" : "")",
            remedy: "say which root is meant",
            candidates: roots.prefix(Archive.candidatesLimit).compactMap { latest[$0.number].map(Selection.snapshot) })
    }

    /// The catalogue's number of `root`, or of the archive's only root; nil if there are several.
    private func number(ofRoot root: ArchivedRoot?) throws -> Int64? {
        guard let root else {
            // The snapshots of one root have an order, even if their times contradict it.
            let roots = try store.catalogue.roots()
            return roots.count == 1 ? roots.first?.number : nil
        }
        if let number = try number(of: root) { return number }
        throw ArchiverError(
            .noSuchSnapshot, "\(root.path) has no snapshots",
            remedy: Advice.captureFirst.text, path: root.path)
    }

    /// The snapshot or the saved state that `selector` names.
    ///
    /// A selector by order or time names a snapshot. Any other is tried as a label of either kind, then as the
    /// beginning of an id, then as a title, which names its latest state.
    ///
    /// - Parameters:
    ///   - root: the root whose snapshots are searched first.
    ///   - isElsewhere: whether to search all roots next.
    /// - Throws: `ArchiverError` with the codes `noSuchSnapshot`, `malformedSelector` or `ambiguousSelector` (with the
    ///   candidates).
    package func selected(
        _ selector: SnapshotSelector, of root: ArchivedRoot?, orElsewhere isElsewhere: Bool
    ) throws(ArchiverError) -> Selection {
        guard case .name(let name) = selector.meaning else { return .snapshot(try snapshot(selector, of: root)) }
        if selector.back > 0 {
            switch try selected(selector.withoutSteps, of: root, orElsewhere: isElsewhere) {
            case .snapshot(let listed): return .snapshot(try snapshot(selector.back, before: listed))
            case .state(let state): return .state(try self.state(selector.back, before: state))
            }
        }
        return try facing {
            var labelled = try snapshots(SnapshotQuery(root: root, label: name, newestFirst: true, limit: 1))
            if labelled.isEmpty, isElsewhere {
                labelled = try snapshots(SnapshotQuery(label: name, newestFirst: true, limit: 1))
            }
            let states = try states(StateQuery(label: name, newestFirst: true, limit: 1))
            let byLabel = labelled.map(Selection.snapshot) + states.map(Selection.state)
            if let found = try Archive.only(byLabel, "both a snapshot and a saved state have the label '\(name)'") {
                return found
            }
            let byID =
                try snapshots(withIDPrefix: name).map(Selection.snapshot)
                + self.states(withIDPrefix: name).map(Selection.state)
            if let found = try Archive.only(byID, "several ids begin with '\(name)'") { return found }
            if let state = try state(.latest, titled: name) { return .state(state) }
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot or saved state has the id, label or title '\(name)'",
                remedy: Advice.listAll.text)
        }
    }

    /// The snapshot `steps` before `listed` in the same root.
    private func snapshot(_ steps: Int, before listed: ListedSnapshot) throws(ArchiverError) -> ListedSnapshot {
        try facing {
            let root = try store.catalogue.root(path: listed.rootPath, machine: listed.machine)
            var filter = Catalogue.SnapshotFilter(of: root?.number, newestFirst: true, limit: 1, offset: steps - 1)
            filter.behind = .init(sequence: listed.sequence, time: listed.time, id: listed.id.chunk)
            if let found = try store.catalogue.snapshots(filter).first { return found }
            throw ArchiverError(
                .noSuchSnapshot,
                steps == 1
                    ? "there is no snapshot before \(listed.id.short)"
                    : "there are fewer than \(steps) snapshots before \(listed.id.short)",
                remedy: "'oldest' names the first one")
        }
    }

    /// The state `steps` before `state` under the same title.
    func state(_ steps: Int, before state: ListedState) throws(ArchiverError) -> ListedState {
        try facing {
            var filter = Catalogue.StateFilter(of: state.title, newestFirst: true, limit: 1, offset: steps - 1)
            filter.behind = .init(sequence: state.sequence, time: state.time, id: state.id.chunk)
            if let found = try store.catalogue.states(filter).first { return found }
            throw ArchiverError(
                .noSuchSnapshot,
                steps == 1
                    ? "there is no state of '\(state.title)' before \(state.id.short)"
                    : "there are fewer than \(steps) states of '\(state.title)' before \(state.id.short)",
                remedy: Advice.listStates.text)
        }
    }

    /// The only one of `candidates`; nil if there is none.
    ///
    /// - Throws: `ArchiverError` with the code `ambiguousSelector` if there are several.
    package static func only(_ candidates: [Selection], _ message: @autoclosure () -> String) throws -> Selection? {
        guard candidates.count > 1 else { return candidates.first }
        throw ArchiverError(
            .ambiguousSelector, message(), remedy: "use more digits of the id",
            candidates: candidates)
    }

    /// The newest snapshot with the label `name`; if there is none, the snapshot whose id begins with `name`.
    private func snapshot(named name: String, _ filter: Catalogue.SnapshotFilter) throws -> ListedSnapshot {
        var byLabel = filter
        byLabel.label = name
        if let labelled = try store.catalogue.snapshots(byLabel).first { return labelled }
        guard Archive.mayBeID(name) else {
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot has the label '\(name)'", remedy: Advice.listLabels.text)
        }
        let candidates = try snapshots(withIDPrefix: name)
        guard let first = candidates.first else {
            throw ArchiverError(
                .noSuchSnapshot, "no snapshot's id begins with '\(name)'", remedy: Advice.listIDs.text)
        }
        _ = try Archive.only(candidates.map(Selection.snapshot), "several ids begin with '\(name)'")
        return first
    }

    /// The snapshots of all roots whose ids begin with `digits`, newest first.
    private func snapshots(withIDPrefix digits: String) throws -> [ListedSnapshot] {
        guard Archive.mayBeID(digits) else { return [] }
        return try store.catalogue.snapshots(
            Catalogue.SnapshotFilter(
                idPrefix: digits.lowercased(), newestFirst: true, limit: Archive.candidatesLimit))
    }

    /// The ids of snapshots that begin with `digits`, only of `root` if it is given.
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

    /// The most candidates an error lists: more would not help.
    package static let candidatesLimit = 20

    /// Whether an id can begin with `text`.
    package static func mayBeID(_ text: String) -> Bool {
        text.count <= 2 * ChunkID.byteCount && text.utf8.allSatisfy { Hex.value($0) != nil }
    }

    private func noSuchSnapshot(_ selector: SnapshotSelector, _ root: ArchivedRoot?) -> ArchiverError {
        let place = root.map { "of \($0.path) " } ?? ""
        return ArchiverError(
            .noSuchSnapshot, "no snapshot \(place)is that old: '\(selector)'",
            remedy: Advice.listSnapshots.text)
    }
}
