// A long history of small changes stays small: the cost of a change does not grow with the number of earlier ones.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct LongHistoryTests {
    @Test("every small change stores little, however many came before") func smallChanges() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator("small changes")
        for number in 0..<300 { try sandbox.root.write("file \(number)", random.text(300)) }
        try sandbox.root.write("text", random.text(20_000))
        let first = try #require(try sandbox.archive.capture(sandbox.root.directory).snapshot)
        for number in 0..<50 {
            try sandbox.root.append("text", Array("line \(number)\n".utf8))
            let change = try #require(try sandbox.archive.capture(sandbox.root.directory).snapshot)
            #expect(change.storedBytes * 10 < first.storedBytes, "change \(number), seed \(random.seed)")
        }
        try sandbox.expectCleanArchive()
    }
}
