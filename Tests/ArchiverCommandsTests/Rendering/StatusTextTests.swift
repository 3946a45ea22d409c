// The texts of `status` and `audit`.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverCommands
@testable import ArchiverKit
@testable import Replicas
@testable import WatchControl

@Suite(.blocking)
struct StatusTextTests {
    private static func time(_ minutes: Int64) -> String { LocalTime.text(.tenOClock(minutes)) }

    private static func watcher(_ change: (inout WatcherStatus) -> Void = { _ in }) -> WatcherStatus {
        var watcher = WatcherStatus(
            process: 42, phase: .watching, backend: "inotify", since: .tenOClock(0), isCurrent: true,
            probeSeconds: 0.0123, lastEvent: .tenOClock(5), lastCapture: .tenOClock(6), backlog: 0,
            directories: WatcherStatus.Directories(watched: 3), problemCount: 0, problems: [], largeFiles: [],
            openGaps: [],
            lastAudit: nil, failure: nil, fallbacks: [])
        change(&watcher)
        return watcher
    }

    private static func root(
        _ path: FilePath = "/home/ann", watcher: WatcherStatus?, isWatched: Bool = true, lastWatched: Timestamp? = nil,
        retired: Timestamp? = nil, latest: ListedSnapshot? = nil, gaps: [GapRecord] = [], findings: [Finding] = []
    ) -> RootStatus {
        RootStatus(
            root: ArchivedRoot(path: path, host: "here"), isWatched: isWatched, watcher: watcher,
            lastWatched: lastWatched, retired: retired, latest: latest, snapshotCount: latest == nil ? 0 : 2,
            storedInLastDay: 2048, outOfOrder: 0,
            gaps: gaps, findings: findings)
    }

    private static func lines(_ roots: [RootStatus], findings: [Finding] = []) -> [String] {
        let room = ArchiveRoom(
            usedBytes: 2048, freeBytes: 1 << 30, totalBytes: 2 << 30, budget: StorageBudget(), isBudgetSet: false)
        return StatusText.lines(
            ArchiveStatus(
                directory: "/archive", storedBytes: 1024, freeBytes: 1 << 30, room: room,
                places: SegmentPlaces(localBytes: 2048, limit: nil, awaySegments: 0, awayBytes: 0, replicas: []),
                roots: roots,
                limits: WatchLimits(watches: 1000, instances: 128, queuedEvents: 16_384, marks: 2000),
                findings: findings), .plain)
    }

    @Test("one path and one directory are in the singular, and changing files need no access")
    func singular() {
        func findings(_ count: Int, _ reason: Problem.Reason) -> [Finding] {
            RootFindings.of(
                Self.watcher {
                    ($0.problemCount, $0.directories.unreadable) = (count, count)
                    $0.problems = [Problem(path: .root, reason: reason, detail: "why")]
                })
        }
        let one = findings(1, .unreadable)
        #expect(one.map(\.message) == ["1 path could not be captured as it is:  (why)", "1 directory cannot be read"])
        #expect(one.allSatisfy { $0.remedy?.hasPrefix("give the watcher's user access") ?? false })
        let two = findings(2, .unstable)
        #expect(
            two.map(\.message) == ["2 paths could not be captured as they are:  (why)", "2 directories cannot be read"])
        #expect(two.first?.remedy == "wait: files that keep changing are retried")
    }

    @Test("a waiting large file is shown with its reading time and capture interval")
    func largeFile() {
        let file = WatcherStatus.LargeFile(
            path: RelativePath(Array("db/large".utf8)) ?? .root, bytes: 3 << 30, changed: .tenOClock(3),
            captured: .tenOClock(2), readSeconds: 3.6, intervalSeconds: 36)
        let lines = Self.lines([Self.root(watcher: Self.watcher { $0.largeFiles = [file] })])
        let rhythm = "db/large (3.0 GiB, 3.6 s to read) is captured every 36 s while it changes"
        #expect(lines.contains("  \(rhythm); waiting since \(Self.time(3)), captured \(Self.time(2))"), "\(lines)")
        #expect(lines.first == "up to date  /home/ann")
        #expect(
            WatchText.course(.largeFile(root: "/home/ann", file))
                == "/home/ann: \(rhythm), all other files immediately")
    }

    @Test("a healthy status shows the watcher, its events and the archive's contents")
    func well() {
        let record = ListedSnapshot.made(1, at: 6)
        #expect(
            Self.lines([Self.root(watcher: Self.watcher(), latest: record)]) == [
                "up to date  /home/ann",
                "  by process 42 since \(Self.time(0)), inotify; it answered in 12 ms",
                "  3 directories watched",
                "  last event \(Self.time(5)), last capture \(Self.time(6))",
                "  latest snapshot \(record.id.short) (\(Self.time(6))), 2 in all, 2.0 KiB stored in the last day",
                "",
                "archive /archive: 2 snapshots, 2.0 KiB (1.0 KiB of it data), 1.0 GiB free",
                "limits: 1000 directories by inotify, 2000 by fanotify, 16384 events waiting; watched here: 3",
            ])
    }

    @Test("each root has its own lines, and watched directories are summed")
    func severalRoots() {
        let lines = Self.lines([
            Self.root(watcher: Self.watcher(), latest: .made(1, at: 6)),
            Self.root("/home/bob", watcher: nil, isWatched: false, lastWatched: .tenOClock(1)),
            Self.root("/home/cid", watcher: Self.watcher { $0.directories.watched = 4 }, latest: .made(2, at: 6)),
        ])
        #expect(
            lines.filter { !$0.hasPrefix(" ") && $0.contains("/home/") } == [
                "up to date  /home/ann", "not watched  /home/bob", "up to date  /home/cid",
            ])
        #expect(lines.contains("  last watched \(Self.time(1))"))
        #expect(lines.contains("archive /archive: 4 snapshots, 2.0 KiB (1.0 KiB of it data), 1.0 GiB free"))
        #expect(lines.last?.hasSuffix("watched here: 7") == true)
    }

    @Test(
        "the first words are the state of the root",
        arguments: [
            (.waiting, true, "waiting"), (.reading, true, "reading"), (.unavailable, true, "unavailable"),
            (.watching, true, "up to date"), (.watching, false, "behind"),
        ] as [(WatcherStatus.Phase, Bool, String)])
    func phases(phase: WatcherStatus.Phase, isCurrent: Bool, word: String) {
        let watcher = Self.watcher { ($0.phase, $0.isCurrent) = (phase, isCurrent) }
        #expect(Self.lines([Self.root(watcher: watcher)]).first == "\(word)  /home/ann")
    }

    @Test("a watcher without an answer and a missing watcher are distinguished")
    func silence() {
        #expect(Self.lines([Self.root(watcher: nil)]).first == "no answer  /home/ann")
        #expect(Self.lines([Self.root(watcher: nil, isWatched: false)]).first == "not watched  /home/ann")
    }

    @Test("directories without events and places to check are counted")
    func directories() {
        let watcher = Self.watcher {
            $0.directories = WatcherStatus.Directories(
                watched: 1, polled: 2, unreadable: 3, mountPoints: 4, excluded: 5)
            $0.backlog = 6
            $0.lastEvent = nil
            $0.probeSeconds = 12.3
        }
        let lines = Self.lines([Self.root(watcher: watcher)])
        #expect(lines[1].hasSuffix("it answered in 12 s"))
        #expect(
            lines[2] == "  1 directory watched, 2 polled, 3 unreadable, 4 mount points not entered, 5 excluded; "
                + "6 places to check")
        #expect(lines[3] == "  last event none, last capture \(Self.time(6))")
    }

    @Test("open and closed gaps and the last audit are shown")
    func gaps() {
        let watcher = Self.watcher {
            $0.openGaps = [WatcherStatus.OpenGap(cause: .polling, start: .tenOClock(2))]
            $0.lastAudit = AuditResult(time: .tenOClock(3), seconds: 0.5, entries: 9, found: 1, repaired: 2)
        }
        let lines = Self.lines([Self.root(watcher: watcher, gaps: [.lasting(1, to: 2, .overflow)])])
        #expect(lines.contains("  since \(Self.time(2)) changes may be seen late (polling)"))
        #expect(
            lines.contains(
                "  last audit \(Self.time(3)): 9 entries in 500 ms, 1 change without an event, captured now, "
                    + "2 directories watched again"))
        #expect(
            lines.contains(
                "  changes from \(Self.time(1)) to \(Self.time(2)) may have been seen late (too many events at once)"))
    }

    @Test("every cause of a gap has its own words", arguments: GapCause.allCases)
    func causes(_ cause: GapCause) {
        #expect(cause.words != cause.rawValue)
        #expect(GapCause.allCases.count { $0.words == cause.words } == 1)
    }

    @Test("an audit without findings reports that")
    func audit() {
        let result = AuditResult(time: .tenOClock(3), seconds: 20, entries: 9, found: 0, repaired: 0)
        #expect(StatusText.audit("/home/ann", result) == "/home/ann: 9 entries in 20 s, nothing missed")
    }

    @Test("findings follow the root or the archive that they concern, with remedies")
    func findings() {
        let lines = Self.lines(
            [Self.root(watcher: nil, isWatched: false, findings: [Finding("it is gone", remedy: "bring it back")])],
            findings: [Finding("nothing is watched")])
        #expect(lines[1] == "! it is gone — bring it back")
        #expect(lines[2] == "")
        #expect(lines.last == "! nothing is watched")
    }

    @Test("names cannot break a line or control the terminal")
    func escapes() {
        let path = FilePath(bytes: Array("/home/\u{1B}]0;x\u{07}\n".utf8) + [0xFF])
        let finding = Finding("cannot read \u{1B}[2J\nx", remedy: "run \u{9B}x")
        let lines = Self.lines([Self.root(path, watcher: Self.watcher(), findings: [finding])], findings: [finding])
        #expect(lines.first == "up to date  /home/\\x1b]0;x\\x07\\x0a\\xff")
        #expect(lines.count { $0 == "! cannot read \\x1b[2J\\x0ax — run \\xc2\\x9bx" } == 2)
        let isSafe = lines.joined().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        #expect(isSafe)
    }
}
