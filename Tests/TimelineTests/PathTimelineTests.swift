// The versions of a path as a timeline, compared with all of its versions.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import Timeline

@Suite(.blocking) struct PathTimelineTests {
    private let scratch: TemporaryDirectory
    private let archive: Archive
    private let root: FilePath

    init() throws {
        scratch = try TemporaryDirectory()
        archive = try Archive.open(scratch.path.pushing("archive"), creating: true)
        root = scratch.path.pushing("root")
    }

    /// Captures a file that changes, is deleted, returns and is renamed, as is its directory.
    private func history(_ count: Int) throws {
        try scratch.write("root/a/other", "x")
        for number in 0..<count {
            switch number {
            case 40: unlink("\(scratch.path)/root/a/file")
            case 100: rename("\(scratch.path)/root/a/file", "\(scratch.path)/root/a/new")
            case 130: rename("\(scratch.path)/root/a", "\(scratch.path)/root/b")
            default:
                let name = number < 100 ? "a/file" : number < 130 ? "a/new" : "b/new"
                try scratch.write("root/" + name, "version \(number) of a file that is known again by its content")
            }
            _ = try archive.capture(root)
        }
    }

    private func expectEqual(_ timeline: PathTimeline, _ all: [SnapshotID], _ comment: Comment) throws {
        #expect(try timeline.moments(.end, limit: all.count + 10).map(\.id) == all, comment)
        #expect(try timeline.moments(.end, limit: 3).map(\.id) == Array(all.suffix(3)), comment)
        let moments = try timeline.moments(.end, limit: all.count)
        for (index, moment) in moments.enumerated() where index % 7 == 0 || index > moments.count - 3 {
            for limit in [1, 5, 90] {
                #expect(
                    try timeline.moments(.before(moment), limit: limit).map(\.id) == Array(all[..<index].suffix(limit)),
                    "\(comment), \(index), \(limit)")
                #expect(
                    try timeline.moments(.after(moment), limit: limit).map(\.id)
                        == Array(all[(index + 1)...].prefix(limit)), "\(comment), \(index), \(limit)")
            }
            #expect(try timeline.moment(at: moment.time)?.id == moment.id, comment)
        }
        let span = try #require(try timeline.span())
        #expect(
            span.count == all.count && span.first == moments.first?.time && span.last == moments.last?.time, comment)
        let found = try timeline.buckets(from: span.first, to: span.last, limit: 10)
        #expect(found.buckets.count <= 10 && found.buckets.reduce(0) { $0 + $1.moments } == all.count, comment)
    }

    @Test("the moments of a file are its versions, page by page, across renames")
    func file() throws {
        try history(160)
        let known = try #require(try archive.roots().first)
        let path = try #require(RelativePath(Array("b/new".utf8)))
        let timeline = try PathTimeline(archive, root: known, path: path)
        let versions = try archive.history(of: path, in: known)
        #expect(
            Set(versions.map(\.path)).count == 3 && !versions.allSatisfy(\.isPresent), "renamed, and once absent")
        #expect(!timeline.isDirectory)
        try expectEqual(timeline, versions.filter(\.isPresent).reversed().map(\.snapshot.id), "file")
    }

    @Test("the moments of a directory are the changes in it, page by page, across renames")
    func directory() throws {
        try history(160)
        let known = try #require(try archive.roots().first)
        let path = try #require(RelativePath(Array("b".utf8)))
        let timeline = try PathTimeline(archive, root: known, path: path)
        let versions = try archive.history(ofDirectory: path, in: known)
        #expect(timeline.isDirectory && versions.count == 160 && Set(versions.map(\.path)).count == 2)
        try expectEqual(timeline, versions.reversed().map(\.snapshot.id), "directory")
    }

    @Test("a path that never existed has no moments")
    func unknown() throws {
        try history(3)
        let known = try #require(try archive.roots().first)
        let timeline = try PathTimeline(archive, root: known, path: try #require(RelativePath(Array("none".utf8))))
        #expect(try timeline.span() == nil && timeline.moments(.end, limit: 5).isEmpty)
        #expect(try timeline.moment(at: .now) == nil)
    }
}
