// Decides what is forgotten because room is short: only what reaches the goal, and only what frees something.

public import ArchiveFormat
internal import ArchiveStorage
internal import Archives
public import FileIO
internal import Roots
public import SystemPackage

/// What is done, or was done, because an archive is short of room.
public struct RoomPlan: Sendable, Hashable {
    /// Why an archive cannot get within its limits.
    public enum Cause: Sendable, Hashable, Codable {
        /// The versions of a file take so many bytes in snapshots that are always kept; `snapshot` is the newest.
        case file(FilePath, versions: Int, bytes: UInt64, snapshot: SnapshotID, why: String)
        /// Only the snapshots of the last hour need so many bytes.
        case lastHour(snapshots: Int, bytes: UInt64)
        /// Other programs use so many bytes of the archive's disk.
        case otherPrograms(bytes: UInt64)

        /// The cause as a sentence without a full stop.
        public var message: String {
            switch self {
            case .file(let path, 1, let bytes, _, let why): "\(path) takes \(ByteCount.text(bytes)) and is in \(why)"
            case .file(let path, let versions, let bytes, _, let why):
                "\(versions) versions of \(path) take \(ByteCount.text(bytes)), and the newest is in \(why)"
            case .lastHour(1, let bytes): "a snapshot of the last hour takes \(ByteCount.text(bytes))"
            case .lastHour(let count, let bytes): "\(count) snapshots of the last hour take \(ByteCount.text(bytes))"
            case .otherPrograms(let bytes): "other programs use \(ByteCount.text(bytes)) of the archive's disk"
            }
        }
    }

    /// The bytes to free to get within the limits.
    public internal(set) var lackingBytes: UInt64
    /// The bytes that can be freed at most: everything except what is always kept.
    public internal(set) var freeableBytes: UInt64
    /// Whether the limits can be reached.
    ///
    /// Otherwise nothing is forgotten, unless everything but what is always kept exceeds the limit by itself.
    public internal(set) var isReachable = true
    /// Why the limits cannot be reached.
    public internal(set) var causes: [Cause] = []
    /// The bytes of snapshots that were forgotten for room and can still be brought back.
    public internal(set) var waitingBytes: UInt64 = 0
    /// When those bytes are freed at the latest.
    public internal(set) var waitingUntil: Timestamp?
    /// Whether the next run forgets more: one run forgets at most half of a root's snapshots.
    public internal(set) var isContinued = false

    /// The snapshots to forget, in their order.
    var going: [SnapshotID] = []
    /// Which forgotten records keep their bytes.
    var protected: ForgottenSpan
    /// The bytes that a prune can free now.
    var freedNow: UInt64 = 0
    /// The bytes to free, now or when the grace has passed.
    var goalBytes: UInt64 = 0

    /// A run forgets at most this part of the snapshots of a root, and may always forget `leastCount`.
    static let mostShare = 2
    static let leastCount = 10
    /// Snapshots of the youngest hour are never forgotten for room.
    static let youngestSeconds: Int64 = 3600
    /// What was forgotten for room stays at least so long, even if it takes more than the limit.
    static let leastGrace: Int64 = 3600
    /// When a capture found the disk full, at least a sixteenth of the archive is freed, within these limits.
    static let leastRoom: ClosedRange<UInt64> = 1 << 20...64 << 20
}

/// Makes the plan for an archive that is short of room.
struct RoomPlanning {
    let archive: Archive
    let room: ArchiveRoom
    let options: MaintenanceOptions
    let now: Timestamp
    /// Snapshots that the policies forget in the same run, if it is a dry run.
    let thinned: [SnapshotID]
    let mark: LiveMark

    private struct Candidate {
        let id: SnapshotID
        let root: Int64
        let step: Int
        let time: Timestamp
    }

    /// The records that are forgotten already, in the order in which they lose their grace.
    private struct Forgotten {
        /// For room: within the last hour, within the last day.
        var young: [ChunkID] = []
        var old: [ChunkID] = []
        /// For other reasons, or longer ago.
        var others: [ChunkID] = []
    }

    /// The number of groups before the candidates.
    private static let forgottenGroups = 3

    func plan() throws -> RoomPlan {
        let division = try division()
        let (always, candidates, counts) = (division.always, division.candidates, division.counts)
        let forgotten = try self.forgotten()
        let groups: [RoomSurvey.Group] =
            [.forgotten(forgotten.young), .forgotten(forgotten.old), .forgotten(forgotten.others)]
            + candidates.map { .snapshots([$0.id]) } + [.snapshots(division.young)]
        var survey = try RoomSurvey(archive.store, always: always.ids, groups: groups, mark)
        let isFull = options.isRoomOut || room.isDiskFull
        let all = survey.freedBytes.dropLast().reduce(0, +)
        var plan = RoomPlan(
            lackingBytes: room.lackingBytes, freeableBytes: all,
            protected: ForgottenSpan(grace: options.grace, at: now))
        plan.goalBytes = goal(&plan, survey, division)
        shorten(&plan.protected, plan.goalBytes, survey, isFull: isFull)
        // Up to this group everything goes.
        var (position, freed) = (0, survey.freedBytes[0])
        for next in survey.freedBytes.indices.dropFirst().dropLast() {
            guard next <= RoomPlanning.forgottenGroups || freed < plan.goalBytes else { break }
            freed += survey.freedBytes[next]
            position = next
        }
        if position > RoomPlanning.forgottenGroups {
            let going = candidates.prefix(position - RoomPlanning.forgottenGroups)
            try choose(Array(going), &plan, &survey, position, surplus: freed - plan.goalBytes, counts)
        }
        plan.freedNow = freedNow(plan, survey, isFull: isFull)
        wait(&plan, survey, candidates, isFull: isFull)
        return plan
    }

    /// Forgets those of the snapshots in `plan` that may still be forgotten: one may have been pinned meanwhile.
    ///
    /// - Returns: how many they were.
    func forget(_ plan: RoomPlan) throws -> Int {
        let division = try division()
        let candidates = Set(division.candidates.map(\.id))
        let going = Set(plan.going.filter(candidates.contains))
        if going.isEmpty { return 0 }
        try archive.store.enter(lifetimes: division.lifetimes.filter { !going.contains($0.key) })
        try archive.store.forget(Set(going.map(\.chunk)), reason: .room, at: now)
        return going.count
    }

    // MARK: Steps

    /// The snapshots that are always kept, and the others in the order in which they would go.
    private struct Division {
        var always = Always()
        var candidates: [Candidate] = []
        /// The other snapshots of the last hour: they stay for now.
        var young: [SnapshotID] = []
        /// How many snapshots each root has.
        var counts: [Int64: Int] = [:]
        /// The lifetimes of deleted files that are to be recorded before snapshots go.
        var lifetimes: [SnapshotID: UInt64] = [:]
    }

    private func division() throws -> Division {
        var division = Division()
        let gone = Set(thinned)
        for listed in try archive.store.catalogue.roots() {
            try add(listed.number, ArchivedRoot(listed), without: gone, to: &division)
        }
        division.candidates.sort { ($0.step, $0.time, $0.id.chunk) < ($1.step, $1.time, $1.id.chunk) }
        return division
    }

    /// The snapshots that are always kept, with the reasons.
    private struct Always {
        var ids: [SnapshotID] = []
        var reasons: [SnapshotID: String] = [:]
        var roots: [SnapshotID: FilePath] = [:]
    }

    private func add(
        _ number: Int64, _ root: ArchivedRoot, without gone: Set<SnapshotID>, to division: inout Division
    ) throws {
        let policy = try archive.policy(of: root)
        let facts = try archive.thinningFacts(root: number, now: now)
        let circumstances = facts.circumstances
        let rows = facts.rows.filter { !gone.contains($0.id) }
        division.counts[number] = rows.count
        let lifetimes = facts.lifetimes(under: policy.narrowed(step: 1), without: [])
        division.lifetimes.merge(lifetimes) { max($0, $1) }
        var steps: [SnapshotID: Int] = [:]
        let last = room.isBudgetSet ? RetentionPolicy.lastStep : 1
        for step in 1...last {
            let plan = ThinningPlan(root, policy.narrowed(step: step), rows, circumstances)
            for one in plan.going where steps[one.id] == nil { steps[one.id] = step }
        }
        let newest = Set([rows.last, rows.last { !$0.isAside }].compactMap { $0?.id })
        // The newest first: files that many snapshots have are reported as in that one.
        for row in rows.reversed() {
            let age = now.seconds.subtractingReportingOverflow(row.time.seconds)
            let isYoung = age.overflow ? row.time > now : age.partialValue < RoomPlan.youngestSeconds
            if let step = steps[row.id] {
                if isYoung {
                    division.young.append(row.id)
                } else {
                    division.candidates.append(Candidate(id: row.id, root: number, step: step, time: row.time))
                }
                continue
            }
            division.always.ids.append(row.id)
            division.always.roots[row.id] = root.path
            division.always.reasons[row.id] =
                if newest.contains(row.id) {
                    "the newest snapshot"
                } else if circumstances.pinned.contains(row.id.chunk) {
                    "a pinned snapshot"
                } else if row.hasLabel {
                    "a labelled snapshot"
                } else {
                    "a snapshot that is always kept"
                }
        }
    }

    private func forgotten() throws -> Forgotten {
        var forgotten = Forgotten()
        let span = ForgottenSpan(grace: options.grace, at: now)
        for listed in try span.records(archive.store.catalogue) {
            if listed.reason != .room {
                forgotten.others.append(listed.id)
            } else if listed.time.seconds < now.seconds - RoomPlan.leastGrace {
                forgotten.old.append(listed.id)
            } else {
                forgotten.young.append(listed.id)
            }
        }
        forgotten.others += thinned.map(\.chunk)
        return forgotten
    }

    /// Returns the bytes to free; records in `plan` whether the limits can be reached, and if not, why.
    private func goal(_ plan: inout RoomPlan, _ survey: RoomSurvey, _ division: Division) -> UInt64 {
        var goal: UInt64 = 0
        let freeable = plan.freeableBytes
        if room.excessBytes > freeable, let limit = room.budget.maxSize {
            plan.isReachable = false
            // What is always kept stays; everything else has to keep the limit by itself.
            goal = max(goal, freeable > limit ? freeable - limit : 0)
        } else {
            goal = max(goal, room.excessBytes)
        }
        if room.lackingOnDisk > freeable {
            plan.isReachable = false
            let own = room.usedBytes + room.freeBytes
            plan.causes.append(.otherPrograms(bytes: room.totalBytes > own ? room.totalBytes - own : 0))
        } else {
            goal = max(goal, room.lackingOnDisk)
        }
        if options.isRoomOut {
            let least = RoomPlan.leastRoom
            goal = max(goal, min(freeable, max(least.lowerBound, min(room.usedBytes / 16, least.upperBound))))
        }
        if !plan.isReachable {
            let kept = room.usedBytes - min(room.usedBytes, freeable)
            if let bytes = survey.freedBytes.last, bytes > kept / 20 {
                plan.causes.append(.lastHour(snapshots: division.young.count, bytes: bytes))
            }
            let always = division.always
            for file in survey.largest where plan.causes.isEmpty || file.bytes > kept / 20 {
                guard let root = always.roots[file.snapshot], let why = always.reasons[file.snapshot] else { continue }
                plan.causes.append(
                    .file(
                        FilePath(bytes: root.bytes + [UInt8(ascii: "/")] + file.path.bytes), versions: file.versions,
                        bytes: file.bytes,
                        snapshot: file.snapshot, why: why))
            }
        }
        return goal
    }

    /// Shortens the grace of forgotten records as far as necessary.
    private func shorten(_ protected: inout ForgottenSpan, _ goalBytes: UInt64, _ survey: RoomSurvey, isFull: Bool) {
        if isFull { return protected = ForgottenSpan(since: .never) }
        let waiting = survey.freedBytes[1] + survey.freedBytes[2]
        let limit = room.budget.maxSize ?? room.budget.minFree(of: room.totalBytes)
        if waiting > limit {
            protected.sinceForRoom = max(
                protected.sinceForRoom, Timestamp(seconds: now.seconds - RoomPlan.leastGrace))
        }
        if goalBytes > survey.freedBytes[0] + waiting { protected.since = .never }
    }

    /// Chooses which of the candidates go: none that frees hardly anything, and no more than one run may forget.
    private func choose(
        _ candidates: [Candidate], _ plan: inout RoomPlan, _ survey: inout RoomSurvey, _ position: Int,
        surplus: UInt64, _ counts: [Int64: Int]
    ) throws {
        let freed = survey.freedBytes[(RoomPlanning.forgottenGroups + 1)...position].reduce(0, +)
        // A sixteenth of what each frees on average is hardly anything.
        let little = freed / UInt64(max(1, candidates.count)) / 16
        var surplus = surplus
        var going: [Candidate] = []
        for candidate in candidates.reversed() {
            if let bytes = try survey.keep(candidate.id, upTo: position, limit: min(little, surplus)) {
                surplus -= bytes
            } else {
                going.append(candidate)
            }
        }
        var left = counts.mapValues { max(RoomPlan.leastCount, $0 / RoomPlan.mostShare) }
        for candidate in going.reversed() {
            guard let allowed = left[candidate.root], allowed > 0 else {
                plan.isContinued = true
                continue
            }
            left[candidate.root] = allowed - 1
            plan.going.append(candidate.id)
        }
    }

    /// The bytes that a prune can free now.
    private func freedNow(_ plan: RoomPlan, _ survey: RoomSurvey, isFull: Bool) -> UInt64 {
        var bytes = survey.freedBytes[0]
        if isFull { bytes += survey.freedBytes[1] }
        if isFull || plan.protected.sinceForRoom.seconds >= now.seconds - RoomPlan.leastGrace {
            bytes += survey.freedBytes[2]
        }
        if plan.protected.since == .never { bytes += survey.freedBytes[3] }
        if isFull || options.grace <= .zero { bytes = max(bytes, min(plan.goalBytes, plan.freeableBytes)) }
        return bytes
    }

    /// Records what waits until its grace has passed.
    private func wait(
        _ plan: inout RoomPlan, _ survey: RoomSurvey, _ candidates: [Candidate], isFull: Bool
    ) {
        if isFull || options.grace <= .zero { return }
        plan.waitingBytes = survey.freedBytes[1]
        if plan.protected.sinceForRoom.seconds < now.seconds - RoomPlan.leastGrace {
            plan.waitingBytes += survey.freedBytes[2]
        }
        if let last = plan.going.last, let index = candidates.firstIndex(where: { $0.id == last }) {
            let first = RoomPlanning.forgottenGroups + 1
            plan.waitingBytes += survey.freedBytes[first...(first + index)].reduce(0, +)
        }
        guard plan.waitingBytes > 0 else { return }
        let grace = min(Archive.graceForRoom, options.grace)
        plan.waitingUntil = Timestamp(seconds: now.seconds + grace.components.seconds)
    }
}

extension Timestamp {
    /// Later than anything was forgotten.
    fileprivate static var never: Timestamp { Timestamp(seconds: .max) }
}
