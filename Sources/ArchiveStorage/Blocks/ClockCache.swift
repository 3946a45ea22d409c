// Values that were used lately, one going for each that comes.

/// Keeps values up to a sum of costs; of those that must go, the ones not used for a while go first.
///
/// The clock algorithm (Corbató, "A paging experiment with the Multics system", 1968): a hand goes round and takes what
/// was not used since it last came by. Unlike making room for many at once, it costs each insertion about the same, so
/// that nobody waits much longer than the others.
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
    private let capacity: Int

    /// - Parameter capacity: the sum of costs that may stay.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    package func contains(_ key: Key) -> Bool { indexes[key] != nil }

    /// The value of `key`, which counts as used.
    package mutating func value(for key: Key) -> Value? {
        guard let index = indexes[key] else { return nil }
        places[index]?.isUsed = true
        return places[index]?.value
    }

    /// Keeps `value` unless there is one for `key` already.
    ///
    /// - Parameter cost: how much of the capacity it takes.
    /// - Returns: what had to go; to be let go of outside of any lock, as freeing it takes a while.
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

    /// Lets go of the value of `key`.
    mutating func remove(_ key: Key) {
        guard let index = indexes.removeValue(forKey: key), let place = places[index] else { return }
        places[index] = nil
        free.append(index)
        cost -= place.cost
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
