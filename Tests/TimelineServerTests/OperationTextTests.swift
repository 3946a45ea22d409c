// The texts of operations that the page shows.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct OperationTextTests {
    @Test("undo and redo name the operation that they reverse")
    func reversals() throws {
        let scratch = try TemporaryDirectory()
        try scratch.write("root/a.txt", "0")
        let archive = try Archive.open(scratch.path.pushing("archive"), creating: true)
        let first = try #require(try archive.capture(scratch.path.pushing("root")).snapshot)
        try scratch.write("root/a.txt", "1")
        _ = try archive.restore(first)
        let root = try #require(try archive.roots().first)
        func text(_ results: [OperationResult]) -> String? { results.first?.operation?.record.reversalText }
        #expect(try text(archive.undo(root)) == "undid the restore of everything as of \(first.id.short)")
        #expect(try text(archive.redo(root)) == "redid a change of everything")
        #expect(try text(archive.undo(root)) == "undid the redo of a change of everything")
    }
}
