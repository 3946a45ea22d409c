// Compares the history of a title with what a test expects.

public import Archives

/// A place at which the history of a title is not the expected one.
public struct HistoryDifference<State: Sendable & Equatable>: Sendable, Equatable {
    /// The position in the history, 0 for the oldest state.
    public let index: Int
    /// The expected state; nil if none was expected at this position.
    public let expected: State?
    /// The saved state; nil if there is none at this position.
    public let found: State?
}

extension HistoryDifference: CustomStringConvertible {
    /// The position and both states, for the message of a test.
    public var description: String {
        let words = { (state: State?) in state.map { "\($0)" } ?? "nothing" }
        return "state \(index): expected \(words(expected)), found \(words(found))"
    }
}

extension Archive {
    /// Compares the states saved under `title`, the oldest first, with the expected ones, for the tests of a program.
    ///
    /// - Returns: the positions that differ; empty if both are equal.
    /// - Throws: `StateError`: `undecodable` if a saved state is not a `State`, `archive` if the archive failed…
    public func differences<State: Codable & Sendable & Equatable>(
        of title: String, from expected: [State]
    ) throws(StateError) -> [HistoryDifference<State>] {
        var differences: [HistoryDifference<State>] = []
        let history = try history(of: title)
        for index in 0..<max(history.count, expected.count) {
            let found: State? = index < history.count ? try load(history[index]) : nil
            let wanted = index < expected.count ? expected[index] : nil
            if found != wanted { differences.append(.init(index: index, expected: wanted, found: found)) }
        }
        return differences
    }
}
