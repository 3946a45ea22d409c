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

    /// Bytes without any pattern.
    mutating func noise(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { buffer in
            for start in stride(from: 0, to: count, by: 8) {
                withUnsafeBytes(of: next()) { word in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[start..<min(start + 8, count)])
                        .copyBytes(from: word.prefix(min(8, count - start)))
                }
            }
        }
        return bytes
    }

    /// Words, which compress well.
    mutating func text(_ count: Int) -> [UInt8] {
        let words = ["archive", "segment", "block", "chunk", "tree", "leaf", "root", "entry", "path", "snapshot"]
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += Array("\(words[below(words.count)]) \(below(1000)) ".utf8) }
        return Array(bytes.prefix(count))
    }
}
