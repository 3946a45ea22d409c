// The roots of an archive: their summaries, settings, moves and retirements.

internal import ArchiveFormat
public import ArchiveStorage
internal import Capturing
public import Exclusions
public import FileIO
public import Roots
public import SystemPackage
public import WatchControl

/// A root with its latest snapshot, rules and settings.
public struct RootSummary: Sendable {
    /// The root.
    public let root: ArchivedRoot
    /// The number of its listed snapshots.
    public let snapshotCount: Int
    /// Its latest snapshot; nil if it has none.
    public let latest: ListedSnapshot?
    /// The exclusion rules it is captured with.
    public let exclusions: ExclusionRules
    /// How it is watched; empty for a root of another machine.
    public let watchSettings: WatchSettings
    /// Whether a process of this machine watches it.
    public let isWatched: Bool
    /// When it was retired; nil if it was not, or was captured again since.
    public let retired: Timestamp?
}

extension Archive {
    /// The roots that the archive has snapshots of, ordered by path, including those of other machines.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func rootSummaries() throws(ArchiverError) -> [RootSummary] {
        try facing {
            let totals = try store.catalogue.totals(since: .now)
            let (latest, retirements) = (try store.catalogue.latestSnapshots(), try store.catalogue.retirements())
            return try store.catalogue.roots().map { record in
                let root = ArchivedRoot(record)
                return RootSummary(
                    root: root, snapshotCount: totals[record.number]?.snapshots ?? 0, latest: latest[record.number],
                    exclusions: try store.presentExclusions(ofRoot: record.path, machine: record.machine),
                    watchSettings: root.isHere
                        ? WatchSettingsFile(of: root.path, in: store.layout).read() : WatchSettings(),
                    isWatched: try root.isHere && RootLock.isWatched(root.path, in: store.layout),
                    retired: retirements[record.number])
            }
        }
    }

    /// The roots that processes of this machine watch.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func watchedRoots() throws(ArchiverError) -> Set<ArchivedRoot> {
        try facing {
            Set(try roots().filter { try $0.isHere && RootLock.isWatched($0.path, in: store.layout) })
        }
    }

    /// The exclusion rules of the root at `directory` on this machine; nil if it has no snapshots.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read, or the directory cannot be looked up.
    public func exclusions(ofRoot directory: FilePath) throws(ArchiverError) -> ExclusionRules? {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            return try store.exclusions(ofRoot: path.bytes, on: Machine.id)
        }
    }

    /// How the root at `directory` on this machine is watched; nil fields mean the default.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read, or the directory cannot be looked up.
    public func watchSettings(ofRoot directory: FilePath) throws(ArchiverError) -> WatchSettings {
        try facing {
            WatchSettingsFile(of: try RootDirectory.resolvedAsFarAsItExists(directory), in: store.layout).read()
        }
    }

    /// Stores how to watch the root at `directory` on this machine.
    ///
    /// A running watcher applies the settings when `reconfigureWatcher` is called, or at its next start.
    ///
    /// - Parameters:
    ///   - settings: a nil field leaves that setting unchanged.
    ///   - isReset: whether a nil field resets that setting to its default instead.
    /// - Returns: the settings now in effect.
    /// - Throws: `ArchiverError` with the code `unsuitableSettings` if the settings contradict each other.
    @discardableResult
    public func setWatchSettings(
        _ settings: WatchSettings, ofRoot directory: FilePath, isReset: Bool = false
    ) throws(ArchiverError) -> WatchSettings {
        try facing {
            try change(settings, ofRoot: RootDirectory.resolvedAsFarAsItExists(directory), isReset: isReset)
        }
    }

    /// Makes the process that watches a root apply the root's stored settings.
    ///
    /// Blocks until it has applied them and captured what new rules let in.
    ///
    /// - Parameter exclusions: the new exclusion rules; nil to leave them unchanged.
    /// - Returns: whether a process watches the root.
    /// - Throws: `ArchiverError` if the watcher cannot be asked, or refuses the settings.
    public func reconfigureWatcher(
        ofRoot directory: FilePath, exclusions: ExclusionRules? = nil
    ) throws(ArchiverError) -> Bool {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            guard try RootLock.isWatched(path, in: store.layout) else { return false }
            // No timeout: the watcher may have to read the whole root.
            let response = try ControlClient.ask(
                .configure, about: path, in: store.layout, patience: nil, exclusions: exclusions)
            guard response?.isConfigured == true else { throw ControlClient.silence(path) }
            return true
        }
    }

    /// Stores `settings` for the root at `path`.
    ///
    /// - Returns: the settings now in effect.
    package func change(_ settings: WatchSettings, ofRoot path: FilePath, isReset: Bool = false) throws -> WatchSettings
    {
        let file = WatchSettingsFile(of: path, in: store.layout)
        let former = file.read()
        let settings = isReset ? settings : settings.filled(from: former)
        try settings.check(path)
        if settings != former { try file.write(settings) }
        return settings
    }

    /// Records that `root` is now at `directory` on this machine.
    ///
    /// Its snapshots, gaps and operations then belong to the root at `directory`. If that has snapshots, too, the two
    /// histories are joined: the older snapshots come first.
    ///
    /// - Parameter order: which history comes first; nil if their times decide.
    /// - Returns: whether there is a directory at the new path now.
    /// - Throws: `ArchiverError` with the code `overlappingHistories` if both have snapshots of the same span of time and
    ///   `order` is nil, `unsuitableRoot` if the archive itself is at `directory`, or `locked` if `root` is being
    ///   watched.
    @discardableResult
    public func move(
        _ root: ArchivedRoot, to directory: FilePath, joining order: HistoryOrder? = nil
    ) throws(ArchiverError) -> Bool {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory).absolute
            try RootDirectory.checkIsOutside(self.directory, path, as: directory)
            if root.isHere, root.path == path {
                throw ArchiverError(
                    .unsuitableRoot, "\(path) is the root's path already", remedy: "give its new path", path: path)
            }
            try requireUnwatched(root)
            try record(root, movedTo: path, joining: order)
            return (try? RootDirectory.open(path)) != nil
        }
    }

    /// Records that `root` is no longer watched: its snapshots stay, and `status` does not ask for a watcher.
    ///
    /// The next capture of the root ends this.
    ///
    /// - Throws: `ArchiverError`: `locked` if a process watches the root, `readOnly` if the archive cannot be written…
    public func retire(_ root: ArchivedRoot) throws(ArchiverError) {
        try facing {
            try requireUnwatched(root)
            let lock = try RootLock.capturing(root.path, in: store.layout)
            let last = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: root.machine)?.sequence ?? 0
            try enter(root, .retired, through: last)
            withExtendedLifetime(lock) {}
        }
    }

    private func requireUnwatched(_ root: ArchivedRoot) throws {
        guard root.isHere, try RootLock.isWatched(root.path, in: store.layout) else { return }
        throw ArchiverError(
            .locked, "\(root.path) is being watched", remedy: "stop its watcher first", path: root.path)
    }

    /// Records that `root` is at `path` on this machine, with its settings.
    func record(_ root: ArchivedRoot, movedTo path: FilePath, joining order: HistoryOrder?) throws {
        let new = ArchivedRoot(here: path)
        // In one order, so that two processes do not wait for each other.
        let isFirst = root.path.bytes.lexicographicallyPrecedes(path.bytes)
        let lock = try RootLock.capturing(isFirst ? root.path : path, in: store.layout)
        let other = root.path == path ? nil : try RootLock.capturing(isFirst ? path : root.path, in: store.layout)
        defer {
            withExtendedLifetime(lock) {}
            withExtendedLifetime(other) {}
        }
        // Another process may just have moved it.
        guard try number(of: root) != nil else { return }
        let (old, present) = (try span(of: root), try span(of: new))
        var shift: UInt64 = 0
        if let old, let present {
            if try order ?? old.order(before: present, root.path, path) == .oldFirst {
                // First this: alone, it changes nothing but numbers.
                try enter(new, .moved, through: present.end, to: path, shift: old.end)
            } else {
                shift = present.end
            }
        }
        try enter(
            root, .moved, through: try end(of: root), to: path,
            on: root.isHere ? nil : Machine.id, shift: shift)
        guard root.isHere else { return }
        let (former, file) = (
            WatchSettingsFile(of: root.path, in: store.layout), WatchSettingsFile(of: path, in: store.layout)
        )
        let settings = former.read()
        if settings != WatchSettings(), file.read() == WatchSettings() { try file.write(settings) }
        former.remove()
    }

    /// The times and sequences of a root's snapshots; nil if it has none.
    private func span(of root: ArchivedRoot) throws -> HistorySpan? {
        guard let number = try number(of: root) else { return nil }
        let end = try end(of: root)
        return try store.catalogue.span(ofRoot: number).map { HistorySpan(first: $0.first, last: $0.last, end: end) }
    }

    /// A sequence that none of a root's records exceeds, not even a forgotten one.
    private func end(of root: ArchivedRoot) throws -> UInt64 {
        Snapshot.sequenceEnd(after: try number(of: root).map { try store.catalogue.greatestSequence(ofRoot: $0) } ?? 0)
    }

    private func enter(
        _ root: ArchivedRoot, _ kind: RootNoticeKind, through sequence: UInt64, to newPath: FilePath? = nil,
        on newMachine: MachineID? = nil, shift: UInt64 = 0
    ) throws {
        // Notices are applied in the order of their times. Records without a sequence are assigned to a root by their time,
        // so the notice must be later than all of them, whatever the clock says.
        let earlier = [
            try store.catalogue.latestNoticeTime(),
            try number(of: root).flatMap { try store.catalogue.gaps(root: $0).last?.start },
        ]
        let time = earlier.compactMap { $0?.advanced(byNanoseconds: 1) }.reduce(.now, max)
        try store.enter(
            RootNotice(
                rootPath: root.path.bytes, host: root.host, kind: kind, time: time, machine: root.machine,
                newPath: newPath?.bytes, newMachine: newMachine, through: sequence, shift: shift))
    }
}

/// Which of two joined histories comes first.
public enum HistoryOrder: Sendable {
    /// That of the root that was moved.
    case oldFirst
    /// That of the root at the new path.
    case newFirst
}

/// The times of a root's snapshots, and the end of their sequences.
private struct HistorySpan {
    let first: Timestamp
    let last: Timestamp
    /// No snapshot of the root has a higher sequence, not even a forgotten one.
    let end: UInt64

    /// The order of the joined histories of the roots at `old` and `new`.
    func order(before other: HistorySpan, _ old: FilePath, _ new: FilePath) throws -> HistoryOrder {
        if last < other.first { return .oldFirst }
        if other.last < first { return .newFirst }
        throw ArchiverError(
            .overlappingHistories, "both \(old) and \(new) have snapshots of the same span of time",
            remedy: "say which of them come first", path: new)
    }
}
