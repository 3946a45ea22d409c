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
    public let root: ArchivedRoot
    public let snapshotCount: Int
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

    /// The exclusion rules of the root at `directory` on this machine; nil if it has no snapshots.
    public func exclusions(ofRoot directory: FilePath) throws(ArchiverError) -> ExclusionRules? {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            return try store.exclusions(ofRoot: path.bytes, on: Machine.id)
        }
    }

    /// How the root at `directory` on this machine is watched; nil fields mean the default.
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
    /// Its snapshots, gaps and operations then belong to the root at `directory`.
    ///
    /// - Throws: `ArchiverError` with the code `unsuitableRoot` if the archive already has records of a root at
    ///   `directory` or is itself there, or `locked` if `root` is being watched.
    public func move(_ root: ArchivedRoot, to directory: FilePath) throws(ArchiverError) {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory).absolute
            try RootDirectory.checkIsOutside(self.directory, path, as: directory)
            if try store.catalogue.root(path: path.bytes, machine: Machine.id) != nil {
                throw ArchiverError(
                    .unsuitableRoot, "the archive already has snapshots of \(path)",
                    remedy: "record a move before you capture the directory at its new place", path: path)
            }
            let isElsewhere = root.isHere ? nil : Machine.id
            try record(root, .moved, to: path, on: isElsewhere)
            guard root.isHere else { return }
            let old = WatchSettingsFile(of: root.path, in: store.layout)
            let settings = old.read()
            if settings != WatchSettings() { try WatchSettingsFile(of: path, in: store.layout).write(settings) }
            old.remove()
        }
    }

    /// Records that `root` is no longer watched: its snapshots stay, and `status` does not ask for a watcher.
    ///
    /// The next capture of the root ends this.
    public func retire(_ root: ArchivedRoot) throws(ArchiverError) {
        try facing { try record(root, .retired) }
    }

    private func record(
        _ root: ArchivedRoot, _ kind: RootNoticeKind, to newPath: FilePath? = nil, on newMachine: MachineID? = nil
    ) throws {
        if root.isHere, try RootLock.isWatched(root.path, in: store.layout) {
            throw ArchiverError(
                .locked, "\(root.path) is being watched", remedy: "stop its watcher first", path: root.path)
        }
        let lock = try RootLock.capturing(root.path, in: store.layout)
        let (path, machine) = (root.path.bytes, root.machine)
        // The notice must be later than every record of the root, whatever the clock says, because it is about all of
        // them.
        let earlier = [
            try store.catalogue.latestSnapshot(ofRoot: path, machine: machine)?.time,
            try store.catalogue.latestOperationTime(ofRoot: path, machine: machine),
            try store.catalogue.latestNoticeTime(path: path, machine: machine),
            try number(of: root).flatMap { try store.catalogue.gaps(root: $0).last?.start },
        ]
        let time = earlier.compactMap { $0?.advanced(byNanoseconds: 1) }.reduce(.now, max)
        try store.enter(
            RootNotice(
                rootPath: path, host: root.host, kind: kind, time: time, machine: machine, newPath: newPath?.bytes,
                newMachine: newMachine))
        withExtendedLifetime(lock) {}
    }
}
