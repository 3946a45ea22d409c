// What an observer of a value is told.

/// What an observer wants to know of an observable value.
public struct ObservationOptions: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// An event at once, before any change, about the present value.
    public static let initial = ObservationOptions(rawValue: 1)
    /// Events hold the value before the change; the initial event has none.
    public static let old = ObservationOptions(rawValue: 2)
    /// Events hold the value after the change; the initial event the present one.
    public static let new = ObservationOptions(rawValue: 4)
}

/// The event of an observable value.
public struct Change<Value: Sendable>: Sendable {
    private let transition: Transition<Value>
    private let options: ObservationOptions

    init(_ transition: Transition<Value>, _ options: ObservationOptions) {
        self.transition = transition
        self.options = options
    }

    /// The value before the change, where the observer asked for ``ObservationOptions/old``.
    public var old: Value? { options.contains(.old) ? transition.old : nil }
    /// The value after the change, where the observer asked for ``ObservationOptions/new``.
    public var new: Value? { options.contains(.new) ? transition.new : nil }
    /// Whether this is the event that ``ObservationOptions/initial`` asks for, and nothing has changed.
    public var isInitial: Bool { transition.old == nil }
}

extension Change: Equatable where Value: Equatable {
    public static func == (one: Change, other: Change) -> Bool {
        one.old == other.old && one.new == other.new && one.isInitial == other.isInitial
    }
}

extension Change: CustomStringConvertible {
    /// "5 → 6", or what of it the observer asked for: "→ 6", "5 →"; of the initial event, "initially 5".
    public var description: String {
        let new = new.map { "\($0)" }
        if isInitial { return ["initially", new].compactMap(\.self).joined(separator: " ") }
        return [old.map { "\($0)" }, "→", new].compactMap(\.self).joined(separator: " ")
    }
}

/// What an observable's subject sends: one object for all observers, which need not copy values of a type that only the
/// caller knows.
final class Transition<Value: Sendable>: Sendable {
    /// Nil where an observer is told of the present value.
    let old: Value?
    let new: Value

    init(old: Value?, new: Value) {
        self.old = old
        self.new = new
    }

    /// One transition instead of two that follow each other.
    @Sendable static func merge(_ former: Transition, _ next: Transition) -> Transition {
        Transition(old: former.old, new: next.new)
    }
}
