// A collection of measured times.

internal import Glibc

/// Durations in seconds.
struct Times: Codable {
    private var seconds: [Double] = []

    var isEmpty: Bool { seconds.isEmpty }

    /// The time of the monotonic clock, which is not set ahead.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    mutating func add(since start: Double) { seconds.append(Times.now() - start) }

    /// The median, the 99th percentile and the maximum as text.
    var text: String {
        let sorted = seconds.sorted()
        guard let longest = sorted.last else { return "never" }
        let picked = [sorted[sorted.count / 2], sorted[(sorted.count - 1) * 99 / 100], longest]
        return picked.map { "\(Double(Int($0 * 1e5)) / 100) ms" }.joined(separator: ", ") + " (median, p99, longest)"
    }
}
