// What `status` costs: the catalogue is asked for all roots at a time.

import ArchiveStorage
import FileIO
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("What status costs", .blocking) struct StatusCostTests {
    /// How often the catalogue is asked by `body` in an archive of so many roots.
    private func questions(roots count: Int, _ body: (Archive) throws -> Int) throws -> Int {
        let sandbox = try Sandbox()
        for number in 0..<count {
            try sandbox.root.makeDirectory("\(number)")
            try sandbox.root.write("\(number)/file", "\(number)")
            _ = try sandbox.archive.capture(sandbox.root.full("\(number)"))
        }
        let archive = try sandbox.reopened()
        let before = archive.store.counters.counts
        #expect(try body(archive) == count)
        return (archive.store.counters.counts - before).questions
    }

    @Test("the catalogue is asked as often about forty roots as about four")
    func status() throws {
        let few = try questions(roots: 4) { try $0.status().roots.count }
        let many = try questions(roots: 40) { try $0.status().roots.count }
        // The rest is one question for each segment that is opened.
        #expect(many <= few + 2 && few < 20, "\(few), \(many)")
    }
}
