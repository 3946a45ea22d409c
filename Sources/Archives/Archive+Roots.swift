// The roots of an archive: what there is of each, and what a user tells of them.

internal import ArchiveFormat
public import ArchiveStorage
internal import Capturing
public import Exclusions
public import FileIO
public import Roots
public import SystemPackage
public import WatchControl

/// A root and what there is of it.
public struct RootSummary: Sendable {
    public let root: ArchivedRoot
    public let snapshotCount: Int
    public let latest: ListedSnapshot?
    /// What it is captured with.
    public let exclusions: ExclusionRules
    /// How it is watched; nothing for a root of another machine.
    public let watchSettings: WatchSettings
    /// Whether a process of this machine watches it.
    public let isWatched: Bool
    /// When it was retired; nil where it was not, or has been captured since.
    public let retired: Timestamp?
}

extension Archive {
    /// The roots that the archive has snapshots of, by path, those of other machines too.
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

    /// What the root at `directory` of this machine is captured with; nil where it has no snapshots.
    public func exclusions(ofRoot directory: FilePath) throws(ArchiverError) -> ExclusionRules? {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            return try store.exclusions(ofRoot: path.bytes, on: Machine.id)
        }
    }

    /// How the root at `directory` of this machine is watched: what is nil is as usual.
    public func watchSettings(ofRoot directory: FilePath) throws(ArchiverError) -> WatchSettings {
        try facing {
            WatchSettingsFile(of: try RootDirectory.resolvedAsFarAsItExists(directory), in: store.layout).read()
        }
    }

    /// Remembers how the root at `directory` of this machine is to be watched.
    ///
    /// A watcher that runs takes it up when it is told (`reconfigureWatcher`), or at its next start.
    ///
    /// - Parameters:
    ///   - settings: what is nil here stays as it is.
    ///   - isReset: whether what is nil here becomes as usual instead.
    /// - Returns: what holds now.
    /// - Throws: `ArchiverError` of the code `unsuitableSettings` where the settings contradict each other.
    @discardableResult
    public func setWatchSettings(
        _ settings: WatchSettings, ofRoot directory: FilePath, isReset: Bool = false
    ) throws(ArchiverError) -> WatchSettings {
        try facing {
            try change(settings, ofRoot: RootDirectory.resolvedAsFarAsItExists(directory), isReset: isReset)
        }
    }

    /// Has the process that watches a root take up how that is to be watched now; blocks until it has, and has captured what
    /// new rules let in.
    ///
    /// - Parameter exclusions: what is left out from now on; nil to leave that as it is.
    /// - Returns: whether some process watches the root.
    public func reconfigureWatcher(
        ofRoot directory: FilePath, exclusions: ExclusionRules? = nil
    ) throws(ArchiverError) -> Bool {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            guard try RootLock.isWatched(path, in: store.layout) else { return false }
            // All of the root may have to be read: that takes as long as it takes.
            let response = try ControlClient.ask(
                .configure, about: path, in: store.layout, patience: nil, exclusions: exclusions)
            guard response?.isConfigured == true else { throw ControlClient.silence(path) }
            return true
        }
    }

    /// Remembers what `settings` says of the root at `path`.
    ///
    /// - Returns: what holds now.
    package func change(_ settings: WatchSettings, ofRoot path: FilePath, isReset: Bool = false) throws -> WatchSettings
    {
        let file = WatchSettingsFile(of: path, in: store.layout)
        let former = file.read()
        let settings = isReset ? settings : settings.filled(from: former)
        try settings.check(path)
        if settings != former { try file.write(settings) }
        return settings
    }

    /// Tells that `root` lies at `directory` of this machine now: its snapshots, gaps and operations are of that root.
    ///
    /// - Throws: `ArchiverError`, with the code `unsuitableRoot` where the archive has records of that root already, and
    ///   `locked` where `root` is being watched.
    public func move(_ root: ArchivedRoot, to directory: FilePath) throws(ArchiverError) {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory).absolute
            try RootDirectory.checkIsOutside(self.directory, path, as: directory)
            if try store.catalogue.root(path: path.bytes, machine: Machine.id) != nil {
                throw ArchiverError(
                    .unsuitableRoot, "the archive has snapshots of \(path) already",
                    remedy: "tell of a move before the directory is captured at its new place", path: path)
            }
            let isElsewhere = root.isHere ? nil : Machine.id
            try report(root, .moved, to: path, on: isElsewhere)
            guard root.isHere else { return }
            let old = WatchSettingsFile(of: root.path, in: store.layout)
            let settings = old.read()
            if settings != WatchSettings() { try WatchSettingsFile(of: path, in: store.layout).write(settings) }
            old.remove()
        }
    }

    /// Tells that `root` is no longer to be watched: its snapshots stay, and `status` does not ask for a watcher.
    ///
    /// It ends when the root is captured again.
    public func retire(_ root: ArchivedRoot) throws(ArchiverError) {
        try facing { try report(root, .retired) }
    }

    private func report(
        _ root: ArchivedRoot, _ kind: RootNoticeKind, to newPath: FilePath? = nil, on newMachine: MachineID? = nil
    ) throws {
        if root.isHere, try RootLock.isWatched(root.path, in: store.layout) {
            throw ArchiverError(
                .locked, "\(root.path) is being watched", remedy: "end its watcher first", path: root.path)
        }
        let lock = try RootLock.capturing(root.path, in: store.layout)
        let (path, machine) = (root.path.bytes, root.machine)
        // Later than all that is known of the root, whatever the clock says: that is what the notice is about.
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
