// The rule that cuts trees into nodes.

import ArchiveFormat
import FileIO
import Testing

@Suite("The shape of trees")
struct TreeShapeTests {
    /// The rule as the format document states it, with the hash computed in 128-bit arithmetic.
    private func hash(_ path: String, level: UInt8, seed: UInt64) -> UInt64 {
        func times(_ left: UInt64, _ right: UInt64) -> UInt64 {
            UInt64(truncatingIfNeeded: UInt128(left) * UInt128(right))
        }
        var hash = 14_695_981_039_346_656_037 ^ seed
        for byte in [level] + Array(path.utf8) { hash = times(hash ^ UInt64(byte), 1_099_511_628_211) }
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] as [UInt64] {
            hash = times(hash ^ (hash >> 33), factor)
        }
        return hash ^ (hash >> 33)
    }

    private func cuts(_ path: String, level: UInt8, seed: UInt64 = 0) -> Bool {
        hash(path, level: level, seed: seed) % 64 == 0
    }

    @Test("the examples of the hash in the format document are right")
    func examples() {
        #expect(hash("a/b", level: 0, seed: 0) == 0xa583_f772_0e00_a087)
        #expect(hash("a/b", level: 0, seed: 0xfedc_ba98_7654_3210) == 0xb67b_69b2_70e9_3a35)
    }

    @Test("the hash of level and path decides where a node ends")
    func rule() {
        for number in 0..<5000 {
            let path = "directory/file \(number)"
            for level in [0, 1, 2, 255] {
                #expect(
                    TreeShape.standard.cutsAfter(path: RelativePath(unchecked: Array(path.utf8)), level: level)
                        == cuts(path, level: UInt8(level)), "\(path)")
            }
        }
    }

    @Test("another seed of the archive ends nodes elsewhere, as the format document says")
    func seeds() {
        let shape = TreeShape(seed: 0x0123_4567_89ab_cdef)
        let paths = (0..<5000).map { "directory/file \($0)" }
        var differing = 0
        for path in paths {
            let isCut = shape.cutsAfter(path: RelativePath(unchecked: Array(path.utf8)), level: 1)
            #expect(isCut == cuts(path, level: 1, seed: 0x0123_4567_89ab_cdef))
            if isCut != cuts(path, level: 1) { differing += 1 }
        }
        // With independent cuts, 2 in 64 paths differ.
        #expect((100...220).contains(differing), "\(differing)")
    }

    @Test("the rule never changes: these cuts are fixed")
    func golden() {
        let cuts = (0..<1000).filter {
            TreeShape.standard.cutsAfter(path: RelativePath(unchecked: Array("\($0)".utf8)), level: 0)
        }
        // Computed by an implementation of the format document in Python.
        let expected = [
            39, 60, 79, 91, 223, 303, 330, 344, 351, 353, 382, 390, 444, 468, 511, 597, 640, 664, 746, 768, 781, 794,
            900,
            905, 918, 920, 931, 947, 974,
        ]
        #expect(cuts == expected)
    }

    @Test("one path in 64 cuts on every level, even if names hardly differ")
    func rate() {
        for level in 0..<4 {
            let count = (0..<64_000).count {
                TreeShape.standard.cutsAfter(path: RelativePath(unchecked: Array("a/\($0)".utf8)), level: level)
            }
            // 1000 are expected, with a standard deviation of 31.
            #expect((850...1150).contains(count), "level \(level): \(count)")
        }
    }
}
