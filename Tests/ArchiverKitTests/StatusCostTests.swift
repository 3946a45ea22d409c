// The cost of `status`: the number of catalogue queries does not grow with the number of roots.

import ArchiveStorage
import FileIO
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Cost of status", .blocking) struct StatusCostTests {
    /// Returns how many queries `body` makes to the catalogue of an archive with `count` roots.
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

    @Test("status makes as many catalogue queries for forty roots as for four")
    func status() throws {
        let few = try questions(roots: 4) { try $0.status().roots.count }
        let many = try questions(roots: 40) { try $0.status().roots.count }
        // The allowance is one query for each opened segment.
        #expect(many <= few + 2 && few < 20, "\(few), \(many)")
    }
}
