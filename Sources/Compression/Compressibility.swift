// Detects data that is already compressed from a few samples, which saves the time of compressing it again.

/// Detects data that compression will not shrink.
package enum Compressibility {
    private static let windowCount = 16
    private static let windowByteCount = 256
    private static let sampleByteCount = windowCount * windowByteCount

    /// Whether `bytes` look like compressed, encrypted or random data.
    ///
    /// Samples 4 KiB in windows spread over `bytes` and makes two tests. All byte values must be equally frequent: the
    /// test is the index of coincidence (W. F. Friedman, 1922), the chance that two sampled bytes are equal, relative
    /// to 1/256. And there must be few repetitions: the test counts four-byte sequences that occur twice. Text,
    /// programs, tables and uncompressed media clearly fail at least one of the tests. Less than 4 KiB is not tested.
    package static func isLikelyIncompressible(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.count < sampleByteCount { return false }
        return coincidencesAreRandom(in: bytes) && !repeatsSequences(in: bytes)
    }

    /// The start of a sampled window; the first window is at the beginning of `bytes`, the last at the end.
    private static func windowStart(_ window: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        (bytes.count - windowByteCount) * window / (windowCount - 1)
    }

    private static func coincidencesAreRandom(in bytes: UnsafeRawBufferPointer) -> Bool {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 256) { counts in
            counts.initialize(repeating: 0)
            for window in 0..<windowCount {
                let start = windowStart(window, in: bytes)
                for index in start..<(start + windowByteCount) { counts[Int(bytes[index])] += 1 }
            }
            var pairs = 0
            for count in counts { pairs += Int(count) * Int(count - 1) }
            // Random bytes have 1 ± 0.006; 1.1 means an entropy of at most 7.9 bits.
            let expected = sampleByteCount * (sampleByteCount - 1)
            return pairs * 256 * 10 < expected * 11
        }
    }

    private static func repeatsSequences(in bytes: UnsafeRawBufferPointer) -> Bool {
        let slotBits = 12
        // Of 500 samples of random data, one has two equal sequences.
        let tolerated = 8
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1 << slotBits) { slots in
            slots.initialize(repeating: 0)
            var repeats = 0
            for window in 0..<windowCount {
                let start = windowStart(window, in: bytes)
                for index in start..<(start + windowByteCount - 3) {
                    let sequence = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                    // Multiplicative hashing (Knuth, TAOCP 6.4) with 2^32 / golden ratio.
                    let slot = Int((sequence &* 2_654_435_769) >> (32 - UInt32(slotBits)))
                    if slots[slot] == sequence { repeats += 1 }
                    slots[slot] = sequence
                }
            }
            return repeats > tolerated
        }
    }
}
