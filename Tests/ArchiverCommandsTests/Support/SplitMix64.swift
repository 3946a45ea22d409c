// Random numbers that a printed seed brings back.

import Glibc

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct SplitMix64: RandomNumberGenerator {
    /// What the generator started from; failures name it.
    let seed: UInt64
    private var state: UInt64

    /// Starts from `$TEST_SEED` where that is set, else from a new seed, and prints it.
    init(_ purpose: String) {
        let given = getenv("TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        seed = given ?? UInt64.random(in: 0...UInt64.max)
        state = seed
        print("\(purpose): TEST_SEED=\(seed)")
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
