// Exports of saved states as JSON files: exact, and never over an existing file.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SavedStates
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// A state with values that JSON can and cannot represent.
private struct Album: Codable, Sendable, Equatable {
    struct Track: Codable, Sendable, Equatable {
        var name: String
        var seconds: Double?
    }
    var title = "Ænima/“live” \\ \u{202E}\u{1F3B8}"
    var tracks = [Track(name: "a", seconds: 0.1), Track(name: "b", seconds: nil)]
    var cover = Data([0, 255, 128, 7])
    var bought = Date(timeIntervalSince1970: 1_763_712_000.25)
    var seller: String?
    var owner: String? = "x"
    var places = [3: "three", -1: "minus", 10: "ten"]
    var largest = UInt64.max
    var least = Int64.min
    var precise = (1 << 53) + 1
    var small = Double.leastNonzeroMagnitude
}

/// Numbers that JSON cannot represent.
private struct Bounds: Codable, Sendable, Equatable {
    var low = -Double.infinity
    var high = Double.infinity
}

@Suite("Saved states as JSON files", .blocking)
struct StateExportTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    private func saved(_ state: some Codable & Sendable, as title: String = "game") throws -> ListedState {
        try archive.save(state, as: title)
        return try #require(try archive.state(.latest, titled: title))
    }

    private func url(_ path: FilePath) -> URL { URL(filePath: path.string) }

    @Test("the file equals the one that StateFile writes, and StateFile loads the saved state from it")
    func sameAsStateFile() throws {
        let album = Album()
        let (target, other) = (sandbox.base.full("album.json"), sandbox.base.full("other.json"))
        let export = try archive.export(saved(album), to: target)
        #expect(export.destination == target)
        try StateFile.save(album, to: url(other))
        let bytes = try Data(contentsOf: url(target))
        #expect(bytes.count == export.bytes)
        #expect(bytes == (try Data(contentsOf: url(other))) + Data("\n".utf8))
        #expect(try StateFile.load(Album.self, from: url(target)) == album)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"cover\" : \"AP+ABw==\""))
    }

    @Test("numbers that JSON cannot represent are loaded from their names")
    func nonFinite() throws {
        let target = sandbox.base.full("bounds.json")
        _ = try archive.export(saved(Bounds()), to: target)
        let text = try String(contentsOf: url(target), encoding: .utf8)
        #expect(text.contains("\"low\" : \"-Infinity\"") && text.contains("\"high\" : \"Infinity\""))
        #expect(try StateFile.load(Bounds.self, from: url(target)) == Bounds())
        try StateFile.save(Bounds(), to: url(target))
        #expect(try String(contentsOf: url(target), encoding: .utf8) + "\n" == text)
        _ = try archive.export(saved([Double.nan], as: "nan"), to: sandbox.base.full("nan.json"))
        #expect(try StateFile.load([Double].self, from: url(sandbox.base.full("nan.json")))[0].isNaN)
    }

    @Test("every CBOR item becomes JSON with exact integers and any keys")
    func items() throws {
        let cases: [(CBORValue, String)] = [
            (.negative(complement: UInt64.max), "-18446744073709551616"),
            (.negative(complement: UInt64(Int64.max)), "-9223372036854775808"),
            (.negative(complement: 0), "-1"), (.unsigned(.max), "18446744073709551615"), (.null, "null"),
            (.boolean(true), "true"), (.bytes([]), "\"\""), (.array([]), "[]"), (.map([]), "{}"),
            (.text("a/\"\n"), "\"a/\\\"\\n\""),
            (
                .map([(.unsigned(7), .null), (.text("b"), .null), (.text("a"), .null), (.boolean(true), .null)]),
                "{\"7\":null,\"a\":null,\"b\":null,\"true\":null}"
            ),
        ]
        for (item, text) in cases { #expect(try StateJSON(item).compact() == text) }
    }

    @Test("nested keys are not escaped repeatedly")
    func keysInKeys() throws {
        var (key, item) = (CBORValue.null, CBORValue.null)
        for _ in 0..<16 { (key, item) = (item, .map([(item, .null)])) }
        #expect(try StateJSON(item).compact() == "{\"cbor:\(Data(key.encoded()).base64EncodedString())\":null}")
        #expect(try StateJSON(.map([(.array([.null]), .null)])).compact() == "{\"cbor:gfY=\":null}")
    }

    @Test("values more than 32 levels deep are on one line, and a long text is written in pieces")
    func deepAndLong() throws {
        var item = CBORValue.text(String(repeating: "ä\u{1}€", count: 50_000))
        for level in 0..<60 { item = level % 2 == 0 ? .array([item, .null]) : .map([(.text("a"), item)]) }
        var text: [UInt8] = []
        try item.encoded().withUnsafeBytes { bytes in
            try CBORJSONWriter.write(bytes, pretty: true) { piece in
                #expect(piece.count < 65 << 10)
                #expect(String(validating: piece, as: UTF8.self) != nil, "a character is divided")
                text += piece
            }
        }
        let lines = text.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 32 + 1 + 48)
        #expect(lines.allSatisfy { $0.prefix { $0 == UInt8(ascii: " ") }.count <= 64 })
        let compact = Data(try StateJSON(item).compact().utf8)
        let values = try [Data(text), compact].map { try #require(JSONSerialization.jsonObject(with: $0) as? NSObject) }
        #expect(values[0] == values[1])
    }

    @Test("any state is written as Foundation's encoder writes it")
    func sameAsFoundation() throws {
        var random = SeededGenerator("States as JSON")
        func item(_ depth: Int) -> CBORValue {
            switch random.below(depth > 0 ? 9 : 6) {
            case 0: .unsigned(random.next() >> UInt64(random.below(64)))
            case 1: .negative(complement: random.next() >> UInt64(random.below(64)))
            case 2: .float(Double(bitPattern: random.next()))
            case 3: .float(Double(random.below(1_000)) / 8)
            case 4: .bytes(random.noise(random.below(30)))
            case 5: .text(String(String.UnicodeScalarView((0..<random.below(8)).map { _ in scalar() })))
            case 6: .array((0..<random.below(4)).map { _ in item(depth - 1) })
            default: .map((0..<random.below(4)).map { (.text("\($0 * 7)\(random.below(3))"), item(depth - 1)) })
            }
        }
        func scalar() -> Unicode.Scalar {
            let scalars: [ClosedRange<UInt32>] = [
                0...0x7f, 0x20...0x7e, 0x80...0x7ff, 0xe000...0xffff, 0x10000...0x10ffff,
            ]
            return Unicode.Scalar(UInt32.random(in: scalars[random.below(5)], using: &random)) ?? "x"
        }
        let encoder = JSONEncoder()
        for number in 0..<2_000 {
            let item = item(4)
            let isPretty = number.isMultiple(of: 2)
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, isPretty ? .prettyPrinted : []]
            let expected = try encoder.encode(StateJSON(item))
            var text = Data()
            try StateContent(item.encoded()).writeJSON(pretty: isPretty) { text += $0 }
            #expect(text == expected, "\(String(decoding: text, as: UTF8.self)) \(random.seed)")
        }
    }

    @Test("an existing file is not changed, even if it is a dangling link")
    func taken() throws {
        let state = try saved([1, 2])
        try sandbox.base.write("file.json", "mine")
        symlink("nowhere", sandbox.base.full("link.json").string)
        for name in ["file.json", "link.json"] as [FilePath] {
            for isDryRun in [false, true] {
                let error = ArchiverError.expect(.targetNotEmpty) {
                    _ = try archive.export(state, to: sandbox.base.full(name), isDryRun: isDryRun)
                }
                #expect(error?.path == sandbox.base.full(name) && error?.remedy != nil)
            }
        }
        #expect(try sandbox.base.read("file.json") == Array("mine".utf8))
        #expect(access(sandbox.base.full("nowhere").string, F_OK) != 0)
        ArchiverError.expect(.noSuchDirectory) {
            _ = try archive.export(state, to: sandbox.base.full("no/such/file.json"))
        }
        ArchiverError.expect(.notDirectory) {
            _ = try archive.export(state, to: sandbox.base.full("file.json/below"))
        }
    }

    @Test("a dry run writes nothing and returns the same result")
    func dryRun() throws {
        let state = try saved([1, 2])
        let target = sandbox.base.full("new.json")
        let planned = try archive.export(state, to: target, isDryRun: true)
        #expect(access(target.string, F_OK) != 0)
        #expect(try archive.export(state, to: target) == planned)
        #expect(try sandbox.base.read("new.json").count == planned.bytes)
    }

    @Test(
        "in a directory the file is named after the title, whatever its characters",
        arguments: [
            ("Best Game Ever", "Best Game Ever.json"), ("a/b/../c", "a_b_.._c.json"), ("..", "_..json"),
            (".hidden", "_hidden.json"), ("-rf", "_rf.json"), ("\u{202E}evil\u{2028}", "_evil_.json"),
            ("say \"hi\" \\ '🎮'", "say \"hi\" \\ '🎮'.json"), ("שלום", "שלום.json"),
            (String(repeating: "é🎮", count: 60), String(repeating: "é🎮", count: 41) + "é.json"),
        ])
    func names(title: String, name: String) throws {
        try sandbox.base.makeDirectory("out")
        symlink("out", sandbox.base.full("alias").string)
        let export = try archive.export(saved([7], as: title), to: sandbox.base.full("alias"))
        #expect(export.destination.lastComponent?.string == name)
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.base.full("out").string) == [name])
        #expect(try StateFile.load([Int].self, from: url(export.destination)) == [7])
    }

    @Test("a check names a damaged state; it cannot be exported, and others can")
    func damage() throws {
        var noise = SystemRandomNumberGenerator()
        func data() -> Data { Data((0..<4_000).map { _ in UInt8.random(in: 0...255, using: &noise) }) }
        let (first, second) = (data(), data())
        let bad = try saved(first, as: "bad")
        let good = try saved(second, as: "good")
        for segment in try Files(archive.directory).segments() {
            let bytes = try Files("/").read(segment)
            guard let range = bytes.firstRange(of: first[1_000..<1_032]) else { continue }
            try Files("/").write(segment, [bytes[range.lowerBound] ^ 1], at: range.lowerBound)
        }
        let again = try sandbox.reopened()
        for data in [true, false] {
            let result = try again.check(data: data ? .all : .none)
            #expect(result.states == 2)
            #expect(result.findings.contains { $0.message.contains(bad.id.short) && $0.message.contains("'bad'") })
            #expect(!result.findings.contains { $0.message.contains(good.id.short) })
        }
        let target = sandbox.base.full("bad.json")
        ArchiverError.expect(.damaged) { _ = try again.export(bad, to: target) }
        #expect(access(target.string, F_OK) != 0)
        _ = try again.export(good, to: sandbox.base.full("good.json"))
        #expect(try StateFile.load(Data.self, from: url(sandbox.base.full("good.json"))) == second)
    }
}
