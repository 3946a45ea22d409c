// The events of an observable value.

/// What the events of an observable value contain, and whether an initial event is sent.
public struct ObservationOptions: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Send an event with the current value immediately, before any change.
    public static let initial = ObservationOptions(rawValue: 1)
    /// Events contain the value before the change; the initial event has none.
    public static let old = ObservationOptions(rawValue: 2)
    /// Events contain the value after the change; the initial event contains the current value.
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

    /// The value before the change; nil unless the observer asked for ``ObservationOptions/old``.
    public var old: Value? { options.contains(.old) ? transition.old : nil }
    /// The value after the change; nil unless the observer asked for ``ObservationOptions/new``.
    public var new: Value? { options.contains(.new) ? transition.new : nil }
    /// The value after the change, whatever the observer asked for; in the initial event, the current value.
    public var value: Value { transition.new }
    /// Whether this is the initial event, sent for ``ObservationOptions/initial`` without a change.
    public var isInitial: Bool { transition.old == nil }
}

extension Change: Equatable where Value: Equatable {
    public static func == (one: Change, other: Change) -> Bool {
        one.old == other.old && one.new == other.new && one.isInitial == other.isInitial
    }
}

extension Change: CustomStringConvertible {
    /// "5 → 6", or the requested half of it: "→ 6", "5 →"; for the initial event, "initially 5".
    public var description: String {
        let new = new.map { "\($0)" }
        if isInitial { return ["initially", new].compactMap(\.self).joined(separator: " ") }
        return [old.map { "\($0)" }, "→", new].compactMap(\.self).joined(separator: " ")
    }
}

/// The event type of an observable's subject.
///
/// It is one object shared by all observers: copying values of a generic type for each of them would be slow.
final class Transition<Value: Sendable>: Sendable {
    /// Nil for an initial event.
    let old: Value?
    let new: Value

    init(old: Value?, new: Value) {
        self.old = old
        self.new = new
    }

    /// Merges two successive transitions into one.
    @Sendable static func merge(_ former: Transition, _ next: Transition) -> Transition {
        Transition(old: former.old, new: next.new)
    }
}
