// Which snapshots of a root are kept.

internal import ArchiveFormat
internal import FileIO
public import Roots

/// Which snapshots of a root are kept, by their age: one for each minute, hour, day or week.
///
/// The first snapshot of each span is the one that stays. So it is decided when a snapshot is made how long it can stay at
/// most, and nothing that comes later puts it out of its place. The spans nest: what is left only ever gets less.
///
/// Besides what the tiers keep, thinning always keeps each root's newest snapshot, what is pinned or labelled, the states
/// around operations of the last 30 days, the ends of bursts of work, the states around a change of much of the root at
/// once, and the last state with a file that was deleted later.
public struct RetentionPolicy: Sendable, Hashable {
    /// One snapshot for each span, up to an age.
    public struct Tier: Sendable, Hashable {
        /// The span in seconds; 0 for every snapshot.
        public let width: UInt64
        /// Up to this age in seconds; nil for ever.
        public let age: UInt64?

        public init(width: UInt64, age: UInt64?) {
            self.width = width
            self.age = age
        }
    }

    /// How long something is kept.
    public enum Span: Sendable, Hashable {
        case seconds(UInt64)
        case forever
    }

    /// By width, the narrowest first; empty: everything is kept.
    public let tiers: [Tier]

    /// Everything is kept: the policy of a root for which none is set.
    public static let everything = RetentionPolicy(checked: [])

    /// Everything for an hour, one a minute for a day, one an hour for two weeks, one a day for 90 days, one a week for ever.
    public static let usual = RetentionPolicy(checked: [
        Tier(width: 0, age: 3600), Tier(width: Width.minute, age: 86_400), Tier(width: Width.hour, age: 14 * 86_400),
        Tier(width: Width.day, age: 90 * 86_400), Tier(width: Width.week, age: nil),
    ])

    /// The widths that have names, in seconds.
    enum Width {
        static let minute: UInt64 = 60
        static let hour: UInt64 = 3600
        static let day: UInt64 = 86_400
        static let week: UInt64 = 604_800
    }

    private init(checked tiers: [Tier]) { self.tiers = tiers }

    /// The policy with these tiers, in any order.
    ///
    /// - Throws: `ArchiverError` of the code `unsuitableSettings` where they contradict each other or keep nothing.
    public init(_ tiers: [Tier]) throws(ArchiverError) {
        self.tiers = tiers.sorted { $0.width < $1.width }
        guard !tiers.isEmpty else {
            throw RetentionPolicy.unsuitable("a policy without tiers keeps nothing", "say what it is to keep")
        }
        do throws(FormatError) { try PolicyRecord(time: .now, tiers: stored).validate() } catch {
            throw RetentionPolicy.unsuitable(
                "the policy cannot be followed: \(RetentionPolicy.reason(error))", RetentionPolicy.advice)
        }
    }

    /// The policy that keeps all snapshots so long, then one for each minute, hour, day and week so long.
    ///
    /// - Throws: `ArchiverError` of the code `unsuitableSettings` where a wider span is kept no longer than a narrower one, or
    ///   nothing is kept.
    public init(
        all: Span? = nil, minutely: Span? = nil, hourly: Span? = nil, daily: Span? = nil, weekly: Span? = nil
    ) throws(ArchiverError) {
        let spans = [
            (UInt64(0), all), (Width.minute, minutely), (Width.hour, hourly), (Width.day, daily), (Width.week, weekly),
        ]
        var tiers: [Tier] = []
        for (width, span) in spans {
            switch span {
            case .seconds(let seconds): tiers.append(Tier(width: width, age: seconds))
            case .forever: tiers.append(Tier(width: width, age: nil))
            case nil: break
            }
        }
        try self.init(tiers)
    }

    init(_ record: PolicyRecord) { tiers = record.tiers.map { Tier(width: $0.width, age: $0.age) } }

    /// The tiers as they are stored.
    var stored: [PolicyRecord.Tier] { tiers.map { PolicyRecord.Tier(width: $0.width, age: $0.age) } }

    /// The width of the tier that counts at an age; nil where no tier reaches so far.
    func width(atAge seconds: UInt64) -> UInt64? {
        if tiers.isEmpty { return 0 }
        return tiers.first { $0.age.map { seconds <= $0 } ?? true }?.width
    }

    /// The step after which nothing is left to be let go.
    static let lastStep = 16

    /// What is kept where room is short: less with each step, and in the end one snapshot of each root.
    ///
    /// Whoever keeps everything keeps what `usual` says at first. Each further step halves the ages, and doubles the width of
    /// the tier that goes on for ever: what is old becomes sparse before what is young. The last step keeps nothing but
    /// what no policy lets go.
    ///
    /// - Parameter step: 1 for the first, `lastStep` for the last.
    func narrowed(step: Int) -> RetentionPolicy {
        if step >= RetentionPolicy.lastStep { return RetentionPolicy(checked: [Tier(width: Width.week << 20, age: 0)]) }
        let isEndless = tiers.allSatisfy { $0.width == 0 && $0.age == nil }
        let base = isEndless ? RetentionPolicy.usual : self
        let factor = UInt64(1) << UInt64(min(max(step - 1, 0), 20))
        return RetentionPolicy(
            checked: base.tiers.map { tier in
                Tier(width: tier.age == nil ? tier.width * factor : tier.width, age: tier.age.map { $0 / factor })
            })
    }

    /// How long the ends of bursts of work are kept: as long as one snapshot a day, or what comes nearest to that.
    var ageOfBursts: UInt64? {
        guard let tier = tiers.last(where: { $0.width <= Width.day }) else { return 0 }
        return tier.age
    }

    private static let advice = "each wider span needs a longer time than the narrower one: --minutely 48h --hourly 30d"

    private static func unsuitable(_ message: String, _ remedy: String) -> ArchiverError {
        ArchiverError(.unsuitableSettings, message, remedy: remedy)
    }

    private static func reason(_ error: FormatError) -> String {
        if case .malformed(let reason) = error { return reason }
        return "\(error)"
    }
}

/// How much room an archive may take.
public struct StorageBudget: Sendable, Hashable {
    /// The most bytes; nil for no limit.
    public var maxSize: UInt64?
    /// The bytes that its file system is to have free at least; nil where only the share counts.
    public var minFreeBytes: UInt64?
    /// The share of its file system that is to be free at least, in percent; nil where only the bytes count.
    public var minFreePercent: UInt64?

    /// No limit, and free at least the smaller of 10 GiB and a tenth of the file system.
    public init(maxSize: UInt64? = nil, minFreeBytes: UInt64? = 10 << 30, minFreePercent: UInt64? = 10) {
        self.maxSize = maxSize
        self.minFreeBytes = minFreeBytes
        self.minFreePercent = minFreePercent
    }

    /// The bytes that are to be free on a file system of `totalBytes`: the smaller of the two.
    public func minFree(of totalBytes: UInt64) -> UInt64 {
        let share = minFreePercent.map { totalBytes / 100 * $0 }
        return [share, minFreeBytes].compactMap { $0 }.min() ?? 0
    }
}
