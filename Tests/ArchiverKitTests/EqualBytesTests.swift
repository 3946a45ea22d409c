// Each writer chooses where to cut a file, so another cut is not a change of the file.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking)
struct EqualBytesTests {
    /// A content with these bytes, cut at random.
    private static func cut(
        _ bytes: [UInt8], in forgery: Forgery, _ random: inout SeededGenerator
    ) throws -> Content {
        var slices: [Slice] = []
        var rest = bytes[...]
        // A list has at most 4,096 slices.
        let longest = 1 + bytes.count / 1000 + random.below(max(1, bytes.count))
        while !rest.isEmpty {
            let piece = Array(rest.prefix(1 + random.below(longest)))
            let isHole = piece.allSatisfy { $0 == 0 } && random.oneIn(2)
            slices.append(Slice(length: UInt64(piece.count), chunk: isHole ? nil : try forgery.content(piece)))
            rest = rest.dropFirst(piece.count)
        }
        if bytes.count <= Content.inlineLimit, random.oneIn(2) { return .inline(bytes) }
        if slices.count <= Content.slicesLimit, random.oneIn(2) { return .slices(slices) }
        var lists: [ListedSlices] = []
        while !slices.isEmpty {
            let count = 1 + random.below(slices.count)
            lists.append(try forgery.listed(Array(slices.prefix(count))))
            slices.removeFirst(count)
        }
        return .sliceLists(lists)
    }

    /// Text with runs of zeros in it.
    private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = random.text(1 + random.below(random.oneIn(3) ? 96 : 60_000))
        for _ in 0..<random.below(3) {
            let start = random.below(bytes.count)
            let end = start + random.below(bytes.count - start)
            bytes.replaceSubrange(start..<end, with: [UInt8](repeating: 0, count: end - start))
        }
        return bytes
    }

    /// Writes an archive for an empty root, and opens it.
    private static func forged(_ build: (Forgery) throws -> Void) throws -> (root: Files, archive: Archive) {
        let base = Files(try TemporaryDirectory.create(inMemory: true))
        try base.makeDirectory("root")
        let archive = base.full("archive")
        try Forgery.write(to: archive, of: base.full("root"), build)
        return (Files(base.full("root")), try Archive.open(archive))
    }

    private static func remove(_ root: Files) { try? Files(root.directory.removingLastComponent()).removeAll() }

    @Test("snapshots with differently cut files differ only where their bytes differ")
    func snapshots() throws {
        var random = SeededGenerator("files cut in different ways")
        for _ in 0..<40 {
            let left = EqualBytesTests.bytes(&random)
            var right = left
            let isChanged = random.oneIn(2)
            if isChanged { right[random.below(right.count)] ^= 1 }
            let (root, archive) = try EqualBytesTests.forged { forgery in
                for bytes in [left, right] {
                    let content = try EqualBytesTests.cut(bytes, in: forgery, &random)
                    let other = Entry.forged("other", text: "\(random.next())")
                    try forgery.snapshot([.forgedRoot, .forged("f", .file, content), other])
                }
            }
            defer { EqualBytesTests.remove(root) }
            let snapshots = try archive.snapshots()
            #expect(snapshots.count == 2)
            var paths: [String] = []
            try archive.differences(from: snapshots[0], to: snapshots[1]) { difference in
                paths.append(difference.path.description)
                return true
            }
            #expect(paths == (isChanged ? ["f", "other"] : ["other"]), "TEST_SEED=\(random.seed)")
            let findings = try archive.check(data: true).findings
            #expect(findings.isEmpty, "\(findings), TEST_SEED=\(random.seed)")
        }
    }

    @Test("a file that another program cut differently is captured again only if its bytes changed")
    func captures() throws {
        var random = SeededGenerator("files that another program has cut")
        for _ in 0..<20 {
            let bytes = EqualBytesTests.bytes(&random)
            let (root, archive) = try EqualBytesTests.forged { forgery in
                let content = try EqualBytesTests.cut(bytes, in: forgery, &random)
                try forgery.snapshot([.forgedRoot, .forged("f", .file, content)])
            }
            defer { EqualBytesTests.remove(root) }
            let path = try RelativePath.at("f")
            let before = try archive.entry(at: path, in: #require(try archive.snapshots().first))?.content
            try root.write("f", bytes)
            let same = try archive.capture(root.directory).latest
            #expect(try archive.entry(at: path, in: same)?.content == before, "TEST_SEED=\(random.seed)")
            var changed = bytes
            changed[random.below(changed.count)] ^= 1
            try root.write("f", changed)
            let other = try archive.capture(root.directory).latest
            #expect(try archive.entry(at: path, in: other)?.content != before, "TEST_SEED=\(random.seed)")
            let findings = try archive.check(data: true).findings
            #expect(findings.isEmpty, "\(findings), TEST_SEED=\(random.seed)")
        }
    }
}
