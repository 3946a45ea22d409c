// Values that were used lately, by their names.

/// Keeps the values that were used lately: of those that were not asked for while as many others came, it knows nothing.
package struct RecentValues<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let capacity: Int

    /// - Parameter capacity: how many values stay at least; there may be twice as many.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old[key] else { return nil }
            keep(value, for: key)
            return value
        }
    }

    package mutating func keep(_ value: Value, for key: Key) {
        if young.count >= capacity {
            old = young
            young = [:]
        }
        young[key] = value
    }
}
