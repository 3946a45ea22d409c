// Reproducible random numbers: every random test prints its seed, and TEST_SEED=n replays it.

internal import Glibc

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
package struct SeededGenerator: RandomNumberGenerator {
    /// The seed of the sequence, for failure messages.
    package let seed: UInt64
    private var state: UInt64

    /// A generator with a new seed, which it prints with the test's `purpose`.
    package init(_ purpose: String) {
        self.init()
        print("\(purpose): TEST_SEED=\(seed)")
    }

    /// A generator with the seed in the environment's TEST_SEED, or a new one; failing tests print it.
    package init() {
        self.init(seed: getenv("TEST_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max))
    }

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<limit`.
    package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    /// True with a probability of one in `count`.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// Bytes that do not compress.
    package mutating func noise(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in stride(from: 0, to: count, by: 8) {
                withUnsafeBytes(of: next().littleEndian) { word in
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[index...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: word.prefix(count - index)))
                }
            }
            initialized = count
        }
    }

    /// Bytes that compress well.
    package mutating func text(_ count: Int) -> [UInt8] {
        let words = ["archive", "segment", "block", "chunk", "tree", "leaf", "root", "entry", "path", "snapshot"]
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += Array("\(words[below(words.count)]) \(below(1000)) ".utf8) }
        return Array(bytes.prefix(count))
    }
}
