// History commands with bad input: misspelt paths, damage, interruptions, binary files.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("History commands, bad input", .blocking)
struct HistoryBadInputTests {
    private let work: Workplace

    init() throws {
        work = try Workplace()
    }

    private func run(_ words: [String]) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }

    @Test(
        "for a path that no snapshot ever held, similar paths are suggested",
        arguments: [
            ["log", "notes/tod.txt"], ["log", "notes/tod.txt", "-p"], ["log", "notes/tod.txt", "-L", "1,2"],
            ["blame", "notes/tod.txt"], ["deleted", "notes/tod.txt"], ["cat", "latest:notes/tod.txt"],
            ["show", "latest:notes/tod.txt"], ["diff", "latest:notes/tod.txt"], ["grep", "one", "notes/tod.txt"],
            ["restore", "latest:notes/tod.txt"], ["changes", "oldest:notes/tod.txt"], ["pick", "notes/tod.txt"],
            ["bisect", "--good", "oldest", "--path", "notes/tod.txt", "--", "true"],
        ])
    func misspelt(words: [String]) throws {
        _ = try work.capture()
        try work.write("notes/todo.txt", "changed\n")
        _ = try work.capture()
        let outcome = try run(words)
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.status) \(outcome.text)")
        #expect(outcome.errorText.contains("notes/tod.txt"), "\(outcome.errorText)")
        #expect(outcome.errorText.contains("notes/todo.txt"), "\(outcome.errorText)")
    }

    @Test("binary files are listed by log and found by find, but have no lines to show")
    func binary() throws {
        _ = try work.capture()
        try work.write("data.bin", [0, 1, 2, 3] + Array("needle\n".utf8))
        _ = try work.capture()
        #expect(try run(["log", "data.bin"]).lines.count == 2)
        let patch = try run(["log", "data.bin", "-p"])
        #expect(patch.status == 0 && patch.text.lowercased().contains("binary"), "\(patch.text)\(patch.errorText)")
        let counted = try JSON.array(run(["log", "data.bin", "--stat", "--json"]).output)
        #expect(counted.count == 2 && counted.allSatisfy { $0["linesAdded"] == nil })
        for words in [["blame", "data.bin"], ["log", "data.bin", "-L", "1,1"]] {
            let refused = try run(words)
            #expect(refused.status == 1 && refused.errorText.contains("is not a text file"), "\(refused.errorText)")
        }
        let searched = try run(["grep", "needle"])
        #expect(searched.status == 1 && searched.output.isEmpty)
    }

    @Test("a file that replaces a directory, and a directory that replaces a file, are listed")
    func kinds() throws {
        try work.write("book/one.md", "one\n")
        try work.write("plain", "plain\n")
        let first = try work.capture()
        try work.copyTree(to: "first")
        try work.remove("tree/book")
        rename(work.path("tree/plain").string, work.path("tree/book").string)
        let second = try work.capture()
        try work.remove("tree/book")
        try work.write("book/two.md", "two\n")
        let third = try work.capture()

        let log = try JSON.array(run(["log", "book", "--json"]).output)
        #expect(log.compactMap { $0["snapshot"] as? String }.prefix(1) == [third], "\(log)")
        #expect(
            try run(["log", "book/one.md"]).lines.map { $0.components(separatedBy: "\t")[2] } == ["removed", "added"])
        let old = try JSON.array(run(["log", "plain", "--json"]).output)
        #expect(old.map { $0["snapshot"] as? String } == [second, first], "\(old)")
        let found = try JSON.array(run(["find", "/book", "--json"]).output)
        #expect(found.first?["kind"] as? String == "directory" && found.first?["deleted"] as? Bool == false)
        #expect(try run(["deleted"]).lines.contains { $0.hasSuffix("\tbook/one.md") })
        #expect(try run(["cat", "\(second):book"]).output == Array("plain\n".utf8))
        // The rename is not detected, because the name existed before.
        #expect(try run(["blame", "\(second):book"]).lines.map { String($0.prefix(8)) } == [String(second.prefix(8))])
        #expect(try run(["grep", "plain"]).lines.count == 2, "under both names")
        #expect(try run(["changes", "oldest"]).status == 0)
        #expect(try run(["restore", first]).status == 0)
        #expect(try work.difference(of: work.root, and: "first").isEmpty)
    }

    @Test("a damaged snapshot in the middle is named, the exit code is 2, and the others are listed")
    func damaged() throws {
        var ids: [String] = []
        for number in 0..<6 {
            try work.write("file.md", (0...number).map { "line \($0)\n" }.joined())
            ids.append(try work.capture())
        }
        let tree = try #require(try JSON.object(run(["show", ids[2], "--json"]).output)["tree"] as? String)
        try damage(try #require(ChunkID(hex: tree)))
        #expect(try run(["check", "--data"]).status == 2)
        // The next capture stores lost data again: the latest snapshot is complete.
        try work.write("file.md", "line 0\nline 1\nnew\n")
        ids.append(try work.capture())
        #expect(try run(["repair", "--catalogue"]).status == 2)

        let log = try run(["log", "file.md"])
        let versions = log.lines.map { String($0.prefix(8)) }
        #expect(log.status == 2 && log.errorText.contains("snapshot \(ids[2].prefix(8))"), "\(log.errorText)")
        #expect(
            versions.contains(String(ids[1].prefix(8))) && versions.contains(String(ids[0].prefix(8))), "\(versions)")
        for words in [["find", "file"], ["deleted"], ["changes", "oldest"], ["log"], ["grep", "line"]] {
            let outcome = try run(words)
            #expect(outcome.status == 2 && !outcome.errorText.isEmpty, "\(words): \(outcome.errorText)")
        }
        #expect(try run(["sessions"]).lines.count == 1)
        #expect(try run(["list"]).lines.count == ids.count)
        let blame = try run(["blame", "file.md"])
        #expect(blame.status == 2, "\(blame.errorText)")
        let brought = blame.lines.map { String($0.prefix(8)) }
        #expect(brought == [0, 1, 6].map { String(ids[$0].prefix(8)) }, "\(blame.text)")
        #expect(try run(["cat", "latest:file.md"]).output == Array("line 0\nline 1\nnew\n".utf8))
    }

    /// Changes a byte of the block that holds a chunk.
    private func damage(_ id: ChunkID) throws {
        let segments = try ChildProcess.run(
            "find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) }
        ).lines
        for path in segments {
            let segment = try Segment(LocalSegment(at: EnclosedPath(file: FilePath(path))))
            let scan = try SegmentScan(
                of: segment, from: SegmentHeader.byteCount, verifyingPayloads: false, passingDamage: true)
            guard let offset = scan.chunks.first(where: { $0.id == id })?.offset else { continue }
            let header = try segment.blockHeader(at: offset)
            let file = try FileHandle(forUpdating: URL(filePath: path))
            let place = UInt64(offset + header.headerLength + header.storedLength / 2)
            try file.seek(toOffset: place)
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: place)
            try file.write(contentsOf: Data([byte ^ 0x10]))
            return try file.close()
        }
        Issue.record("the chunk is not in the archive")
    }

    @Test(
        "Ctrl-C ends a query immediately and leaves no temporary files",
        arguments: [
            ["log", "file"], ["find", "file"], ["grep", "line"], ["deleted"], ["changes"], ["sessions"],
            ["blame", "file"], ["note"], ["note", "text"], ["turns"], ["sync"], ["mark", "--wait", "name"],
            ["rewind", "--dry-run"], ["list"], ["bisect", "--good", "oldest", "--", "true"], ["run", "--", "true"],
        ])
    func interrupted(words: [String]) throws {
        try work.write("file", "line\n")
        _ = try work.capture()
        let before = try work.listed()
        do {
            // Opening the archive waits for this lock.
            let lock = try FileLock.exclusive(
                EnclosedPath(file: work.archive.appending("locks").appending("open.lock")))
            let program = try work.start(
                words + (words[0] == "run" || words[0] == "sync" ? [] : ["--root", work.root.string]))
            try waitUntilItWaits(program.id)
            program.send(SIGINT)
            let outcome = try program.finish()
            #expect([-SIGINT, 130, 125].contains(outcome.status), "\(outcome.status): \(outcome.errorText)")
            #expect(outcome.output.isEmpty)
            withExtendedLifetime(lock) {}
        }
        #expect(try work.listed() == before)
        #expect(try run(["note"]).output.isEmpty)
        #expect(try work.leftovers(in: work.root).isEmpty)
        #expect(try run(["check"]).status == 0)
    }

    /// The number of flock(2), which Swift does not import (syscall(2)).
    #if arch(x86_64)
    private static let numberOfFlock = 73
    #else
    private static let numberOfFlock = 32
    #endif

    /// Waits until a thread of a process waits for a lock (proc_pid_syscall(5)).
    ///
    /// While the kernel lists its locks in /proc/locks, no process can lock anything: sixteen readers stop the machine.
    private func waitUntilItWaits(_ process: pid_t) throws {
        let deadline = ContinuousClock.now + .seconds(100)
        while ContinuousClock.now < deadline {
            let threads = "/proc/\(process)/task"
            let isWaiting = try FileManager.default.contentsOfDirectory(atPath: threads).contains { thread in
                let call = try? String(contentsOfFile: "\(threads)/\(thread)/syscall", encoding: .utf8)
                return call?.hasPrefix("\(HistoryBadInputTests.numberOfFlock) ") == true
            }
            if isWaiting { return }
            sched_yield()
        }
        Issue.record("the program does not wait for the lock")
    }
}
