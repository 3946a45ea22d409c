// An archive as a timeline, compared with the list of its snapshots.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Timeline

@Suite(.blocking) struct ArchiveTimelineTests {
    private let scratch: TemporaryDirectory
    private let archive: Archive
    private let root: FilePath

    init() throws {
        scratch = try TemporaryDirectory()
        archive = try Archive.open(scratch.path.pushing("archive"), creating: true)
        root = scratch.path.pushing("root")
    }

    private func capture(_ count: Int) throws {
        for number in 0..<count {
            try scratch.write("root/file\(number % 3)", "version \(number)")
            _ = try archive.capture(root)
        }
    }

    private func timeline() throws -> ArchiveTimeline {
        ArchiveTimeline(archive, root: try #require(try archive.roots().first), countingInterval: .zero)
    }

    @Test("any number of buckets, and the days, count every listed snapshot once, also after captures and forgetting")
    func buckets() throws {
        try capture(30)
        let timeline = try timeline()
        func expectAll() throws {
            let all = try archive.snapshots()
            let span = try #require(try timeline.span())
            #expect(span.count == all.count && span.first == all.first?.time && span.last == all.last?.time)
            let wide = Timestamp(seconds: span.last.seconds + 86_400 * 400)
            for (end, limit) in [(span.last, 1), (span.last, 7), (span.last, 400), (wide, 1), (wide, 400)] {
                let found = try timeline.buckets(from: span.first, to: end, limit: limit)
                #expect(found.buckets.count <= limit)
                #expect(found.buckets.reduce(0) { $0 + $1.moments } == all.count)
                #expect(found.buckets.reduce(0) { $0 + $1.storedBytes } == all.reduce(0) { $0 + $1.storedBytes })
                let starts = found.buckets.map { $0.start.milliseconds - span.first.milliseconds }
                #expect(starts.allSatisfy { $0 >= 0 && $0 % found.milliseconds == 0 }, "\(starts)")
            }
            let days = try timeline.days().map { [$0.start.seconds, Int64($0.moments), Int64($0.storedBytes)] }
            let counted = try archive.dailyUsage().map { [$0.day.seconds, Int64($0.snapshots), Int64($0.storedBytes)] }
            #expect(days == counted)
        }
        try expectAll()
        try capture(5)
        try expectAll()
        try archive.forget([.snapshot(archive.snapshots()[3]), .snapshot(archive.snapshots()[9])])
        try expectAll()
    }

    @Test("moments before, after, at the end and at an instant are those of the list")
    func places() throws {
        try capture(25)
        let timeline = try timeline()
        let all = try archive.snapshots()
        for index in all.indices {
            let before = all[..<index].suffix(4)
            let after = all[(index + 1)...].prefix(4)
            #expect(try timeline.moments(.before(all[index]), limit: 4) == Array(before))
            #expect(try timeline.moments(.after(all[index]), limit: 4) == Array(after))
            #expect(try timeline.moment(at: all[index].time) == all[index])
        }
        #expect(try timeline.moments(.end, limit: 3) == Array(all.suffix(3)))
        #expect(try timeline.moment(at: Timestamp(seconds: 0)) == all.first, "the first one if none is that old")
    }

    @Test("sessions of any span equal those of the archive, also after captures and forgetting")
    func sessions() throws {
        let printed = SeededGenerator("sessions of a timeline")
        var random = printed
        let commit = try archive.store.beginCommit()
        let node = RawChunk(kind: .node, bytes: Node.leaf([]).encoded())
        if try commit.claim(node.id) { try commit.append(archive.store.encode([node])) }
        try commit.commitChunks()
        var (sequence, time) = (UInt64(0), Int64(1_000_000))
        func add(_ count: Int) throws {
            for _ in 0..<count {
                sequence += 1
                time += [10, 600, 1799, 1800, 4000, -500][random.below(6)]
                let snapshot = Snapshot(
                    time: Timestamp(seconds: time), rootPath: Array(root.bytes), host: "host", cause: .watch,
                    tree: node.id,
                    totals: Totals(), changes: ChangeCounts(added: UInt64(random.below(5))), storedBytes: 3,
                    sequence: sequence, machine: Machine.id)
                _ = try archive.store.beginCommit().commit(snapshot, base: nil)
            }
        }
        try add(80)
        let timeline = try timeline()
        let known = try #require(try archive.roots().first)
        func expectAll() throws {
            let all: [WorkSession] = try archive.sessions(of: known).reversed()
            #expect(
                try timeline.sessions(from: Timestamp(milliseconds: .min), to: Timestamp(milliseconds: .max)) == all,
                "seed \(printed.seed)")
            for _ in 0..<20 {
                let start = Timestamp(seconds: 1_000_000 + Int64(random.below(200_000)))
                let end = Timestamp(seconds: start.seconds + Int64(random.below(20_000)))
                #expect(
                    try timeline.sessions(from: start, to: end)
                        == all.filter { $0.last.time >= start && $0.first.time <= end }, "seed \(printed.seed)")
            }
        }
        try expectAll()
        try add(40)
        try expectAll()
        let all = try archive.snapshots()
        try archive.forget([all[3], all[50], all[51], all[119]].map { .snapshot($0) })
        try expectAll()
    }

    @Test("spans may cover the whole range of times")
    func extremes() throws {
        try capture(2)
        let timeline = try timeline()
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(first.milliseconds == .min && last.milliseconds == .max)
        #expect(try timeline.buckets(from: first, to: last, limit: 400).buckets.reduce(0) { $0 + $1.moments } == 2)
        #expect(try timeline.moment(at: first)?.sequence == 1 && timeline.moment(at: last)?.sequence == 2)
    }
}
