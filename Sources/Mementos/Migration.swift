// One step from an older version of a state to a newer one.

/// Converts a state of an older version into one of a newer version.
public struct Migration: Sendable {
    /// The version that it reads.
    public let from: Int
    /// The version that it makes.
    public let to: Int
    private let change: @Sendable (StateValue, any StateCoder) throws -> StateValue

    /// Creates a migration that alters the fields of the older state.
    ///
    /// - Parameters:
    ///   - from: the version that it reads.
    ///   - to: the version that it makes; by default, the next one.
    ///   - change: alters the state; an error that it throws becomes the cause of the loading error.
    public init(from: Int, to: Int? = nil, _ change: @escaping @Sendable (inout StateValue) throws -> Void) {
        self.from = from
        self.to = to ?? from + 1
        self.change = { value, _ in
            var value = value
            try change(&value)
            return value
        }
    }

    /// Creates a migration between two Swift types, if the older type still exists.
    ///
    /// - Parameters:
    ///   - from: the version that it reads.
    ///   - to: the version that it makes; by default, the next one.
    ///   - change: makes the newer state; an error that it throws becomes the cause of the loading error.
    public init<Old: Decodable & Sendable, New: Encodable & Sendable>(
        from: Int, to: Int? = nil, _ change: @escaping @Sendable (Old) throws -> New
    ) {
        self.from = from
        self.to = to ?? from + 1
        self.change = { value, coder in
            try coder.value(of: change(coder.decode(Old.self, from: value)))
        }
    }

    /// Converts `value`, a state of version `from`, to version `to`.
    package func apply(to value: StateValue, _ coder: some StateCoder) throws -> StateValue {
        try change(value, coder)
    }

    /// Returns the steps of `migrations` from `version` to `wanted`, each time the widest one possible.
    ///
    /// - Returns: nil if they do not lead there.
    package static func way(from version: Int, to wanted: Int, by migrations: [Migration]) -> [Migration]? {
        var steps: [Migration] = []
        var version = version
        while version < wanted {
            let next = migrations.filter { $0.from == version && $0.to > version && $0.to <= wanted }
                .max { $0.to < $1.to }
            guard let next else { return nil }
            steps.append(next)
            version = next.to
        }
        return steps
    }
}

/// Turns `Codable` values into state values and back.
package protocol StateCoder {
    func value(of state: some Encodable) throws -> StateValue
    func decode<State: Decodable>(_ type: State.Type, from value: StateValue) throws -> State
}
