// The status and the check of an archive.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
public import Checking
internal import FileIO
internal import FileWatching
internal import Glibc
internal import Replicas
public import Roots
public import SystemPackage

extension Archive {
    /// Checks the archive: the segments' blocks, the catalogue, every record, and every snapshot's tree and content.
    ///
    /// If a check of all `data` passes, every snapshot can be restored. Without data, the check reads the files'
    /// metadata, but not their content. Damage that was reported earlier and no longer causes a loss is not reported
    /// again.
    ///
    /// - Parameters:
    ///   - data: the bytes to read and verify besides the structure; `true` stands for all.
    ///   - progress: counters that are updated while the check runs.
    /// - Throws: `ArchiverError` with the codes `inUse` or `system` if the archive cannot be read; damage is a finding.
    public func check(data: CheckedData, progress: OperationProgress? = nil) throws(ArchiverError) -> CheckResult {
        try facing { try ArchiveCheck.run(store, reading: data, progress) }
    }

    /// Returns the status of the archive and of this machine's roots; blocks until the watchers have answered.
    ///
    /// - Parameters:
    ///   - directory: the only root to report; nil for all.
    ///   - patience: how long each watcher may take to answer.
    /// - Throws: `ArchiverError` with the code `notWatched` if `directory` has no snapshots and is not watched.
    public func status(
        of directory: FilePath? = nil, patience: Duration = .seconds(15)
    ) throws(ArchiverError) -> ArchiveStatus {
        try facing {
            let dayAgo = Timestamp(seconds: Timestamp.now.seconds - Archive.secondsADay)
            let roots = try roots(directory)
            let free = try FileSystem.freeBytes(of: Descriptor.open(self.directory, O_RDONLY | O_DIRECTORY))
            let damage = findings.filter { $0.kind != .cut && !$0.isNote }
            var findings = damage.map { Finding($0.message, remedy: $0.remedy) }
            if !store.isWritable {
                findings.append(Finding("the archive cannot be written to", remedy: "make its directory writable"))
            }
            let lastCheck = CheckNotice.read(store.layout)
            if let lastCheck, lastCheck.findingCount > 0 {
                let faults = lastCheck.findingCount == 1 ? "1 fault" : "\(lastCheck.findingCount) faults"
                findings.append(
                    Finding(
                        "the last check of the archive, at \(lastCheck.time.rfc3339), found \(faults)",
                        remedy: Advice.seeWhatIsGood.text))
            }
            let room = try room()
            if free < min(Archive.leastFreeBytes, room.totalBytes / Archive.leastFreeShare) {
                findings.append(
                    Finding(
                        "only \(ByteCount.text(free)) are free on the archive's file system",
                        remedy: "free some space there"))
            }
            if let finding = Finding(room, roomNotice(), isFirst: try !hasForgottenForRoom()) {
                findings.append(finding)
            }
            var replicas: [ReplicaStatus] = []
            do throws(ArchiverError) { replicas = try self.replicas() } catch {
                findings.append(Finding(error.message, remedy: error.remedy))
            }
            let states = try store.catalogue.stateTitles().reduce(into: StateTotals()) { totals, title in
                totals.count += title.count
                let (sum, overflows) = totals.storedBytes.addingReportingOverflow(title.storedBytes)
                totals.storedBytes = overflows ? .max : sum
            }
            // An archive may hold only programs' states, or only retired roots.
            if roots.isEmpty, states.count == 0, try !self.roots().contains(where: \.isHere) {
                findings.append(Finding("nothing is watched", remedy: Advice.watchDirectory.text))
            }
            // First, as watchers capture before they answer.
            let watched = roots.filter(\.isWatched).map(\.root.path)
            let answers = WatcherAnswers(of: watched, in: store.layout, patience: patience)
            // One query for all roots: there may be thousands.
            let facts = try RootFacts(store, of: roots.compactMap(\.number), since: dayAgo)
            let statuses = try roots.map { root in
                try status(of: root, isNamed: directory != nil, facts, answers[root.root.path])
            }
            let limits = KernelLimits.current
            return ArchiveStatus(
                directory: self.directory, storedBytes: try store.storedBytes(), freeBytes: free, room: room,
                places: try segmentPlaces(),
                states: states, damage: damage, lastCheck: lastCheck, replicas: replicas, roots: statuses,
                limits: WatchLimits(
                    watches: limits[.inotifyWatches], instances: limits[.inotifyInstances],
                    queuedEvents: limits[.inotifyQueue], marks: limits[.fanotifyMarks]),
                findings: findings)
        }
    }

    /// Less free space than this, and than this part of the file system, is a finding.
    private static let leastFreeBytes: UInt64 = 256 << 20
    private static let leastFreeShare: UInt64 = 20
    private static let secondsADay: Int64 = 86_400

    /// A root to report on.
    private struct AskedRoot {
        let root: ArchivedRoot
        /// Its number in the catalogue; nil if it is not listed.
        let number: Int64?
        let retired: Timestamp?
        let isWatched: Bool
    }

    /// Returns the roots of this machine that have snapshots or a watcher.
    private func roots(_ directory: FilePath?) throws -> [AskedRoot] {
        let retirements = try store.catalogue.retirements()
        let known = try store.catalogue.roots().filter { $0.machine == Machine.id }
        func asked(_ listed: ListedRoot) throws -> AskedRoot {
            let root = ArchivedRoot(listed)
            return AskedRoot(
                root: root, number: listed.number, retired: retirements[listed.number],
                isWatched: try RootLock.isWatched(root.path, in: store.layout))
        }
        guard let directory else {
            // Retired roots are not reported, unless they are watched.
            return try known.map(asked).filter { $0.retired == nil || $0.isWatched }
        }
        let path = try RootDirectory.resolvedAsFarAsItExists(directory)
        if let listed = known.first(where: { $0.path == path.bytes }) { return [try asked(listed)] }
        guard try RootLock.isWatched(path, in: store.layout) else {
            throw ArchiverError(
                .notWatched, "\(path) is not being watched and has no snapshots",
                remedy: Advice.watchRoot.text,
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
        var findings: [Finding] = []
        if let watcher {
            findings = RootFindings.of(watcher)
        } else if asked.isWatched {
            findings = [RootFindings.silent(failure)]
        } else if asked.retired == nil, isNamed || lastWatched != nil {
            findings = [RootFindings.unwatched]
        }
        if let finding = asked.number.flatMap({ facts.damage[$0] }) { findings.append(finding) }
        let latest = asked.number.flatMap { facts.latest[$0] }
        if let latest, latest.time > .now { findings.append(RootFindings.future) }
        let totals = asked.number.flatMap { facts.totals[$0] }
        return RootStatus(
            root: root, isWatched: asked.isWatched, watcher: watcher, lastWatched: lastWatched,
            retired: asked.retired, latest: latest,
            snapshotCount: totals?.snapshots ?? 0, storedInLastDay: totals?.storedBytes ?? 0,
            outOfOrder: asked.number.flatMap { facts.outOfOrder[$0] } ?? 0,
            gaps: facts.gaps[root.path.bytes] ?? [], findings: findings)
    }
}

/// The catalogue's data on several roots, from one query for all of them.
private struct RootFacts {
    let totals: [Int64: (snapshots: Int, storedBytes: UInt64)]
    let latest: [Int64: ListedSnapshot]
    /// The findings of roots whose latest snapshot cannot be read.
    let damage: [Int64: Finding]
    /// Gaps of this machine, by the roots' paths.
    let gaps: [[UInt8]: [GapRecord]]
    /// How many snapshots have times that contradict the order, if there are any.
    let outOfOrder: [Int64: Int]

    /// - Parameters:
    ///   - roots: the numbers of the roots.
    ///   - since: the start of the period whose stored bytes and gaps count.
    init(_ store: ArchiveStore, of roots: [Int64], since: Timestamp) throws {
        guard let first = roots.first else {
            (totals, latest, damage, gaps, outOfOrder) = ([:], [:], [:], [:], [:])
            return
        }
        let (wanted, only) = (Set(roots), roots.count == 1 ? first : nil)
        totals = try store.catalogue.totals(of: only, since: since)
        latest = try store.catalogue.latestSnapshots(of: only).filter { wanted.contains($0.key) }
        let gaps = try store.catalogue.gaps(root: only, since: since).filter { $0.machine == Machine.id }
        self.gaps = Dictionary(grouping: gaps, by: \.rootPath)
        let now = Timestamp.now
        outOfOrder = try store.catalogue.rootsOutOfOrder(now: now).intersection(wanted).reduce(into: [:]) {
            $0[$1] = try store.catalogue.outOfOrder(root: $1, now: now).count
        }
        let places = try store.catalogue.locations(of: latest.values.map(\.id.chunk))
        damage = try latest.compactMapValues { listed in
            if let place = places[listed.id.chunk], let bytes = try? store.read(listed.id.chunk, at: place),
                (try? Snapshot(decoding: bytes)) != nil
            {
                return nil
            }
            return try RootFacts.finding(about: listed, store)
        }
    }

    /// Returns a finding if no copy of the latest snapshot can be read; else nil.
    private static func finding(about latest: ListedSnapshot, _ store: ArchiveStore) throws -> Finding? {
        do throws(StorageError) { _ = try store.snapshot(latest.id) } catch {
            guard error.isAboutBytes else { throw error }
            return Finding(
                "its latest \(error.message)",
                remedy: Advice.captureForReadable.text)
        }
        return nil
    }
}
