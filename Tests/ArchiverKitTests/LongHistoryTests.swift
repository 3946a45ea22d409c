// A long history of small changes stays small: the cost of a change does not grow with the number of earlier ones.

import ArchiveFormat
import ArchiveStorage
import Checking
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct LongHistoryTests {
    @Test("a list among 20,000 gaps asks the catalogue a few questions")
    func gaps() throws {
        let sandbox = try Sandbox()
        let first = try sandbox.capture()
        try sandbox.root.write("file", "new")
        let second = try sandbox.capture()
        let root = Array(sandbox.root.directory.bytes)
        let gaps = (0..<20_000).map { number in
            let start = first.time.advanced(byNanoseconds: Int64(number) + 1)
            return GapRecord(
                rootPath: root, host: "", cause: .polling, start: start, end: start, machine: first.machine)
        }
        try sandbox.archive.store.enter(gaps)
        let before = sandbox.archive.store.counters.counts
        let between = try sandbox.archive.gapsBetweenSnapshots()
        let work = sandbox.archive.store.counters.counts - before
        #expect(between[second.id]?.count == 20_000)
        #expect(work.questions < 10 && work.snapshotsRead < 10, "\(work)")
    }

    /// The names of its directories have 100 MB together.
    @Test("a tree of 10,000 levels is captured, checked and compared with work that grows with its entries only")
    func levels() throws {
        let sandbox = try Sandbox()
        let levels = 10_000
        try sandbox.root.makeChain(of: "d", depth: levels) { _ in }
        // What removes the sandbox holds a descriptor for each level.
        defer { flatten(sandbox.root.directory, levels) }
        let snapshot = try sandbox.capture()
        #expect(snapshot.totals.directories == 10_001)
        let store = try sandbox.reopened().store
        let before = store.counters.counts
        let result = try ArchiveCheck.run(store, reading: .all, nil)
        let work = store.counters.counts - before
        #expect(result.findings.isEmpty)
        // Each node is unpacked a few times at most, however deep it is.
        #expect(work.blocksRead < 200 && work.bytesUnpacked < 16 << 20, "\(work)")
        let again = try sandbox.archive.capture(sandbox.root.directory)
        #expect(again.snapshot == nil)
    }

    @Test("a deep tree is restored in place: what is moved away in it is removed, and made again where it was")
    func deepRestore() throws {
        let sandbox = try Sandbox()
        let levels = 500
        try sandbox.root.makeChain(of: "d", depth: levels) { _ in }
        defer { flatten(sandbox.root.directory, levels) }
        let snapshot = try sandbox.capture()
        let path = sandbox.root.directory
        #expect(chmod(path.string, 0o711) == 0 && rename("\(path)/d/d", "\(path)/d/e") == 0)
        let result = try sandbox.archive.restore(snapshot)
        #expect(result.problems.isEmpty && result.isComplete)
        #expect(try sandbox.archive.capture(path).snapshot == nil)
    }

    /// Removes a chain of directories from its upper end.
    private func flatten(_ root: FilePath, _ levels: Int) {
        let (chain, rest) = (root.appending("d").string, root.appending("rest").string)
        for _ in 0..<levels {
            rename(chain + "/d", rest)
            rmdir(chain)
            rename(rest, chain)
        }
    }

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
