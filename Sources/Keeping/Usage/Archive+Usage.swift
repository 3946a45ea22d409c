// What takes the space in an archive, by root, by path and by day.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
public import Roots

extension Archive {
    /// Returns what takes the space, by root or by path.
    ///
    /// All tree nodes of all snapshots are read, each once; the catalogue remembers what they need, so that the next call
    /// reads only new ones. Chunks with several users count as shared. A block holds several chunks; each counts with
    /// its share of the packed bytes.
    ///
    /// - Parameters:
    ///   - grouping: how to split the bytes.
    ///   - progress: counts the entries read.
    /// - Throws: `ArchiverError`: `damaged` if a part of a new snapshot cannot be read…
    public func usage(
        by grouping: ArchiveUsage.Grouping = .root, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> ArchiveUsage {
        try usage(by: grouping, progress: progress, now: .now)
    }

    /// The usage, with what thinning would free at an instant.
    func usage(
        by grouping: ArchiveUsage.Grouping, progress: OperationProgress? = nil, now: Timestamp
    ) throws(ArchiverError) -> ArchiveUsage {
        try facing {
            var survey = try UsageSurvey(store, nodes, by: grouping, progress)
            var goingCount = 0
            for listed in try store.catalogue.roots() {
                let root = ArchivedRoot(listed)
                let going = try plan(root, listed.number, .usual, now: now).going
                goingCount += going.count
                try survey.visit(root, number: listed.number, without: Set(going.map(\.id)))
            }
            try survey.visitStates()
            survey.end()
            let shares = try ChunkShares(store, of: survey.uses, owners: survey.owners.count)
            let items = zip(survey.owners, zip(shares.bytes, survey.versions)).map { owner, figures in
                ArchiveUsage.Item(owner: owner, ownBytes: figures.0, versions: figures.1)
            }
            .filter { $0.ownBytes > 0 || $0.versions > 0 }
            let needed = shares.bytes.reduce(0, +)
            let stored = try store.storedBytes()
            return ArchiveUsage(
                items: items.sorted { ($0.ownBytes, $0.versions) > ($1.ownBytes, $1.versions) },
                unneededBytes: stored > needed ? stored - needed : 0, room: try room(),
                thinning: (goingCount, shares.goingBytes), dailyBytes: try dailyBytes())
        }
    }

    /// Returns what the snapshots of each day added, the first day first.
    ///
    /// - Parameter root: count this root only; nil for all.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func dailyUsage(of root: ArchivedRoot? = nil) throws(ArchiverError) -> [DailyUsage] {
        try facing {
            var days: [Int64: (snapshots: Int, bytes: UInt64)] = [:]
            try forEachSnapshot(SnapshotQuery(root: root)) { snapshot in
                let (seconds, day) = (snapshot.time.seconds, Archive.secondsADay)
                let number = seconds >= 0 ? seconds / day : -1 - (-1 - seconds) / day
                days[number, default: (0, 0)].snapshots += 1
                let sum = days[number, default: (0, 0)].bytes.addingReportingOverflow(snapshot.storedBytes)
                days[number, default: (0, 0)].bytes = sum.overflow ? .max : sum.partialValue
                return true
            }
            return days.sorted { $0.key < $1.key }.map { number, figures in
                DailyUsage(
                    day: Timestamp(seconds: number * Archive.secondsADay), snapshots: figures.snapshots,
                    storedBytes: figures.bytes)
            }
        }
    }

    private static let secondsADay: Int64 = 86_400
    private static let lookBackSeconds: Int64 = 30 * secondsADay

    /// Returns the recent growth of the archive in bytes per day.
    private func dailyBytes() throws -> UInt64 {
        let now = Timestamp.now.seconds
        let recent = try snapshots(SnapshotQuery(since: Timestamp(seconds: now - Archive.lookBackSeconds)))
        guard let first = recent.map(\.time.seconds).min() else { return 0 }
        let bytes = recent.reduce(UInt64(0)) { sum, snapshot in
            let (next, overflow) = sum.addingReportingOverflow(snapshot.storedBytes)
            return overflow ? .max : next
        }
        return bytes / UInt64(max(1, (now - first + Archive.secondsADay - 1) / Archive.secondsADay))
    }
}
