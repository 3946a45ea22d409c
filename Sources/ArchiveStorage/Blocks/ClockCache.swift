// A cache of recently used values that evicts about one value for each that is inserted.

/// Holds values up to a total cost, and evicts those that were not used recently.
///
/// The clock algorithm (Corbató, "A paging experiment with the Multics system", 1968): a hand circles over the values
/// and evicts those that were not used since its last visit. Every insertion costs about the same. Evicting many values
/// in one go would make some callers wait much longer than others.
package struct ClockCache<Key: Hashable, Value> {
    private struct Place {
        let key: Key
        let value: Value
        let cost: Int
        var isUsed = false
    }

    private var places: [Place?] = []
    private var indexes: [Key: Int] = [:]
    private var free: [Int] = []
    private var hand = 0
    private var cost = 0
    /// The greatest total cost; if it becomes less, the next insertion evicts what is too much.
    package var capacity: Int

    package init(capacity: Int) {
        self.capacity = capacity
    }

    package func contains(_ key: Key) -> Bool { indexes[key] != nil }

    /// The value of `key`, which is marked as used.
    package mutating func value(for key: Key) -> Value? {
        guard let index = indexes[key] else { return nil }
        places[index]?.isUsed = true
        return places[index]?.value
    }

    /// Inserts `value` unless there is one for `key` already.
    ///
    /// - Parameter cost: its share of the capacity.
    /// - Returns: the evicted values; release them outside any lock, as freeing them takes time.
    package mutating func insert(_ value: Value, for key: Key, cost: Int = 1) -> [(key: Key, value: Value)] {
        guard !contains(key) else { return [] }
        let evicted = makeRoom(for: cost)
        let place = Place(key: key, value: value, cost: cost)
        if let index = free.popLast() {
            places[index] = place
            indexes[key] = index
        } else {
            indexes[key] = places.count
            places.append(place)
        }
        self.cost += cost
        return evicted
    }

    /// Removes the value of `key`.
    mutating func remove(_ key: Key) {
        guard let index = indexes.removeValue(forKey: key), let place = places[index] else { return }
        places[index] = nil
        free.append(index)
        cost -= place.cost
    }

    /// Evicts the values that were not used since the last call.
    ///
    /// - Returns: the evicted values; release them outside any lock, as freeing them takes time.
    package mutating func evictUnused() -> [(key: Key, value: Value)] {
        var evicted: [(key: Key, value: Value)] = []
        for index in places.indices {
            guard let place = places[index] else { continue }
            places[index]?.isUsed = false
            if place.isUsed { continue }
            remove(place.key)
            evicted.append((place.key, place.value))
        }
        return evicted
    }

    private mutating func makeRoom(for newCost: Int) -> [(key: Key, value: Value)] {
        var evicted: [(key: Key, value: Value)] = []
        while cost + newCost > capacity, !indexes.isEmpty {
            defer { hand = (hand + 1) % places.count }
            guard let place = places[hand] else { continue }
            if place.isUsed {
                places[hand]?.isUsed = false
                continue
            }
            places[hand] = nil
            indexes[place.key] = nil
            free.append(hand)
            cost -= place.cost
            evicted.append((place.key, place.value))
        }
        return evicted
    }
}
