// Why a benchmark could not go on.

/// A benchmark that could not go on, or whose results were wrong.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
