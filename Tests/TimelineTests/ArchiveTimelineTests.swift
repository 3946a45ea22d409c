// An archive as a timeline, against the list of its snapshots.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import Timeline

@Suite(.blocking) struct ArchiveTimelineTests {
    private let scratch: TestDirectory
    private let archive: Archive
    private let root: FilePath

    init() throws {
        scratch = try TestDirectory()
        archive = try Archive.open(FilePath(scratch.path + "/archive"), creating: true)
        root = FilePath(scratch.path + "/root")
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

    @Test("buckets of any number hold every snapshot once, also those that came later or were forgotten")
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
        }
        try expectAll()
        try capture(5)
        try expectAll()
        try archive.forget([.snapshot(archive.snapshots()[3]), .snapshot(archive.snapshots()[9])])
        try expectAll()
    }

    @Test("moments before, after and at the end, and at an instant, are those of the list")
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
        #expect(try timeline.moment(at: Timestamp(seconds: 0)) == all.first, "the first one where none is so old")
    }
}
