// The escaping of names for output.

import ArchiverKit
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import ArchiverCommands

@Suite(.blocking)
struct EscapingTests {
    @Test("readable text stays unchanged", arguments: ["notes/todo.txt", "Ä é 漢字 🙂", "a\\b", "", "~$%"])
    func plain(text: String) {
        #expect(Escaping.text(text) == text)
    }

    @Test(
        "characters that control a terminal or break a line are escaped",
        arguments: [
            ([0x0A], "\\x0a"), ([0x61, 0x09, 0x62], "a\\x09b"), ([0x1B, 0x5B, 0x33, 0x31, 0x6D], "\\x1b[31m"),
            ([0x7F], "\\x7f"), ([0xC2, 0x9B], "\\xc2\\x9b"), ([0xE2, 0x80, 0xAE], "\\xe2\\x80\\xae"),
            ([0xE2, 0x80, 0xA8], "\\xe2\\x80\\xa8"),
        ] as [([UInt8], String)])
    func harmful(bytes: [UInt8], text: String) {
        #expect(Escaping.text(bytes) == text)
    }

    @Test(
        "bytes that are not UTF-8 are escaped",
        arguments: [
            ([0xFF], "\\xff"), ([0xC3], "\\xc3"), ([0xC3, 0x41], "\\xc3A"), ([0xC0, 0x80], "\\xc0\\x80"),
            ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"), ([0xF4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"),
            ([0xE2, 0x82], "\\xe2\\x82"),
        ] as [([UInt8], String)])
    func invalid(bytes: [UInt8], text: String) {
        #expect(Escaping.text(bytes) == text)
    }

    @Test("any bytes become one line without control characters")
    func anyBytes() {
        var random = SeededGenerator("escaping")
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let text = Escaping.text(bytes)
            let isSafe = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            #expect(isSafe, "seed \(random.seed): \(bytes)")
        }
    }

    @Test(
        "a shown name can be typed back, whatever its bytes",
        arguments: ["a\\b", "a\\xff", "\\\\x41", "\\", "x\\x"])
    func typedBack(text: String) {
        #expect(Escaping.bytes(ofName: Array(Escaping.text(Array(text.utf8)).utf8)) == Array(text.utf8))
    }

    @Test("random shown names can be typed back, and no two look the same")
    func typedBackAtRandom() {
        var random = SeededGenerator("typed back")
        let alphabet: [UInt8] = [0x5C, 0x78, 0x66, 0x30, 0x41, 0xC3, 0xA9, 0xFF, 0x0A]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let text = Escaping.text(bytes)
            #expect(Escaping.bytes(ofName: Array(text.utf8)) == bytes, "seed \(random.seed): \(text)")
        }
    }

    @Test("any argument passes through the parser unchanged")
    func arguments() {
        var random = SeededGenerator("arguments")
        // Lead and continuation bytes, so that valid, invalid and private-use sequences occur.
        let alphabet: [UInt8] = [0x41, 0x80, 0xBF, 0xC3, 0xE2, 0xED, 0xF0, 0xF4, 0x8F, 0xBE, 0xFF]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...10, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let text = ByteArgument.text(of: bytes)
            #expect(ByteArgument.bytes(of: text) == bytes, "seed \(random.seed)")
        }
        #expect(ByteArgument.text(of: Array("näme".utf8)) == "näme")
    }
}
