// Random numbers that a printed seed brings back.

import Glibc

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators").
struct SplitMix64: RandomNumberGenerator {
    /// What the generator started from; failures name it.
    let seed: UInt64
    private var state: UInt64

    /// Starts from `$TEST_SEED` where that is set, else from a new seed.
    init() {
        self.init(seed: getenv("TEST_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max))
    }

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    /// True once in `count` times.
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}
