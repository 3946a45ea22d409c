// Random numbers that a printed seed brings back.

import Glibc

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct SeededGenerator: RandomNumberGenerator {
    /// What the generator started from; failures name it.
    let seed: UInt64
    private var state: UInt64

    /// Starts from `$TEST_SEED` where that is set, else from a new seed, and prints it.
    init(_ purpose: String) {
        let given = getenv("TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        self.init(seed: given ?? UInt64.random(in: 0...UInt64.max))
        print("\(purpose): TEST_SEED=\(seed)")
    }

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from 0 to `limit` - 1.
    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// Bytes without any pattern.
    mutating func noise(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in stride(from: 0, to: count, by: 8) {
                let word = next()
                for byte in 0..<min(8, count - index) {
                    buffer[index + byte] = UInt8(truncatingIfNeeded: word >> (UInt64(byte) * 8))
                }
            }
            initialized = count
        }
    }

    /// Words in lines, which compress as prose does.
    mutating func text(_ count: Int) -> [UInt8] {
        let words = ["the ", "state ", "of ", "a ", "tree ", "and ", "its ", "memory, ", "kept ", "\n"]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 16)
        while bytes.count < count { bytes += words[below(words.count)].utf8 }
        return Array(bytes[..<count])
    }
}
