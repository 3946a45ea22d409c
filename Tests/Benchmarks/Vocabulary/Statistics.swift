// The statistics for the tables.

extension Collection where Element == Double {
    /// The middle of the sorted numbers, or the mean of the two in the middle; nil if there are none.
    var median: Double? {
        if isEmpty { return nil }
        let sorted = self.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest number that at least `share` (0…1) of the numbers do not exceed; nil if there are none.
    func percentile(_ share: Double) -> Double? {
        if isEmpty { return nil }
        let rank = Int((share * Double(count)).rounded(.up))
        return sorted()[Swift.min(Swift.max(rank, 1), count) - 1]
    }
}
