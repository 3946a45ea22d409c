// Deltas restore the target, are small for small edits, and are harmless when damaged.

import Compression
import TestSupport
import Testing

@Suite struct DeltaTests {
    private func delta(_ target: [UInt8], from source: [UInt8], limit: Int = .max) -> [UInt8]? {
        var encoder = DeltaEncoder()
        return target.withUnsafeBytes { target in
            source.withUnsafeBytes { encoder.delta(of: target, from: $0, limit: limit) }
        }
    }

    private func apply(
        _ delta: [UInt8], to source: [UInt8], expecting length: Int
    ) throws(CompressionError) -> [UInt8] {
        let result: Result<[UInt8], CompressionError> = delta.withUnsafeBytes { delta in
            source.withUnsafeBytes { source in
                do throws(CompressionError) {
                    return .success(try Delta.apply(delta, to: source, expecting: length))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }

    @Test("a delta restores the target after any edits")
    func edits() throws {
        var random = SeededGenerator("random edits")
        var encoder = DeltaEncoder()
        for round in 0..<300 {
            let length = random.below(1 << Int.random(in: 0...16, using: &random))
            let source =
                round.isMultiple(of: 5)
                ? [UInt8](repeating: 7, count: length)
                : round.isMultiple(of: 2) ? random.noise(length) : random.text(length)
            var target = source
            for _ in 0..<random.below(6) {
                let start = random.below(target.count + 1)
                let end = min(target.count, start + random.below(200))
                switch random.below(3) {
                case 0: target.replaceSubrange(start..<end, with: random.noise(random.below(100)))
                case 1: target.insert(contentsOf: target.prefix(random.below(5000)), at: start)
                default: target.removeSubrange(start..<end)
                }
            }
            let found = target.withUnsafeBytes { target in
                source.withUnsafeBytes { encoder.delta(of: target, from: $0, limit: .max) }
            }
            let delta = try #require(found)
            let back = try apply(delta, to: source, expecting: target.count)
            #expect(back == target, "round \(round), seed \(random.seed)")
        }
    }

    @Test("the delta of a small edit is little longer than the edited bytes")
    func smallEdit() throws {
        var random = SeededGenerator("small edit")
        let source = random.noise(300_000)
        var target = source
        target.insert(contentsOf: random.noise(10), at: 150_000)
        target.removeSubrange(20..<40)
        target[299_000] ^= 1
        let made = try #require(delta(target, from: source))
        #expect(made.count < 60, "seed \(random.seed)")
        #expect(delta(target, from: source, limit: made.count) == made)
        #expect(delta(target, from: source, limit: made.count - 1) == nil)
    }

    @Test("the bytes of a delta are those of the format document")
    func layout() throws {
        let source = Array(0..<200 as Range<UInt8>)
        // Inserts 2 bytes, copies 70 from offset 100, inserts 1, copies 80 from offset 10 (160 back), inserts 3.
        let target = [250, 251] + source[100..<170] + [252] + source[10..<90] + [253, 254, 255]
        let expected: [UInt8] = [2, 70, 0xc8, 0x01, 1, 80, 0xbf, 0x02, 3, 250, 251, 252, 253, 254, 255]
        #expect(delta(target, from: source) == expected)
        #expect(try apply(expected, to: source, expecting: target.count) == target)
    }

    @Test("a delta that breaks a rule or a limit is refused")
    func limits() throws {
        let source = [UInt8](repeating: 1, count: 10)
        func refusal(_ delta: [UInt8], _ length: Int) -> CompressionError? {
            do throws(CompressionError) {
                _ = try apply(delta, to: source, expecting: length)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal([], 0) == nil)
        #expect(refusal([0, 10, 0], 10) == nil)
        #expect(refusal([0, 10, 0], 9) == .corrupt, "a copy of more bytes than are left")
        #expect(refusal([0, 10, 2], 10) == .corrupt, "a copy from after the source")
        #expect(refusal([0, 1, 1], 1) == .corrupt, "a copy from before the source")
        #expect(refusal([0, 0, 0, 0, 1, 0], 1) == .corrupt, "a copy of nothing")
        #expect(refusal([2, 1, 1], 1) == .corrupt, "an insertion of more bytes than are left")
        #expect(refusal([0x80, 0x80, 0x80, 0x80, 0x80, 1], 1) == .corrupt, "a number of six bytes")
        #expect(refusal([0x80, 0, 1, 0], 1) == .corrupt, "a number that is not in its shortest form")
        #expect(refusal([2, 1], 2) == .truncated, "too few bytes to insert")
        #expect(refusal([0, 1], 1) == .corrupt, "half an instruction")
        #expect(refusal([1, 5, 6], 1) == .trailingBytes(1))
        #expect(refusal([], -1) == .tooLarge(byteCount: -1))
    }

    @Test("applying a damaged delta fails or gives the expected length")
    func damage() throws {
        var random = SeededGenerator("damaged deltas")
        let source = random.text(3_000)
        let target = source[500..<900] + random.noise(5) + source[..<700] + source[100...]
        let whole = try #require(delta(Array(target), from: source))
        for _ in 0..<20_000 {
            var damaged = whole
            for _ in 0...random.below(3) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
            if random.oneIn(4) { damaged.removeLast(random.below(damaged.count)) }
            if let back = try? apply(damaged, to: source, expecting: target.count) {
                #expect(back.count == target.count, "seed \(random.seed)")
            }
        }
    }
}
