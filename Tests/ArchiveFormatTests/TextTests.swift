// Times, ids, base64 and the manifest as text.

import ArchiveFormat
import FileIO
import Foundation
import TestSupport
import Testing

@Suite("Times as text")
struct TimestampTextTests {
    @Test("the civil date equals that of the C library for any time that it supports")
    func againstLibrary() throws {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let seconds = Int64(bitPattern: random.number()) / 4_000_000
            var time = time_t(seconds)
            var parts = tm()
            #expect(gmtime_r(&time, &parts) != nil)
            let date = CivilDate(Timestamp(seconds: seconds))
            #expect(date.year == Int64(parts.tm_year) + 1900, "seed \(random.seed)")
            #expect(date.month == Int(parts.tm_mon) + 1 && date.day == Int(parts.tm_mday), "seed \(random.seed)")
            #expect(
                date.hour == Int(parts.tm_hour) && date.minute == Int(parts.tm_min) && date.second == Int(parts.tm_sec),
                "seed \(random.seed)")
            #expect(date.seconds == seconds, "seed \(random.seed)")
        }
    }

    @Test(
        "a time is written in UTC with nine digits",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000000000Z"), (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (1_795_256_130, 123_456_789, "2026-11-21T10:15:30.123456789Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000000001Z"), (-62_167_219_200, 0, "0000-01-01T00:00:00.000000000Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59.000000000Z"),
            (253_402_300_800, 0, "+10000-01-01T00:00:00.000000000Z"),
            (-62_167_219_201, 0, "-0001-12-31T23:59:59.000000000Z"),
        ])
    func written(seconds: Int64, nanoseconds: UInt32, text: String) {
        let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(time.rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == time)
    }

    @Test("any time reads back as it was written")
    func roundTrip() {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let time = random.timestamp()
            #expect(Timestamp(rfc3339: time.rfc3339) == time, "seed \(random.seed)")
        }
        #expect(Timestamp(seconds: .max).rfc3339 == "+292277026596-12-04T15:30:07.000000000Z")
        #expect(Timestamp(rfc3339: Timestamp(seconds: .max).rfc3339) == Timestamp(seconds: .max))
    }

    @Test(
        "offsets, fractions and the examples of RFC 3339 are read",
        arguments: [
            ("1985-04-12T23:20:50.52Z", 482_196_050, 520_000_000), ("1996-12-19T16:39:57-08:00", 851_042_397, 0),
            ("1990-12-31T23:59:60Z", 662_688_000, 0), ("1990-12-31T15:59:60-08:00", 662_688_000, 0),
            ("1937-01-01T12:00:27.87+00:20", -1_041_337_173, 870_000_000), ("1970-01-01t00:00:01z", 1, 0),
            ("1970-01-01 00:00:01Z", 1, 0), ("1970-01-01T00:00:00-00:00", 0, 0),
            ("1970-01-01T00:00:00.1234567899999Z", 0, 123_456_789),
        ])
    func read(text: String, seconds: Int64, nanoseconds: UInt32) {
        #expect(Timestamp(rfc3339: text) == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(
        "any other text is refused",
        arguments: [
            "", "1970-01-01", "1970-01-01T00:00:00", "1970-1-01T00:00:00Z", "1970-13-01T00:00:00Z",
            "1970-00-01T00:00:00Z", "1970-01-32T00:00:00Z", "1970-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:61Z", "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00Zx", "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+00:60",
            "1970-01-01T00:00:00+0000", "70-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-1970-01-01T00:00:00",
            "+999999999999-01-01T00:00:00Z", "1970-01-01T00:00:00,5Z", " 1970-01-01T00:00:00Z",
        ])
    func refused(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}

@Suite("Ids and base64")
struct IdentifierTextTests {
    @Test("base64 equals that of Foundation, and other text is refused")
    func base64() {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let bytes = random.bytes(0, 20)
            let text = Base64.string(bytes)
            #expect(text == Data(bytes).base64EncodedString(), "seed \(random.seed)")
            #expect(Base64.bytes(text) == bytes, "seed \(random.seed)")
        }
        for text in ["a", "aa", "aaa", "aa=", "aaa==", "aa==aa==", "ab==", "a===", "aaaa=", "aa a", "_w=="] {
            #expect(Base64.bytes(text) == nil, "\(text)")
        }
    }

    @Test("a random id reads back as it was written, and two ids differ")
    func randomID() throws {
        let id = ArchiveID.random()
        #expect(id != ArchiveID.random())
        #expect(id.hex.count == 32 && id.bytes.count == 16)
        #expect(ArchiveID(hex: id.hex) == id)
        #expect(id.bytes.withUnsafeBytes { ArchiveID(exactly: $0) } == id)
        #expect(Hex.string(id.bytes) == id.hex)
        for text in ["", "00", id.hex + "00", String(id.hex.dropLast()) + "g"] { #expect(ArchiveID(hex: text) == nil) }
    }
}

@Suite("archive.json")
struct ArchiveManifestTests {
    private func manifest() throws -> ArchiveManifest {
        ArchiveManifest(
            id: try #require(ArchiveID(hex: "000102030405060708090a0b0c0d0e0f")),
            created: Timestamp(seconds: 1, nanoseconds: 5))
    }

    @Test("the manifest is JSON with sorted keys and a newline, and reads back as it was written")
    func written() throws {
        let text = """
            {
              "checksum" : "CHECKSUM",
              "created" : "1970-01-01T00:00:01.000000005Z",
              "format" : "archiver",
              "id" : "000102030405060708090a0b0c0d0e0f",
              "parameters" : {
                "chunkingSeed" : "0000000000000000",
                "hash" : "sha-256",
                "segmentBytes" : 67108864,
                "treeSeed" : "0000000000000000"
              },
              "version" : 1
            }

            """
        let zeros = Array(text.replacing("CHECKSUM", with: String(repeating: "0", count: 64)).utf8)
        let whole = text.replacing("CHECKSUM", with: ChunkID(hashing: zeros).hex)
        #expect(String(decoding: try manifest().encoded(), as: UTF8.self) == whole)
        #expect(try ArchiveManifest(decoding: Array(whole.utf8)) == manifest())
    }

    @Test("seeds read back as they were written")
    func seeds() throws {
        let parameters = ArchiveManifest.Parameters(chunkingSeed: .init(0x0102_0304_0506_0708), treeSeed: .init(.max))
        let manifest = ArchiveManifest(id: try manifest().id, created: Timestamp(seconds: 0), parameters: parameters)
        let text = String(decoding: manifest.encoded(), as: UTF8.self)
        #expect(
            text.contains(#""chunkingSeed" : "0102030405060708""#) && text.contains(#""treeSeed" : "ffffffffffffffff""#)
        )
        #expect(try ArchiveManifest(decoding: manifest.encoded()) == manifest)
    }

    @Test("a newer version is refused by its number, whatever else the file holds")
    func newer() {
        let text = #"{"format": "archiver", "version": 7, "id": {"new": "form"}}"#
        #expect(throws: FormatError.unknownVersion(7)) { try ArchiveManifest(decoding: Array(text.utf8)) }
    }

    @Test("any changed byte of archive.json is detected")
    func changedByte() throws {
        let good = try manifest().encoded()
        for index in good.indices {
            var bytes = good
            bytes[index] ^= 1
            #expect(throws: FormatError.self, "byte \(index)") { try ArchiveManifest(decoding: bytes) }
        }
    }

    @Test("members of later programs are kept, and the features that they require are known")
    func later() throws {
        let plain = try manifest()
        let later = ArchiveManifest(
            id: plain.id, created: plain.created, revision: 3, requiresToRead: [], requiresToWrite: ["tape-2"])
        #expect(try ArchiveManifest(decoding: later.encoded()) == later)
        #expect(later.obstacleToWriting == "tape-2" && later.obstacleToReading == nil)
        let both = ArchiveManifest(id: plain.id, created: plain.created, requiresToRead: ["x"])
        #expect(both.obstacleToReading == "x" && both.obstacleToWriting == "x")
        let text = String(decoding: later.encoded(), as: UTF8.self)
        let unknown = try resealed(text.replacing("\"format\"", with: "\"colour\" : [1],\n  \"format\""))
        #expect(try ArchiveManifest(decoding: unknown).encoded() == unknown)
        let hash = try resealed(text.replacing("sha-256", with: "blake3"))
        #expect(throws: FormatError.unknownFeature("the hash blake3")) { try ArchiveManifest(decoding: hash) }
        for word in ["", "Upper", "a b", String(repeating: "a", count: 65)] {
            let bytes = try resealed(text.replacing("tape-2", with: word))
            #expect(throws: FormatError.self, "\(word)") { try ArchiveManifest(decoding: bytes) }
        }
    }

    /// The text with the checksum that it should have.
    private func resealed(_ text: String) throws -> [UInt8] {
        let old = try #require(text.firstMatch(of: /"checksum" : "([0-9a-f]{64})"/)).output.1
        let zeros = text.replacing(old, with: String(repeating: "0", count: 64))
        return Array(text.replacing(old, with: ChunkID(hashing: Array(zeros.utf8)).hex).utf8)
    }

    @Test("a text that is not a manifest is refused")
    func refused() throws {
        let good = String(decoding: try manifest().encoded(), as: UTF8.self)
        let texts = [
            "", "{}", "[]", "{\"format\": \"archiver\"}", good.replacing("archiver", with: "other"),
            good.replacing("\"version\" : 1", with: "\"version\" : 0"), good.replacing("0f\"", with: "0\""),
            good.replacing("67108864", with: "0"), good.replacing("0000000000000000", with: "0"),
            good.replacing("1970-", with: "70-"), good.replacing("}", with: ""),
        ]
        for text in texts {
            #expect(throws: FormatError.self, "\(text)") { try ArchiveManifest(decoding: Array(text.utf8)) }
        }
    }
}
