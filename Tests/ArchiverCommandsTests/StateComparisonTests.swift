// Comparing saved states field by field.

import ArchiveFormat
import ArchiverKit
import Foundation
import SavedStates
import TestSupport
import TestTraits
import Testing

@testable import ArchiverCommands

@Suite(.blocking)
struct StateComparisonTests {
    private func lines(_ left: some Encodable, _ right: some Encodable, widest: Int? = nil) throws -> [String] {
        func json(_ value: some Encodable) throws -> StateJSON {
            StateJSON(try CBORValue(decoding: CBOREncoder().encode(value)))
        }
        return try StateComparison.differences(from: json(left), to: json(right)).map {
            try StateDifferenceReport.line($0, .plain, widest: widest)
        }
    }

    @Test("added, removed and changed fields are in the order of their names")
    func fields() throws {
        struct Player: Encodable {
            var name = "a"
            var score: Double? = 1.5
            var tags: [String: Int]? = ["x": 1]
            var home: URL?
            var data = Data([1])
            var old: Bool?
        }
        #expect(try lines(Player(), Player()) == [])
        let other = Player(name: "b", score: nil, tags: ["x": 2, "y": 3], data: Data([2]), old: true)
        #expect(
            try lines(Player(), other) == [
                "~ data: \"AQ==\" → \"Ag==\"", "~ name: \"a\" → \"b\"", "+ old: true", "- score: 1.5",
                "~ tags.x: 1 → 2", "+ tags.y: 3",
            ])
        #expect(try lines(7, 8) == ["~ .: 7 → 8"])
        #expect(try lines([1], ["a": 1]) == ["~ .: [1] → {\"a\":1}"])
        #expect(try lines(["a": Int?.none], ["a": 1]) == ["~ a: null → 1"])
        #expect(try lines(["a": Double.nan], ["a": Double.nan]) == [])
    }

    @Test("in lists, inserted, removed and changed items are distinguished from moved ones")
    func lists() throws {
        #expect(try lines([1, 2, 3], [0, 1, 2, 3]) == ["+ 0: 0"])
        #expect(try lines([1, 2, 3, 4], [1, 4]) == ["- 1: 2", "- 2: 3"])
        #expect(try lines([1, 2, 3], [1, 9, 3, 4]) == ["~ 1: 2 → 9", "+ 3: 4"])
        #expect(try lines([["n": 1, "m": 0], ["n": 2, "m": 0]], [["n": 2, "m": 0]]) == ["- 0: {\"m\":0,\"n\":1}"])
        #expect(try lines(["items": [[1], [2, 3]]], ["items": [[1], [2, 4]]]) == ["~ items.1.1: 3 → 4"])
    }

    @Test("ambiguous names are quoted, and nothing controls the terminal")
    func names() throws {
        let keys = ["a.b", "", "a b", "c:", "\"", "é\u{202E}", "🎮", "7", "-1"]
        let left: [String: Int] = [:]
        let right = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })
        #expect(
            Set(try lines(left, right)) == [
                "+ \"a.b\": 1", "+ \"\": 1", "+ \"a b\": 1", "+ \"c:\": 1", "+ \"\\\"\": 1",
                "+ é\\xe2\\x80\\xae: 1", "+ 🎮: 1", "+ 7: 1", "+ -1: 1",
            ])
        #expect(try lines("\u{1B}[2J", "\u{9B}") == ["~ .: \"\\u001b[2J\" → \"\\xc2\\x9b\""])
    }

    @Test("long values are cut on request")
    func cutting() throws {
        let long = String(repeating: "x", count: 100)
        #expect(try lines("", long, widest: 10) == ["~ .: \"\" → \"xxxxxxxx…"])
        #expect(try lines("", long) == ["~ .: \"\" → \"\(long)\""])
    }

    @Test("applying the differences to one list yields the other")
    func random() throws {
        var random = SeededGenerator("StateComparisonTests")
        for _ in 0..<200 {
            let left = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...4, using: &random) }
            let right = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...4, using: &random) }
            func item(_ list: [Int]) -> StateJSON { StateJSON(.array(list.map { CBORValue($0) })) }
            var old: [Int?] = left
            var new = [Int?](repeating: nil, count: right.count)
            for difference in try StateComparison.differences(from: item(left), to: item(right)) {
                let place = try #require(Int(difference.path))
                switch difference.change {
                case .removed:
                    #expect(try difference.old?.compact() == "\(left[place])")
                    old[place] = nil
                case .added, .modified: new[place] = right[place]
                }
            }
            // Items without a difference are equal on both sides; a changed item takes the place of an equal one.
            let reported = new.compactMap { $0 }.count
            #expect(old.compactMap { $0 }.count >= right.count - reported)
            if left == right { #expect(reported == 0) }
        }
    }
}
