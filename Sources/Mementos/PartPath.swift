// The key path from a value to a part of it.

/// A key path that may be used on any thread.
///
/// Unchecked: it is built from Sendable key paths only. The result of appending two of them is safe too, but the
/// standard library does not declare it Sendable.
struct PartPath<Whole, Value>: @unchecked Sendable {
    private let keyPath: KeyPath<Whole, Value>

    init(_ keyPath: any KeyPath<Whole, Value> & Sendable) { self.keyPath = keyPath }

    /// - Parameter keyPath: made of Sendable key paths only.
    init(appended keyPath: KeyPath<Whole, Value>) { self.keyPath = keyPath }

    func value(in whole: Whole) -> Value { whole[keyPath: keyPath] }

    func appending<Part>(_ part: any KeyPath<Value, Part> & Sendable) -> PartPath<Whole, Part> {
        PartPath<Whole, Part>(appended: keyPath.appending(path: part))
    }

    /// Identifies the part among all parts of the whole, regardless of their types.
    var identity: PartIdentity { PartIdentity(keyPath) }
}

/// Which part of a value an observer has registered for.
///
/// Unchecked: see `PartPath`.
struct PartIdentity: Hashable, @unchecked Sendable {
    private let keyPath: AnyKeyPath

    fileprivate init(_ keyPath: AnyKeyPath) { self.keyPath = keyPath }
}
