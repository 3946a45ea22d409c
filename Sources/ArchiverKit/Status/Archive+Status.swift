// How an archive and its watchers stand: asking them, checking all of it, having watchers capture what has changed.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
public import Checking
internal import FileIO
internal import FileWatching
internal import Glibc
public import Roots
public import SystemPackage

extension Archive {
    /// Checks the archive: the segments' blocks, the catalogue against them, every record, and every snapshot's tree and
    /// content.
    ///
    /// What it passes with `data` restores. Without, it reads what describes the files and not the files' bytes. Damage that
    /// earlier openings told of and by which nothing is lost any more is not told again.
    ///
    /// - Parameter data: whether to read every byte and verify it; else the structure only.
    public func check(data: Bool, progress: OperationProgress? = nil) throws(ArchiverError) -> CheckResult {
        try facing { try ArchiveCheck.run(store, readingData: data, progress) }
    }

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
            let dayAgo = Timestamp(seconds: Timestamp.now.seconds - Archive.secondsADay)
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
            let room = try room()
            if let concern = Concern(room) { concerns.append(concern) }
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
            let watched = roots.filter(\.isWatched).map(\.root.path)
            let answers = WatcherAnswers(of: watched, in: store.layout, patience: patience)
            // Asked for all roots at a time: there may be thousands.
            let facts = try RootFacts(store, of: roots.compactMap(\.number), since: dayAgo)
            let statuses = try roots.map { root in
                try status(of: root, isNamed: directory != nil, facts, answers[root.root.path])
            }
            let limits = KernelLimits.current
            return ArchiveStatus(
                directory: self.directory, storedBytes: try store.storedBytes(), freeBytes: free, room: room,
                states: states,
                damage: damage, roots: statuses,
                limits: WatchLimits(
                    watches: limits[.inotifyWatches], instances: limits[.inotifyInstances],
                    queuedEvents: limits[.inotifyQueue], marks: limits[.fanotifyMarks]),
                concerns: concerns)
        }
    }

    /// Less than this is a concern.
    private static let leastFreeBytes: UInt64 = 256 << 20
    private static let secondsADay: Int64 = 86_400

    /// A root that is to be looked at.
    private struct AskedRoot {
        let root: ArchivedRoot
        /// Its number in the catalogue; nil where that knows nothing of it.
        let number: Int64?
        let retired: Timestamp?
        let isWatched: Bool
    }

    /// The roots of this machine that have snapshots or a watcher.
    private func roots(_ directory: FilePath?) throws -> [AskedRoot] {
        let retirements = try store.catalogue.retirements()
        let known = try store.catalogue.roots().filter { $0.machine == Machine.id }
        func asked(_ record: ListedRoot) throws -> AskedRoot {
            let root = ArchivedRoot(record)
            return AskedRoot(
                root: root, number: record.number, retired: retirements[record.number],
                isWatched: try RootLock.isWatched(root.path, in: store.layout))
        }
        guard let directory else {
            // Nobody is to worry about what was retired, unless it is watched all the same.
            return try known.map(asked).filter { $0.retired == nil || $0.isWatched }
        }
        let path = try RootDirectory.resolvedAsFarAsItExists(directory)
        if let record = known.first(where: { $0.path == path.bytes }) { return [try asked(record)] }
        guard try RootLock.isWatched(path, in: store.layout) else {
            throw ArchiverError(
                .notWatched, "\(path) is not being watched and has no snapshots",
                remedy: "run 'archiver watch \(path)'",
                path: path)
        }
        let root = ArchivedRoot(here: path)
        return [AskedRoot(root: root, number: try number(of: root), retired: nil, isWatched: true)]
    }

    private func status(
        of asked: AskedRoot, isNamed: Bool, _ facts: RootFacts, _ answer: WatcherAnswers.Answer?
    ) throws -> RootStatus {
        let root = asked.root
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
        } else if asked.isWatched {
            concerns = [RootConcerns.silent(failure)]
        } else if asked.retired == nil, isNamed || lastWatched != nil {
            concerns = [Concern("it is not being watched", remedy: "run 'archiver watch \(root.path)'")]
        }
        if let concern = asked.number.flatMap({ facts.damage[$0] }) { concerns.append(concern) }
        let totals = asked.number.flatMap { facts.totals[$0] }
        return RootStatus(
            root: root, isWatched: asked.isWatched, watcher: watcher, lastWatched: lastWatched,
            retired: asked.retired, latest: asked.number.flatMap { facts.latest[$0] },
            snapshotCount: totals?.snapshots ?? 0, storedInLastDay: totals?.storedBytes ?? 0,
            gaps: facts.gaps[root.path.bytes] ?? [], concerns: concerns)
    }
}

/// What the archive knows of roots, asked for all of them at a time.
private struct RootFacts {
    let totals: [Int64: (snapshots: Int, storedBytes: UInt64)]
    let latest: [Int64: ListedSnapshot]
    /// That the latest snapshot of a root cannot be read.
    let damage: [Int64: Concern]
    /// Gaps of this machine, by the roots' paths.
    let gaps: [[UInt8]: [GapRecord]]

    /// - Parameters:
    ///   - roots: the numbers of the roots that are asked about.
    ///   - since: from when on stored bytes and gaps count.
    init(_ store: ArchiveStore, of roots: [Int64], since: Timestamp) throws {
        guard let first = roots.first else {
            (totals, latest, damage, gaps) = ([:], [:], [:], [:])
            return
        }
        let (wanted, only) = (Set(roots), roots.count == 1 ? first : nil)
        totals = try store.catalogue.totals(of: only, since: since)
        latest = try store.catalogue.latestSnapshots(of: only).filter { wanted.contains($0.key) }
        let gaps = try store.catalogue.gaps(root: only, since: since).filter { $0.machine == Machine.id }
        self.gaps = Dictionary(grouping: gaps, by: \.rootPath)
        let places = try store.catalogue.locations(of: latest.values.map(\.id.chunk))
        damage = try latest.compactMapValues { record in
            if let place = places[record.id.chunk], let bytes = try? store.read(record.id.chunk, at: place),
                (try? Snapshot(decoding: bytes)) != nil
            {
                return nil
            }
            return try RootFacts.concern(about: record, store)
        }
    }

    /// That the latest snapshot cannot be read; nil where any copy of it can.
    private static func concern(about latest: ListedSnapshot, _ store: ArchiveStore) throws -> Concern? {
        do throws(StorageError) { _ = try store.snapshot(latest.id) } catch {
            guard error.code == .damaged else { throw error }
            return Concern(
                "its latest \(error.message)",
                remedy: "capture it, so that its latest snapshot is one that can be read")
        }
        return nil
    }
}
