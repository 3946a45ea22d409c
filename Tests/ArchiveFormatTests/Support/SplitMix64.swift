// Random numbers that a printed seed brings back.

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators").
struct SplitMix64: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64 = .random(in: 0 ... .max)) {
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

    /// True once in `count` times.
    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// Up to `count` random bytes, at least `least`.
    mutating func bytes(_ least: Int = 0, _ count: Int) -> [UInt8] {
        (0..<Int.random(in: least...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// A number of random size: few bits are as likely as many.
    mutating func number(bits: Int = 64) -> UInt64 {
        let width = Int.random(in: 0...bits, using: &self)
        return width == 0 ? 0 : next() >> UInt64(64 - width)
    }
}
