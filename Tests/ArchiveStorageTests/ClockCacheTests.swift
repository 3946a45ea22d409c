// The cache of recently used values, compared with a naive model.

import ArchiveStorage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct ClockCacheTests {
    @Test("values that fit are kept, and the first value of a key stays") func fitting() {
        var cache = ClockCache<Int, String>(capacity: 3)
        for key in 1...3 { #expect(cache.insert("\(key)", for: key).isEmpty) }
        for key in 1...3 { #expect(cache.value(for: key) == "\(key)") }
        #expect(cache.value(for: 4) == nil)
        #expect(cache.insert("other", for: 2).isEmpty)
        #expect(cache.value(for: 2) == "2", "the first value of a key stays")
    }

    @Test("a used value outlives unused ones") func usedValue() {
        var cache = ClockCache<Int, Int>(capacity: 8)
        for key in 0..<1_000 {
            _ = cache.insert(key, for: key)
            #expect(cache.value(for: 0) == 0, "after \(key)")
        }
    }

    @Test("a full cache evicts one value for each inserted one") func eviction() {
        var cache = ClockCache<Int, Int>(capacity: 100)
        for key in 0..<100 { _ = cache.insert(key, for: key) }
        for key in 100..<1_000 { #expect(cache.insert(key, for: key).count == 1) }
    }

    @Test("a value larger than the capacity is kept alone") func largeValue() {
        var cache = ClockCache<Int, Int>(capacity: 10)
        for key in 0..<5 { _ = cache.insert(key, for: key, cost: 2) }
        #expect(cache.insert(7, for: 7, cost: 50).count == 5)
        #expect(cache.value(for: 7) == 7)
        #expect(cache.insert(8, for: 8, cost: 1).map(\.key) == [7])
    }

    @Test("a cache whose capacity becomes less keeps that much from the next insertion on") func lessCapacity() {
        var cache = ClockCache<Int, Int>(capacity: 100)
        for key in 0..<100 { _ = cache.insert(key, for: key) }
        cache.capacity = 10
        #expect(cache.insert(100, for: 100).count == 91)
        #expect((0...100).filter { cache.contains($0) }.count == 10)
    }

    @Test("values that were not used since the last release are evicted") func unused() {
        var cache = ClockCache<Int, Int>(capacity: 10)
        for key in 0..<4 { _ = cache.insert(key, for: key, cost: 2) }
        #expect(cache.value(for: 1) == 1)
        #expect(Set(cache.evictUnused().map(\.key)) == [0, 2, 3])
        #expect(cache.evictUnused().map(\.key) == [1])
        #expect(cache.insert(7, for: 7, cost: 10).isEmpty, "nothing is left that takes room")
        #expect(cache.value(for: 7) == 7)
    }

    @Test("the cache loses and invents nothing and stays within its capacity", arguments: 0..<8)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var cache = ClockCache<Int, Int>(capacity: 40)
        var kept: [Int: (value: Int, cost: Int)] = [:]
        for step in 0..<5_000 {
            let key = random.below(30)
            if random.below(2) == 0 {
                #expect(cache.value(for: key) == kept[key]?.value, "seed \(seed), step \(step)")
                continue
            }
            let cost = 1 + random.below(9)
            let isNew = kept[key] == nil
            for (key, value) in cache.insert(step, for: key, cost: cost) {
                #expect(kept.removeValue(forKey: key)?.value == value, "seed \(seed), step \(step)")
            }
            if isNew { kept[key] = (step, cost) }
            #expect(kept.values.map(\.cost).reduce(0, +) <= 40, "seed \(seed), step \(step)")
        }
    }
}
