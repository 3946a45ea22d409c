// A cache of recently used values, by key.

/// A cache of recently used values; it drops values that were not used while newer ones filled the capacity.
package struct RecentValues<Key: Hashable, Value> {
    private typealias Kept = (value: Value, cost: Int)

    private var young: [Key: Kept] = [:]
    private var old: [Key: Kept] = [:]
    private var youngCost = 0
    private let capacity: Int

    /// - Parameter capacity: the total cost up to which no recent value is dropped; the cache may hold twice as much.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    package subscript(key: Key) -> Value? {
        mutating get {
            if let kept = young[key] { return kept.value }
            guard let (value, cost) = old[key] else { return nil }
            insert(value, for: key, cost: cost)
            return value
        }
    }

    package mutating func insert(_ value: Value, for key: Key, cost: Int = 1) {
        if youngCost >= capacity {
            old = young
            young = [:]
            youngCost = 0
        }
        if let known = young.updateValue((value, cost), forKey: key) { youngCost -= known.cost }
        youngCost += cost
    }
}
