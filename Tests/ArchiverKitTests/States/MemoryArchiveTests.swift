// Archives in memory, clocks that stand still, and histories compared with the expected ones.

import ArchiverKit
import Foundation
import Glibc
import TestTraits
import Testing

@Suite("Archives in memory", .blocking)
struct MemoryArchiveTests {
    @Test("an archive in memory keeps states and snapshots, and its files go with it")
    func lifetime() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "first")
        var directory: FilePath?
        do {
            let archive = try Archive.inMemory()
            directory = archive.directory
            try archive.save(Game(level: 2, score: 1), as: "game")
            #expect(try archive.load(Game.self, as: "game") == Game(level: 2, score: 1))
            let captured = try archive.capture(sandbox.root.directory)
            #expect(captured.latest.totals.files == 1)
            #expect(try archive.check(data: true).findings.isEmpty)
        }
        let path = try #require(directory)
        #expect(access(path.string, F_OK) != 0 && access(path.removingLastComponent().string, F_OK) != 0)
    }

    @Test("two archives in memory know nothing of each other, and strangers cannot read them")
    func apart() throws {
        let (one, other) = (try Archive.inMemory(), try Archive.inMemory())
        try one.save(1, as: "number")
        #expect(try other.titles().isEmpty && one.directory != other.directory)
        var status = stat()
        #expect(stat(one.directory.removingLastComponent().string, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test("the directory of a killed process is removed by the next archive in memory")
    func abandoned() throws {
        // No process has this number: it is above the kernel's limit.
        let own = try Archive.inMemory()
        let place = own.directory.removingLastComponent().removingLastComponent()
        let left = place.appending("archiver-memory-\(pid_t.max)-abcdef")
        #expect(mkdir(left.string, 0o700) == 0)
        _ = try Archive.inMemory()
        #expect(access(left.string, F_OK) != 0)
        #expect(access(own.directory.string, F_OK) == 0)
    }

    @Test("a clock dates the states, and times in selectors are counted back from it")
    func clock() throws {
        let clock = ManualClock(Timestamp(seconds: 1_000_000_000))
        let archive = try Archive.inMemory(clock: clock)
        let first = try archive.save(1, as: "number")
        clock.advance(bySeconds: 3600)
        let second = try archive.save(2, as: "number")
        #expect(first.time == Timestamp(seconds: 1_000_000_000) && second.time == Timestamp(seconds: 1_000_003_600))
        #expect(try archive.load(Int.self, as: "number", at: "@30m") == 1)
        #expect(try archive.load(Int.self, as: "number", at: SnapshotSelector(first.date)) == 1)
        clock.advance(bySeconds: 3600)
        #expect(try archive.load(Int.self, as: "number", at: "@30m") == 2)
        // A clock that is set back: the state has its time, and is the latest nevertheless.
        clock.now = Timestamp(seconds: 5)
        #expect(try archive.save(3, as: "number").time == clock.now)
        #expect(try archive.load(Int.self, as: "number") == 3)
    }

    @Test("a history is compared with the expected one, position by position")
    func histories() throws {
        let archive = try Archive.inMemory()
        for number in [1, 2, 3] { try archive.save(number, as: "number") }
        #expect(try archive.differences(of: "number", from: [1, 2, 3]).isEmpty)
        let differences = try archive.differences(of: "number", from: [1, 5])
        #expect(differences.map(\.index) == [1, 2])
        #expect(
            differences.map(\.description) == ["state 1: expected 5, found 2", "state 2: expected nothing, found 3"])
        #expect(try archive.differences(of: "number", from: [1, 2, 3, 4]).first?.found == nil)
        #expect(try archive.differences(of: "none", from: [Int]()).isEmpty)
    }
}
