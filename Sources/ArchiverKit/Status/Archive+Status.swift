// Asking the watchers and the catalogue how everything stands.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FileWatching
internal import Glibc
public import SystemPackage

extension Archive {
    /// How the archive and the roots of this machine stand; blocks until the watchers have answered.
    ///
    /// - Parameters:
    ///   - directory: the one root to look at; nil for all.
    ///   - patience: how long each watcher may take to answer.
    /// - Throws: `ArchiverError` of the code `noSuchDirectory` where the archive knows no such root.
    public func status(
        of directory: FilePath? = nil, patience: Duration = .seconds(15)
    ) throws(ArchiverError) -> ArchiveStatus {
        try facing {
            let now = Timestamp.now
            let roots = try roots(directory)
            let free = try FileSystem.freeBytes(of: Descriptor.open(self.directory, O_RDONLY | O_DIRECTORY))
            let damage = findings.filter { $0.kind != .cut }
            var concerns = damage.map { Concern($0.message, remedy: $0.remedy) }
            if !store.isWritable {
                concerns.append(Concern("the archive cannot be written to", remedy: "make its directory writable"))
            }
            if free < Archive.leastFreeBytes {
                concerns.append(
                    Concern(
                        "there are only \(free >> 20) MiB left where the archive is",
                        remedy: "free some space on that file system"))
            }
            let states = try store.catalogue.stateTitles().reduce(into: StateTotals()) { totals, title in
                totals.count += title.count
                let (sum, overflows) = totals.storedBytes.addingReportingOverflow(title.storedBytes)
                totals.storedBytes = overflows ? .max : sum
            }
            // An archive may be there for programs' states alone, or for roots that were retired.
            if roots.isEmpty, states.count == 0, try !self.roots().contains(where: \.isHere) {
                concerns.append(Concern("nothing is watched", remedy: "run 'archiver watch DIR'"))
            }
            // Asked first: watchers capture before they answer.
            let watched = try roots.filter { try RootLock.isWatched($0.path, in: store.layout) }
            let answers = WatcherAnswers(of: watched.map(\.path), in: store.layout, patience: patience)
            let statuses = try roots.map { try status(of: $0, isNamed: directory != nil, now, answers[$0.path]) }
            let limits = KernelLimits.current
            return ArchiveStatus(
                directory: self.directory, storedBytes: try store.storedBytes(), freeBytes: free, states: states,
                damage: damage, roots: statuses,
                limits: WatchLimits(
                    watches: limits[.inotifyWatches], instances: limits[.inotifyInstances],
                    queuedEvents: limits[.inotifyQueue], marks: limits[.fanotifyMarks]),
                concerns: concerns)
        }
    }

    /// Has the process that watches `directory` look at everything; blocks until it has.
    ///
    /// - Throws: `ArchiverError` of the code `notWatched` where no process does.
    public func audit(_ directory: FilePath) throws(ArchiverError) -> AuditResult {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            // It takes as long as it takes; where the watcher ends, so does the connection.
            let response = try ControlClient.ask(.audit, about: path, in: store.layout, patience: nil)
            guard let result = response?.audit else {
                throw ArchiverError(
                    .notWatched, "\(path) is not being watched",
                    remedy: "'archiver watch \(path)' watches it, 'archiver capture \(path)' captures it now",
                    path: path)
            }
            return result
        }
    }

    /// Less than this is a concern.
    private static let leastFreeBytes: UInt64 = 256 << 20
    private static let secondsADay: Int64 = 86_400

    /// The roots of this machine that have snapshots or a watcher.
    private func roots(_ directory: FilePath?) throws -> [ArchivedRoot] {
        let known = try roots().filter(\.isHere)
        guard let directory else {
            // Nobody is to worry about what was retired, unless it is watched all the same.
            return try known.filter { root in
                try retirement(of: root) == nil || RootLock.isWatched(root.path, in: store.layout)
            }
        }
        let path = try RootDirectory.resolvedAsFarAsItExists(directory)
        if let root = known.first(where: { $0.path == path }) { return [root] }
        guard try RootLock.isWatched(path, in: store.layout) else {
            throw ArchiverError(
                .notWatched, "\(path) is not being watched and has no snapshots",
                remedy: "run 'archiver watch \(path)'",
                path: path)
        }
        return [ArchivedRoot(here: path)]
    }

    private func status(
        of root: ArchivedRoot, isNamed: Bool, _ now: Timestamp, _ answer: WatcherAnswers.Answer?
    ) throws -> RootStatus {
        let number = try number(of: root)
        let dayAgo = Timestamp(seconds: now.seconds - Archive.secondsADay)
        let isWatched = answer != nil
        let lastWatched = try RootLock.lastWatched(root.path, in: store.layout)
        var watcher: WatcherStatus?
        var failure: ArchiverError?
        switch answer {
        case .success(let status): watcher = status
        case .failure(let error): failure = error
        case nil: break
        }
        var concerns: [Concern] = []
        if let watcher {
            concerns = RootConcerns.of(watcher)
        } else if isWatched {
            concerns = [RootConcerns.silent(failure)]
        } else if isNamed || lastWatched != nil {
            concerns = [Concern("it is not being watched", remedy: "run 'archiver watch \(root.path)'")]
        }
        let totals = try number.map { try store.catalogue.totals(root: $0, since: dayAgo) }
        let latest = try number.flatMap { number in
            try store.catalogue.snapshots(.init(of: number, newestFirst: true, limit: 1)).first
        }
        if let latest, let concern = try concern(about: latest) { concerns.append(concern) }
        return RootStatus(
            root: root, isWatched: isWatched, watcher: watcher, lastWatched: lastWatched,
            latest: latest,
            snapshotCount: totals?.snapshots ?? 0, storedInLastDay: totals?.storedBytes ?? 0,
            gaps: try gaps(of: root, since: dayAgo), concerns: concerns)
    }

    /// That the latest snapshot cannot be read; nil where it can.
    private func concern(about latest: SnapshotRecord) throws -> Concern? {
        do throws(StorageError) { _ = try store.snapshot(latest.id) } catch {
            guard error.code == .damaged else { throw error }
            return Concern(
                "its latest \(error.message)",
                remedy: "capture it, so that its latest snapshot is one that can be read")
        }
        return nil
    }
}
