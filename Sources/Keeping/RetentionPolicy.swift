// Retention policies and storage budgets: which snapshots of a root are kept, and how large an archive may grow.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
public import Roots

/// Which snapshots of a root are kept, by their age: one for each minute, hour, day or week.
///
/// The first snapshot of each span stays. So a snapshot's longest lifetime is known when it is made, and no later
/// snapshot changes it. The spans nest: as snapshots age, they only become fewer.
///
/// Besides what the tiers keep, thinning always keeps each root's newest snapshot, pinned and labelled snapshots, the
/// states around operations of the last 30 days, the ends of bursts of work, the states around a change of much of the
/// root in one step, and the last state with a file that was deleted later.
public struct RetentionPolicy: Sendable, Hashable {
    /// A tier: one snapshot for each span, up to an age.
    public struct Tier: Sendable, Hashable {
        /// The span in seconds; 0 for every snapshot.
        public let width: UInt64
        /// The age up to which the tier counts, in seconds; nil for ever.
        public let age: UInt64?

        /// A tier that keeps one snapshot in every `width` seconds, up to an age of `age` seconds; nil for ever.
        public init(width: UInt64, age: UInt64?) {
            self.width = width
            self.age = age
        }
    }

    /// How long something is kept.
    public enum Span: Sendable, Hashable {
        /// This many seconds.
        case seconds(UInt64)
        /// Without end.
        case forever
    }

    /// The tiers, the narrowest first; empty if everything is kept.
    public let tiers: [Tier]

    /// Keeps everything: the policy of a root that has none set.
    public static let everything = RetentionPolicy(checked: [])

    /// Keeps all for an hour, one a minute for a day, one an hour for two weeks, one a day for 90 days, one a week for
    /// ever.
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

    /// A policy with these tiers, in any order.
    ///
    /// - Throws: `ArchiverError` with the code `unsuitableSettings` if they contradict each other or keep nothing.
    public init(_ tiers: [Tier]) throws(ArchiverError) {
        self.tiers = tiers.sorted { $0.width < $1.width }
        guard !tiers.isEmpty else {
            throw RetentionPolicy.unsuitable("a policy without tiers keeps nothing", "say what to keep")
        }
        do throws(FormatError) { try PolicyRecord(time: .now, tiers: stored).validate() } catch {
            throw RetentionPolicy.unsuitable(
                "the policy is invalid: \(RetentionPolicy.reason(error))", Advice.widen.text)
        }
    }

    /// A policy that keeps all snapshots for a time, then one for each minute, hour, day and week for a time.
    ///
    /// - Throws: `ArchiverError` with the code `unsuitableSettings` if a wider span is not kept longer than a narrower
    ///   one, or if nothing is kept.
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

    /// Returns the width of the tier that applies at an age; nil if no tier reaches that far.
    ///
    /// A tier that was narrowed to an age of 0 does not apply any more, not even to a snapshot of this second.
    func width(atAge seconds: UInt64) -> UInt64? {
        if tiers.isEmpty { return 0 }
        return tiers.first { $0.age.map { $0 > 0 && seconds <= $0 } ?? true }?.width
    }

    /// The last step of narrowing.
    static let lastStep = 16

    /// Returns the policy for when room is short: each step keeps less.
    ///
    /// At the first step, a policy that keeps everything becomes `usual`. Each further step halves the ages and doubles
    /// the width of the tier that has no end: old snapshots become sparse before young ones. The last step keeps only
    /// the snapshots that are always kept.
    ///
    /// - Parameter step: 1 for the first, `lastStep` for the last.
    func narrowed(step: Int) -> RetentionPolicy {
        if step >= RetentionPolicy.lastStep { return RetentionPolicy(checked: [Tier(width: 0, age: 0)]) }
        let isEndless = tiers.allSatisfy { $0.width == 0 && $0.age == nil }
        let base = isEndless ? RetentionPolicy.usual : self
        let factor = UInt64(1) << UInt64(min(max(step - 1, 0), 20))
        return RetentionPolicy(
            checked: base.tiers.map { tier in
                Tier(width: tier.age == nil ? tier.width * factor : tier.width, age: tier.age.map { $0 / factor })
            })
    }

    /// How long a pause of work must be for its two ends to be kept at an age; nil if no pause is.
    ///
    /// A tier keeps the ends of pauses that are long beside its own span: otherwise a capture every two hours, of which
    /// each is the end of a pause, would never become one a day. Tiers of more than a day keep none.
    func keptPause(atAge age: UInt64) -> UInt64? {
        guard let width = width(atAge: age), width <= Width.day else { return nil }
        return max(UInt64(WorkSession.pause), width / RetentionPolicy.pausesInSpan)
    }

    /// A pause counts from this part of a tier's span on.
    private static let pausesInSpan: UInt64 = 4

    private static func unsuitable(_ message: String, _ remedy: String) -> ArchiverError {
        ArchiverError(.unsuitableSettings, message, remedy: remedy)
    }

    private static func reason(_ error: FormatError) -> String {
        if case .malformed(let reason) = error { return reason }
        return "\(error)"
    }
}

/// How much room an archive may use.
public struct StorageBudget: Sendable, Hashable {
    /// The largest size in bytes; nil for no limit.
    public var maxSize: UInt64?
    /// The bytes to leave free on its file system; nil if only the share counts.
    public var minFreeBytes: UInt64?
    /// The share of its file system to leave free, in percent; nil if only the bytes count.
    public var minFreePercent: UInt64?

    /// A budget; by default without a size limit, leaving free the smaller of 10 GiB and a tenth of the file system.
    public init(maxSize: UInt64? = nil, minFreeBytes: UInt64? = 10 << 30, minFreePercent: UInt64? = 10) {
        self.maxSize = maxSize
        self.minFreeBytes = minFreeBytes
        self.minFreePercent = minFreePercent
    }

    /// Returns the bytes to leave free on a file system of `totalBytes`: the smaller of the two limits.
    public func minFree(of totalBytes: UInt64) -> UInt64 {
        let share = minFreePercent.map { totalBytes / 100 * $0 }
        return [share, minFreeBytes].compactMap { $0 }.min() ?? 0
    }
}
