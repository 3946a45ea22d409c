// The order of a bisection's questions, without the tests themselves.

/// Finds the first bad place between a good one and a bad one.
struct Bisection {
    /// The last place that is known to be good.
    private(set) var good: Int
    /// The first place that is known to be bad.
    private(set) var bad: Int
    private var skipped: Set<Int> = []

    /// A search between two places.
    ///
    /// - Parameters:
    ///   - good: a place that is good.
    ///   - bad: a later one that is bad.
    init(good: Int, bad: Int) {
        self.good = good
        self.bad = bad
    }

    /// The place to ask about next: the one nearest to the middle that was not skipped; nil if no answer can help any
    /// more.
    var next: Int? {
        let middle = good + (bad - good) / 2
        for distance in 0..<max(1, bad - good) {
            for place in [middle - distance, middle + distance]
            where place > good && place < bad && !skipped.contains(place) {
                return place
            }
        }
        return nil
    }

    /// The largest number of questions left if no place is skipped.
    var questionsLeft: Int {
        let places = bad - good
        return places <= 1 ? 0 : Int.bitWidth - (places - 1).leadingZeroBitCount
    }

    mutating func answer(_ verdict: BisectVerdict, at place: Int) {
        switch verdict {
        case .good: good = max(good, place)
        case .bad: bad = min(bad, place)
        case .skipped: skipped.insert(place)
        }
    }
}
