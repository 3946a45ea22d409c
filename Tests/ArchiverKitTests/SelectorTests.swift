// Snapshot selectors: ids, labels, order, times, and paths after them.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct SelectorTests {
    // MARK: Finding

    @Test("snapshots are found by id, order and label") func idOrderLabel() throws {
        let sandbox = try Sandbox()
        var snapshots: [ListedSnapshot] = []
        for number in 0..<5 {
            try sandbox.root.write("file", "\(number)")
            snapshots.append(
                try sandbox.capture(label: number == 4 ? nil : number == 3 ? "label 1" : "label \(number)"))
        }
        let archive = sandbox.archive
        let root = try #require(try archive.roots().first)
        let cases: [(String, Int)] = [
            ("latest", 4), ("latest~0", 4), ("latest~1", 3), ("latest~4", 0), ("label 0", 0), ("label 2", 2),
            // The newest snapshot with the label.
            ("label 1", 3),
        ]
        for (text, wanted) in cases {
            #expect(try archive.snapshot(SnapshotSelector(text)).id == snapshots[wanted].id, "\(text)")
            #expect(try archive.snapshot(SnapshotSelector(text), of: root).id == snapshots[wanted].id, "\(text)")
        }
        for snapshot in snapshots {
            for count in [8, 20, 64] {
                let prefix = String(snapshot.id.hex.prefix(count))
                #expect(try archive.snapshot(SnapshotSelector(prefix)).id == snapshot.id)
                #expect(try archive.snapshot(SnapshotSelector(prefix.uppercased())).id == snapshot.id)
            }
        }
        for text in ["latest~5", "no such label", "feedfacefeedface", "@1970-01-02", String(repeating: "a", count: 65)]
        {
            ArchiverError.expect(.noSuchSnapshot) { _ = try archive.snapshot(SnapshotSelector(text)) }
        }
    }

    @Test("order and time without a root are ambiguous in an archive of several roots, with the candidates listed")
    func severalRoots() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "1")
        let first = try sandbox.capture(label: "labelled")
        let other = try Sandbox()
        try other.root.write("file", "2")
        let second = try #require(try sandbox.archive.capture(other.root.directory).snapshot)
        for text in ["latest", "latest~1", "oldest", "@now", "@1d"] {
            let error = ArchiverError.expect(.ambiguousSelector) {
                _ = try sandbox.archive.snapshot(SnapshotSelector(text))
            }
            #expect(error?.message.contains("\(sandbox.root.directory)") == true, "\(text)")
            #expect(error?.candidates.count == 2)
        }
        #expect(try sandbox.archive.snapshot("labelled").id == first.id)
        #expect(try sandbox.archive.snapshot(SnapshotSelector(second.id.hex)).id == second.id)
        #expect(try sandbox.archive.snapshot(.latest, of: first.root).id == first.id)
    }

    @Test("the error of an ambiguous prefix lists the candidates") func ambiguousPrefix() throws {
        let sandbox = try Sandbox()
        var byDigit: [Character: [ListedSnapshot]] = [:]
        // Among 17 ids, two begin with the same digit.
        for number in 0..<17 {
            try sandbox.root.write("file", "\(number)")
            let snapshot = try sandbox.capture()
            byDigit[snapshot.id.hex.first ?? "-", default: []].append(snapshot)
        }
        for (digit, snapshots) in byDigit where snapshots.count > 1 {
            let error = ArchiverError.expect(.ambiguousSelector) {
                _ = try sandbox.archive.snapshot(SnapshotSelector(String(digit)))
            }
            #expect(Set(error?.candidates.map(\.id) ?? []) == Set(snapshots.map(\.id.chunk)))
        }
    }

    @Test("a time selects the state at that moment") func time() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "1")
        let first = try sandbox.capture()
        try sandbox.root.write("file", "2")
        let second = try sandbox.capture()
        #expect(try sandbox.archive.snapshot("@now").id == second.id)
        #expect(try sandbox.archive.snapshot("@0s").id == second.id)
        #expect(try sandbox.archive.snapshot("@today").id == second.id)
        for (moment, wanted) in [(first.time, first), (second.time, second)] {
            let text = SelectorTests.exactly(moment)
            #expect(try sandbox.archive.snapshot(SnapshotSelector("@" + text)).id == wanted.id, "\(text)")
        }
        let between = SelectorTests.exactly(second.time.advanced(byNanoseconds: -1))
        #expect(try sandbox.archive.snapshot(SnapshotSelector("@" + between)).id == first.id)
        let before = SelectorTests.exactly(first.time.advanced(byNanoseconds: -1))
        ArchiverError.expect(.noSuchSnapshot) { _ = try sandbox.archive.snapshot(SnapshotSelector("@" + before)) }
    }

    @Test("a root is found from a directory within it") func rootFromWithin() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d/inner")
        try sandbox.capture()
        let inner = sandbox.root.full("d/inner")
        _ = try sandbox.archive.capture(sandbox.root.full("d"))
        #expect(try sandbox.archive.root(holding: inner)?.path == sandbox.root.full("d"))
        #expect(try sandbox.archive.root(holding: sandbox.root.directory)?.path == sandbox.root.directory)
        #expect(try sandbox.archive.root(holding: sandbox.base.directory) == nil)
        let roots = try sandbox.archive.roots()
        #expect(roots.map(\.path) == [sandbox.root.directory, sandbox.root.full("d")])
        for root in roots {
            let found = try sandbox.archive.snapshot(.latest, of: root)
            #expect(FilePath(raw: found.rootPath) == root.path)
        }
    }

    // MARK: Reading

    @Test(
        "malformed selectors are refused",
        arguments: [
            "", "~", "~1", "latest~x", "latest~-1", "latest~1.5", "a~b~1", "a:b", "@2 hours", "@hours ago",
            "@2 hoursago",
            "@next monday", "@mondays", "@", "@10", "@10x", "@m10",
            "@tomorrow",
            "@nowhere", "@2h30", "@24:00", "@12:60", "@1:2", "@2026-13-01", "@2026-00-01", "@2026-02-30", "@2025-02-29",
            "@1900-02-29", "@2026-11-31",
            "@2026-1-1", "@2026-11-21 25:00", "@2026-11-21T10:00+1", "@10m ", "@ 10m", "@99999999999y", "@-10m",
        ])
    func malformedSelectors(text: String) throws {
        let error = ArchiverError.expect(.malformedSelector) { _ = try SnapshotSelector(text) }
        #expect(error?.remedy != nil)
        #expect(error?.message.contains("'\(text)'") == true)
    }

    /// A time without seconds means the end of the minute, a date the end of the day.
    ///
    /// The oracle is date(1), in a zone with summer time.
    @Test(
        "times are parsed as date(1) parses them",
        arguments: [
            ("2026-11-21 10:00:30.25", "2026-11-21 10:00:30.25"),
            ("2026-11-21 10:00:30", "2026-11-21 10:00:30.999999999"),
            ("2026-11-21 10:00", "2026-11-21 10:00:59.999999999"),
            ("2026-11-21T10:00", "2026-11-21 10:00:59.999999999"),
            ("2026-11-21 9:05", "2026-11-21 09:05:59.999999999"), ("2026-11-21", "2026-11-21 23:59:59.999999999"),
            ("2026-07-01 10:00", "2026-07-01 10:00:59.999999999"), ("2024-02-29", "2024-02-29 23:59:59.999999999"),
            ("2026-11-21T10:00:00.5Z", "2026-11-21 10:00:00.5 UTC"),
            ("2026-07-01T10:00Z", "2026-07-01 10:00:59.999999999 UTC"),
            ("2026-11-21T10:00:00.123456789+05:30", "2026-11-21 10:00:00.123456789 +05:30"),
            ("2026-11-21 10:00:00.5-08:00", "2026-11-21 10:00:00.5 -08:00"),
            ("1969-12-31", "1969-12-31 23:59:59.999999999"),
        ])
    func times(text: String, meaning: String) throws {
        TestZone.use()
        let found = try SnapshotSelector.time(text)
        let wanted = try SelectorTests.date(meaning)
        #expect(found == wanted)
    }

    @Test(
        "a duration means that long before now",
        arguments: [
            ("0s", 0), ("90s", 90), ("10m", 600), ("2h30m", 9000), ("3d", 259_200), ("1w", 604_800),
            ("1w1d1h1m1s", 694_861),
        ])
    func timesAgo(text: String, seconds: Int64) throws {
        let before = Timestamp.now
        let found = try SnapshotSelector.time(text)
        let after = Timestamp.now
        #expect(found >= before.advanced(byNanoseconds: -seconds * 1_000_000_000))
        #expect(found <= after.advanced(byNanoseconds: -seconds * 1_000_000_000))
    }

    @Test(
        "a time in words means that long before now",
        arguments: [
            ("2 hours ago", 7200), ("an hour ago", 3600), ("10 minutes ago", 600), ("1 day 2 hours ago", 93600),
            ("1 week and 1 second ago", 604_801), ("90 Min ago", 5400), ("10m ago", 600), ("a day ago", 86400),
        ])
    func timesInWords(text: String, seconds: Int64) throws {
        let before = Timestamp.now
        let found = try SnapshotSelector.time(text)
        #expect(found >= before.advanced(byNanoseconds: -seconds * 1_000_000_000))
        #expect(found <= Timestamp.now.advanced(byNanoseconds: -seconds * 1_000_000_000))
    }

    @Test("a weekday is one of the seven days before today, and may have a time of day")
    func weekdays() throws {
        TestZone.use()
        let names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
        for (weekday, name) in names.enumerated() {
            for text in [name, "last \(name)", String(name.prefix(3)), name.capitalized] {
                let found = try SnapshotSelector.time(text)
                var seconds = time_t(found.seconds)
                var fields = tm()
                localtime_r(&seconds, &fields)
                #expect(Int(fields.tm_wday) == weekday, "\(text)")
                #expect((fields.tm_hour, fields.tm_min) == (23, 59), "\(text)")
                let daysAgo = (Timestamp.now.seconds - found.seconds) / 86_400
                #expect((0...7).contains(daysAgo), "\(text)")
            }
            let found = try SnapshotSelector.time("\(name) 9:05")
            #expect(try found <= SnapshotSelector.time(name) && found >= SnapshotSelector.time(name, isStart: true))
        }
        #expect(try SnapshotSelector.time("yesterday 14:05") == SelectorTests.date("yesterday 14:05:59.999999999"))
    }

    @Test("a time in the future is refused, but not today")
    func futureTimes() throws {
        for text in ["@2999-12-31", "@2999-12-31 10:00"] {
            let error = ArchiverError.expect(.malformedSelector) { _ = try SnapshotSelector(text) }
            #expect(error?.message.contains("is in the future") == true)
        }
        _ = try SnapshotSelector.init("@today")
    }

    @Test("oldest is the first snapshot, and ~ counts back from any selector within the root")
    func backFromAny() throws {
        let sandbox = try Sandbox()
        var ids: [SnapshotID] = []
        for number in 0..<4 {
            try sandbox.root.write("file", "\(number)")
            ids.append(try sandbox.capture(label: number == 2 ? "draft" : nil).id)
        }
        try sandbox.root.makeDirectory("d")
        _ = try sandbox.archive.capture(sandbox.root.full("d"))
        let root = try #require(try sandbox.archive.roots().first)
        let cases = [
            ("oldest", 0), ("latest~", 2), ("latest~3", 0), ("draft~1", 1), ("draft~", 1), ("draft~0", 2),
            ("\(ids[3].hex.prefix(12))~2", 1), ("@now~1", 2),
        ]
        for (text, wanted) in cases {
            #expect(try sandbox.archive.snapshot(SnapshotSelector(text), of: root).id == ids[wanted], "\(text)")
        }
        for text in ["oldest~1", "draft~3"] {
            ArchiverError.expect(.noSuchSnapshot) {
                _ = try sandbox.archive.snapshot(SnapshotSelector(text), of: root)
            }
        }
    }

    @Test(
        "a label that could be read as another selector is refused with the reason",
        arguments: [
            ("", "blank"), ("  ", "blank"), (" a", "begins or ends with a blank"), ("-x", "begins with '-'"),
            ("@noon", "begins with '@'"), ("latest", "is reserved"), ("oldest", "is reserved"),
            ("a:b", "':'"), ("a~1", "'~'"), ("deadbeef", "looks like the id"), ("2026", "looks like the id"),
            ("a\u{1B}b", "control characters"),
        ])
    func labels(text: String, reason: String) throws {
        let error = ArchiverError.expect(.malformedSelector) { try SnapshotSelector.checkLabel(text) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    /// The last such moment: today's, or else yesterday's.
    @Test("a time of day means its last occurrence") func clockTimes() throws {
        TestZone.use()
        for hour in 0..<24 {
            for (text, end) in [("\(hour):07", 59), ("\(hour):07:30", 30)] {
                let before = Timestamp.now
                let found = try SnapshotSelector.time(text)
                var seconds = time_t(found.seconds)
                var fields = tm()
                localtime_r(&seconds, &fields)
                #expect((Int(fields.tm_hour), fields.tm_min, Int(fields.tm_sec)) == (hour, 7, end), "\(text)")
                // The current minute counts as past.
                #expect(found.seconds <= before.seconds + 60, "\(text)")
                #expect(found.seconds > before.seconds - 25 * 3600, "\(text)")
            }
        }
    }

    @Test("today and yesterday are days") func daysAsWords() throws {
        TestZone.use()
        #expect(try SnapshotSelector.time("today", isStart: true) == SelectorTests.date("today 00:00"))
        #expect(try SnapshotSelector.time("yesterday", isStart: true) == SelectorTests.date("yesterday 00:00"))
        #expect(try SnapshotSelector.time("yesterday") == SelectorTests.date("yesterday 23:59:59.999999999"))
    }

    /// A selector means the state at the end of a span; "since" means the start of the span.
    @Test("days and minutes can mean their start") func startOfSpan() throws {
        TestZone.use()
        #expect(
            try SnapshotSelector.time("2026-07-01", isStart: true) == SelectorTests.date("2026-07-01 00:00"))
        #expect(
            try SnapshotSelector.time("2026-07-01 10:05", isStart: true) == SelectorTests.date("2026-07-01 10:05"))
    }

    // MARK: Paths after selectors

    @Test(
        "a path may follow a selector",
        arguments: [
            ("latest", "latest", nil), ("latest:", "latest", ""), ("latest:a/b", "latest", "a/b"),
            ("latest~2:./a//b/", "latest~2", "a/b"), ("3fa9c2:with:colons:", "3fa9c2", "with:colons:"),
            ("a label:file", "a label", "file"), ("@10m:file", "@10m", "file"), ("@14:05:file", "@14:05", "file"),
            ("@14:05:09:file", "@14:05:09", "file"), ("@2026-11-21:file", "@2026-11-21", "file"),
            ("@2026-11-21 10:00:file", "@2026-11-21 10:00", "file"),
            ("@2026-11-21T10:00:00+01:00:file:1", "@2026-11-21T10:00:00+01:00", "file:1"), ("latest:.", "latest", ""),
        ] as [(String, String, String?)])
    func pathsBehindSelectors(text: String, selector: String, path: String?) throws {
        let found = try SnapshotSelector.parseWithPath(Array(text.utf8))
        #expect(found.selector.description == selector)
        #expect(found.path?.bytes == path.map { Array($0.utf8) })
    }

    @Test("a path after a selector may be any bytes") func pathBytes() throws {
        let found = try SnapshotSelector.parseWithPath(Array("latest:".utf8) + [0xFF, 0x0A, 0x80])
        #expect(found.path?.bytes == [0xFF, 0x0A, 0x80])
    }

    @Test(
        "malformed paths are refused",
        arguments: ["latest:/absolute", "latest:../up", "latest:a/../b", "nonsense~x:a", ":a", "@10x:a"])
    func malformedPaths(text: String) {
        ArchiverError.expect(.malformedSelector) { _ = try SnapshotSelector.parseWithPath(Array(text.utf8)) }
    }

    // MARK: -

    /// An instant to the nanosecond in UTC.
    private static func exactly(_ time: Timestamp) -> String {
        var seconds = time_t(time.seconds)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        var text = [UInt8](repeating: 0, count: 64)
        let length = text.withUnsafeMutableBytes { buffer in
            strftime(buffer.baseAddress, buffer.count, "%Y-%m-%dT%H:%M:%S", &fields)
        }
        let fraction = String(1_000_000_000 + Int(time.nanoseconds)).dropFirst()
        return String(decoding: text[..<length], as: UTF8.self) + "." + fraction + "Z"
    }

    /// The time that date(1) makes of `text`.
    private static func date(_ text: String) throws -> Timestamp {
        let words = try ChildProcess.run(["date", "-d", text, "+%s %N"], environment: ["TZ": TestZone.name]).text.split
        {
            " \n".contains($0)
        }
        let seconds = try #require(words.first.flatMap { Int64($0) })
        let nanoseconds = try #require(words.last.flatMap { UInt32($0) })
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }
}
