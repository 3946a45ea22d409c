// How much happened in each minute of a history.

internal import ArchiveFormat
internal import FileIO

/// Sums by minute, in the order of time; longer spans are added up from them.
struct TimelineActivity: Sendable {
    struct Sums: Sendable {
        var moments = 0
        var changes = ChangeCounts()
        var storedBytes: UInt64 = 0

        mutating func add(_ other: Sums) {
            moments += other.moments
            changes.added = changes.added.addingCapped(other.changes.added)
            changes.modified = changes.modified.addingCapped(other.changes.modified)
            changes.removed = changes.removed.addingCapped(other.changes.removed)
            storedBytes = storedBytes.addingCapped(other.storedBytes)
        }
    }

    private(set) var count = 0
    private var minutes: [Int64] = []
    private var sums: [Sums] = []

    static let minuteSeconds: Int64 = 60
    static let daySeconds: Int64 = 86_400

    /// Adds a moment; fastest in the order of time.
    mutating func add(_ time: Timestamp, _ changes: ChangeCounts, storedBytes: UInt64) {
        let minute = TimelineActivity.floor(time.seconds, TimelineActivity.minuteSeconds)
        let one = Sums(moments: 1, changes: changes, storedBytes: storedBytes)
        count += 1
        let index = minutes.last.map { $0 < minute } ?? true ? minutes.count : firstIndex(from: minute)
        if index < minutes.count, minutes[index] == minute { return sums[index].add(one) }
        minutes.insert(minute, at: index)
        sums.insert(one, at: index)
    }

    /// Calls `body` with the sums of each minute that begins in a span.
    func forEach(from start: Int64, below end: Int64, _ body: (_ minute: Int64, Sums) -> Void) {
        var index = firstIndex(from: TimelineActivity.floor(start, TimelineActivity.minuteSeconds))
        while index < minutes.count, minutes[index] < end {
            body(minutes[index], sums[index])
            index += 1
        }
    }

    /// Returns the greatest multiple of `step` that is at most `seconds`.
    static func floor(_ seconds: Int64, _ step: Int64) -> Int64 {
        let rest = seconds % step
        let (multiple, isOver) = seconds.subtractingReportingOverflow(rest < 0 ? rest + step : rest)
        // Near the least number there is no smaller multiple.
        return isOver ? seconds - rest : multiple
    }

    private func firstIndex(from minute: Int64) -> Int {
        var (low, high) = (0, minutes.count)
        while low < high {
            let middle = (low + high) / 2
            if minutes[middle] < minute { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension UInt64 {
    fileprivate func addingCapped(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
