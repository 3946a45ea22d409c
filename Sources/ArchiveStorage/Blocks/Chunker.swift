// Cuts a file's bytes into chunks at content-defined boundaries, so that an insertion moves no later boundary.

// FastCDC with normalised chunking, after Wen Xia et al., "FastCDC: a Fast and Efficient Content-Defined Chunking
// Approach for Data Deduplication", USENIX ATC 2016: a rolling gear hash, a strict mask before the wanted size and a
// loose one after it. Readers of an archive need none of this: where chunks end is the writer's choice.

/// Finds the ends of chunks in a file's bytes.
package struct Chunker: Sendable {
    /// The shortest length of a chunk in bytes, except a file's last.
    package let minimum: Int
    /// The typical length of a chunk in bytes.
    package let average: Int
    /// The greatest length of a chunk in bytes.
    package let maximum: Int
    private let strictMask: UInt64
    private let looseMask: UInt64
    private let gear: [UInt64]

    /// The chunker of archives without a seed.
    package static let standard = Chunker(seed: 0)

    /// Creates an archive's chunker.
    ///
    /// Most files are one chunk: a version then needs one id, and its delta is against the entire previous version. A
    /// delta of a large chunk stores little, and large files have short lists of slices.
    ///
    /// - Parameter seed: decides where chunks end. Without knowing it, nobody can recognise files by the lengths of
    ///   their chunks.
    package init(seed: UInt64) {
        self.init(minimum: 64 << 10, averageBits: 17, maximum: 512 << 10, seed: seed)
    }

    private init(minimum: Int, averageBits: Int, maximum: Int, seed: UInt64) {
        gear = Chunker.gear(seed: seed)
        self.minimum = minimum
        average = 1 << averageBits
        self.maximum = maximum
        // The hash's high bits depend on the most bytes; normalisation level 2.
        strictMask = ~(UInt64.max >> UInt64(averageBits + 2))
        looseMask = ~(UInt64.max >> UInt64(averageBits - 2))
    }

    /// The length of the first chunk in `bytes`.
    ///
    /// - Parameter bytes: the next bytes of the file, at least `maximum` or all that are left.
    package func firstChunkLength(in bytes: UnsafeRawBufferPointer) -> Int {
        if bytes.count <= minimum { return bytes.count }
        let end = min(bytes.count, maximum)
        let normal = min(average, end)
        var hash: UInt64 = 0
        var index = minimum
        return gear.withUnsafeBufferPointer { gear in
            while index < normal {
                hash = (hash << 1) &+ gear[Int(bytes[index])]
                index += 1
                if hash & strictMask == 0 { return index }
            }
            while index < end {
                hash = (hash << 1) &+ gear[Int(bytes[index])]
                index += 1
                if hash & looseMask == 0 { return index }
            }
            return index
        }
    }

    /// 256 well-spread numbers: SplitMix64 (Steele, Lea, Flood 2014) from `seed`.
    package static func gear(seed: UInt64) -> [UInt64] {
        var state = seed
        return (0..<256).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
