// Forgets snapshots and brings them back. Nothing is removed here: forgotten snapshots are just not listed.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
public import FileIO
public import Roots
internal import SystemPackage

/// A forgotten snapshot or saved state; it can be brought back until its bytes are reclaimed.
public struct ForgottenSelection: Sendable, Hashable {
    /// The id of the snapshot or the state.
    public let id: ChunkID
    /// When it was forgotten.
    public let forgotten: Timestamp
    /// Why it was forgotten.
    public let reason: ForgettingReason
    /// The snapshot or state itself; nil if it cannot be read any more.
    public let selected: Selection?
}

/// The result of forgetting a range of snapshots, or of a dry run.
public struct ForgettingResult: Sendable {
    /// Why a snapshot in the range stays.
    public enum Reason: String, Sendable, CaseIterable {
        /// It is pinned.
        case pinned
        /// It has a label.
        case labelled
        /// It is the newest of its root.
        case newest
        /// An operation of the last 30 days needs it: it is the state before it, or the restored state.
        case operation
    }

    /// The forgotten snapshots, the oldest first.
    public internal(set) var forgotten: [ListedSnapshot] = []
    /// The snapshots of the range that stay.
    public internal(set) var kept: [(snapshot: ListedSnapshot, reason: Reason)] = []
}

extension Archive {
    /// Forgets snapshots and saved states: they are no longer listed, but can be brought back until they are reclaimed.
    ///
    /// - Parameter isDryRun: whether only to check that this is possible.
    /// - Returns: those of the snapshots without which recent operations cannot be undone or redone.
    /// - Throws: `ArchiverError`: `pinned`, `lastSnapshot` if a root would have no snapshot left, `readOnly`…; then
    ///   nothing is forgotten.
    @discardableResult
    public func forget(_ selected: [Selection], isDryRun: Bool = false) throws(ArchiverError) -> [ListedSnapshot] {
        let names = Dictionary(selected.map { ($0.id, $0.name) }) { first, _ in first }
        return try whileKeeping(isDryRun: isDryRun) {
            for one in selected { try requireListed(one) }
            try requireUnpinned(names.keys) { names[$0] ?? $0.hex }
            try requireOneLeft(selected)
            let needed = try snapshotsForUndo(now: .now)
            if !isDryRun { try store.forget(Set(names.keys)) }
            var concerned: [ListedSnapshot] = []
            for case .snapshot(let listed) in selected where needed.contains(listed.id) { concerned.append(listed) }
            return concerned
        }
    }

    /// Forgets the snapshots that match `query`, except pinned and labelled ones, the newest of each root, and those
    /// that recent operations need to be undone or redone.
    ///
    /// - Parameter isDryRun: whether only to return what would be forgotten.
    /// - Throws: `ArchiverError`: `readOnly` or `noSpace` if the archive cannot be written…
    public func forget(_ query: SnapshotQuery, isDryRun: Bool = false) throws(ArchiverError) -> ForgettingResult {
        try whileKeeping(isDryRun: isDryRun) {
            var result = ForgettingResult()
            let pins = try store.catalogue.pins()
            let now = Timestamp.now
            let newest = try newestSnapshots()
            let needed = try snapshotsForUndo(now: now)
            for snapshot in try snapshots(query).sorted(by: { ($0.time, $0.id.chunk) < ($1.time, $1.id.chunk) }) {
                if pins[snapshot.id.chunk]?.holds(at: now) ?? false {
                    result.kept.append((snapshot, .pinned))
                } else if snapshot.label != nil, snapshot.label != query.label {
                    result.kept.append((snapshot, .labelled))
                } else if newest.contains(snapshot.id) {
                    result.kept.append((snapshot, .newest))
                } else if needed.contains(snapshot.id) {
                    result.kept.append((snapshot, .operation))
                } else {
                    result.forgotten.append(snapshot)
                }
            }
            if !isDryRun { try store.forget(Set(result.forgotten.map(\.id.chunk))) }
            return result
        }
    }

    /// Retires a root and forgets all its snapshots, also labelled ones and the newest, in one step.
    ///
    /// - Returns: how many there were.
    /// - Throws: `ArchiverError`: `pinned` if one of them is pinned; then nothing is forgotten.
    public func forgetHistory(of root: ArchivedRoot) throws(ArchiverError) -> Int {
        try whileKeeping {
            let snapshots = try snapshots(SnapshotQuery(root: root))
            let names = Dictionary(snapshots.map { ($0.id.chunk, Selection.snapshot($0).name) }) { first, _ in first }
            try requireUnpinned(names.keys) { names[$0] ?? $0.hex }
            try retire(root)
            try store.forget(Set(names.keys))
            return names.count
        }
    }

    /// Lists forgotten snapshots and saved states again.
    ///
    /// - Throws: `ArchiverError`: `noSuchSnapshot` if one is not forgotten or its bytes were reclaimed, `inUse` while
    ///   another process prunes; then nothing is brought back.
    public func unforget(_ forgotten: [ForgottenSelection]) throws(ArchiverError) {
        try whileKeeping {
            // Nothing may be reclaimed between the check and the listing.
            let lock = try store.withoutReclaimers(isWaiting: false)
            defer { withExtendedLifetime(lock) {} }
            for one in forgotten {
                guard try store.catalogue.isForgotten(one.id) else {
                    throw ArchiverError(
                        .noSuchSnapshot, "\(one.id.hex.prefix(8)) is not forgotten",
                        remedy: Advice.listForgotten.text)
                }
                // The replacement of a purged snapshot is listed instead.
                guard one.reason != .purged, try isWhole(forgotten: one.id) else { throw Archive.reclaimed(one.id) }
            }
            try store.unforget(Set(forgotten.map(\.id)))
        }
    }

    /// Returns the forgotten snapshots and states that are still in the archive, the last forgotten first.
    ///
    /// - Parameter limit: the most to return.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func forgotten(limit: Int? = nil) throws(ArchiverError) -> [ForgottenSelection] {
        try facing {
            var found: [ForgottenSelection] = []
            for listed in try store.catalogue.forgotten(newestFirst: true) {
                if let limit, found.count >= limit { break }
                // The others have been reclaimed.
                if try store.catalogue.location(of: listed.id) != nil { found.append(try selection(listed)) }
            }
            return found
        }
    }

    /// Returns the snapshots and states that were forgotten last, all in one step.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func forgottenLast() throws(ArchiverError) -> [ForgottenSelection] {
        try facing {
            guard let last = try store.catalogue.forgotten(newestFirst: true, limit: 1).first else { return [] }
            return try store.catalogue.forgotten(since: last.time, until: last.time).map(selection)
        }
    }

    /// Returns the forgotten snapshot or state whose id begins with `digits`.
    ///
    /// - Throws: `ArchiverError`: `noSuchSnapshot`, `ambiguousSelector`.
    public func forgotten(withIDPrefix digits: String) throws(ArchiverError) -> ForgottenSelection {
        try facing {
            let found =
                Archive.mayBeID(digits)
                ? try store.catalogue.forgotten(idPrefix: digits.lowercased(), limit: Archive.candidatesLimit) : []
            guard let first = found.first else {
                throw ArchiverError(
                    .noSuchSnapshot, "no forgotten snapshot or state has an id that begins with '\(digits)'",
                    remedy: Advice.listForgotten.text)
            }
            let selections = try found.map(selection)
            _ = try Archive.only(
                selections.compactMap(\.selected), "'\(digits)' is ambiguous among forgotten snapshots and states")
            guard let only = selections.first(where: { $0.selected != nil }) else { throw Archive.reclaimed(first.id) }
            return only
        }
    }

    private static func reclaimed(_ id: ChunkID) -> ArchiverError {
        ArchiverError(
            .noSuchSnapshot, "\(id.hex.prefix(8)) cannot be brought back: its bytes are no longer in the archive")
    }

    /// Whether the archive has every chunk that a forgotten record needs.
    private func isWhole(forgotten id: ChunkID) throws -> Bool {
        guard try selected(forgotten: id) != nil else { return false }
        var (mark, isWhole) = (LiveMark(store), true)
        do {
            try mark.visit(forgotten: id) { if try !store.catalogue.holds($0) { isWhole = false } }
        } catch let error as StorageError {
            guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
            return false
        }
        return isWhole
    }

    private func selection(_ listed: ListedForgotten) throws -> ForgottenSelection {
        ForgottenSelection(
            id: listed.id, forgotten: listed.time, reason: listed.reason, selected: try selected(forgotten: listed.id))
    }

    /// Returns what a forgotten record is; nil if it cannot be read any more.
    private func selected(forgotten id: ChunkID) throws -> Selection? {
        do throws(StorageError) {
            switch try store.forgottenValue(id) {
            case .snapshot(let listed): return .snapshot(listed)
            case .state(let state): return .state(state)
            case nil: return nil
            }
        } catch {
            guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
            return nil
        }
    }

    /// Returns the newest snapshot of each root, and the newest that was not captured aside.
    func newestSnapshots() throws -> Set<SnapshotID> {
        var newest: Set<SnapshotID> = []
        for root in try store.catalogue.roots() {
            let latest = try store.catalogue.latestSnapshot(ofRoot: root.path, machine: root.machine)
            let regular = try store.catalogue.latestRegularSnapshot(ofRoot: root.path, machine: root.machine)
            newest.formUnion([latest?.id, regular?.id].compactMap { $0 })
        }
        return newest
    }

    /// Refuses to forget the last snapshot of a root.
    private func requireOneLeft(_ selected: [Selection]) throws {
        var going: [ArchivedRoot: Set<SnapshotID>] = [:]
        for case .snapshot(let listed) in selected {
            let root = ArchivedRoot(path: FilePath(bytes: listed.rootPath), machine: listed.machine, host: listed.host)
            going[root, default: []].insert(listed.id)
        }
        for (root, ids) in going where try snapshotCount(SnapshotQuery(root: root)) <= ids.count {
            throw ArchiverError(
                .lastSnapshot, "\(root.path) would have no snapshot left",
                remedy: Advice.forgetRoot.text, path: root.path)
        }
    }
}
