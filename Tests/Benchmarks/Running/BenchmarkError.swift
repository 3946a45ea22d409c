// The error of the benchmarks.

/// A benchmark could not continue, or had wrong results.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
