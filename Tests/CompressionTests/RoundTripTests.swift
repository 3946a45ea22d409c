// Compressed bytes decompress to the original, and incompressible input is left alone.

import Compression
import TestSupport
import Testing

@Suite struct RoundTripTests {
    @Test("random inputs decompress to the original", arguments: [1, 6, 9])
    func randomInputs(level: Int) throws {
        var random = SeededGenerator("random inputs, level \(level)")
        var deflater = try Deflater(level: level)
        var inflater = try Inflater()
        var helped = 0
        for round in 0..<200 {
            let length = Int.random(in: 0..<(1 << Int.random(in: 0...17, using: &random)), using: &random)
            let input = round.isMultiple(of: 4) ? random.noise(length) : random.text(length)
            let dictionary = Bool.random(using: &random) ? nil : random.text(Int.random(in: 0...70_000, using: &random))
            let prefix = random.noise(3)
            var output = prefix
            let smaller = try deflater.deflate(input, dictionary: dictionary, into: &output)
            #expect(output.prefix(3) == prefix[...], "round \(round), seed \(random.seed)")
            guard smaller else {
                #expect(output == prefix, "round \(round), seed \(random.seed)")
                continue
            }
            helped += 1
            #expect(output.count - 3 < input.count, "round \(round), seed \(random.seed)")
            let back = try inflater.inflate(output[3...], dictionary: dictionary, expecting: input.count)
            #expect(back == input, "round \(round), seed \(random.seed)")
        }
        #expect(helped > 80, "seed \(random.seed)")
    }

    @Test("short and incompressible inputs are left alone")
    func leftAlone() throws {
        var random = SeededGenerator("short inputs")
        var deflater = try Deflater(level: 9)
        for input in [[], [65], [65, 65], random.noise(100), random.noise(100_000)] {
            var output: [UInt8] = [1, 2]
            #expect(try deflater.deflate(input, into: &output) == false, "seed \(random.seed)")
            #expect(output == [1, 2], "seed \(random.seed)")
        }
    }

    @Test("an input that resembles its dictionary compresses to almost nothing")
    func dictionary() throws {
        var random = SeededGenerator("dictionary")
        var deflater = try Deflater(level: 6)
        var inflater = try Inflater()
        let old = random.noise(20_000)
        var new = old
        new[10_000] ^= 1
        var output = [UInt8]()
        #expect(try deflater.deflate(new, into: &output) == false, "seed \(random.seed)")
        #expect(try deflater.deflate(new, dictionary: old, into: &output), "seed \(random.seed)")
        #expect(output.count < 400, "seed \(random.seed)")
        #expect(try inflater.inflate(output, dictionary: old, expecting: new.count) == new, "seed \(random.seed)")
        #expect(throws: CompressionError.corrupt, "seed \(random.seed)") {
            try inflater.inflate(output, expecting: new.count)
        }
    }

    @Test("a higher level makes a smaller output")
    func levels() throws {
        var random = SeededGenerator("levels")
        let words = (0..<300).map { _ in random.text(Int.random(in: 2...9, using: &random)) }
        let input = (0..<20_000).flatMap { _ in words[Int.random(in: 0..<300, using: &random)] }
        var lengths = [Int]()
        for level in [1, 9] {
            var deflater = try Deflater(level: level)
            var output = [UInt8]()
            #expect(try deflater.deflate(input, into: &output))
            lengths.append(output.count)
        }
        #expect(lengths[1] < lengths[0], "seed \(random.seed)")
    }
}
