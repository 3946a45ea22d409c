// If the newest snapshot cannot be read, "latest" is an older one, and this is reported.

import ArchiveFormat
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct LostLatestTests {
    /// The damaged part of the newest snapshot's block.
    enum Place: CaseIterable, Sendable {
        case header, payload
    }

    /// Damages the block of the newest snapshot, whose id is `id`.
    private func damage(_ work: Workplace, _ id: String, _ place: Place) throws {
        let find = try ChildProcess.run("find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) })
        let segment = FilePath(try #require(find.lines.first))
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: segment.string)))
        let raw = try #require(Hex.bytes(id))
        // A block's header ends with the id of its last chunk and a checksum; the payload follows.
        let end = try #require(bytes.lastRange(of: raw)).upperBound
        bytes[place == .header ? end - 3 : end + 12] ^= 0x20
        try Data(bytes).write(to: URL(fileURLWithPath: segment.string))
    }

    private func forgetCatalogue(of work: Workplace) {
        for suffix in ["", "-wal", "-shm"] { unlink(work.archive.string + "/catalogue.sqlite" + suffix) }
    }

    @Test(
        "commands that use latest name a damaged newest snapshot until there is a newer one",
        arguments: Place.allCases)
    func damaged(place: Place) throws {
        let work = try Workplace()
        let older = try work.capture()
        try work.write("notes/todo.txt", "three\n")
        let newest = try work.capture()
        try damage(work, newest, place)
        forgetCatalogue(of: work)
        let name = place == .payload ? String(newest.prefix(8)) : "may be lost"
        for arguments in [
            ["restore", "latest", "--root", work.root.string, "--target", work.path("target").string],
            ["show", "latest", "--root", work.root.string], ["diff", "latest", "--root", work.root.string],
            ["list", "--root", work.root.string],
        ] {
            let outcome = try work.run(arguments)
            let said = outcome.errorText.split(separator: "\n").filter { $0.contains("'latest' may be an older one") }
            #expect(said.count == 1, "\(arguments): \(outcome.errorText)")
            #expect(said.first?.contains(name) == true, "\(arguments): \(outcome.errorText)")
            #expect(said.first?.contains("made between 20") == true, "\(arguments): \(outcome.errorText)")
        }
        #expect(try work.listed() == [older])
        let status = try work.run("status")
        #expect(status.status == 2)
        #expect(status.text.contains("'latest' may be an older one"), "\(status.text)")
        _ = try work.capture()
        #expect(!(try work.run("list").errorText.contains("'latest'")))
        let target = work.path("restored")
        #expect(try work.run("restore", "latest", "--root", work.root.string, "--target", target.string).status == 0)
        #expect(try work.difference(of: work.root, and: "restored").isEmpty)
    }

    @Test(
        "status reports a newest snapshot that is listed but cannot be read, and the next capture replaces it")
    func listed() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.write("notes/todo.txt", "three\n")
        let newest = try work.capture()
        try damage(work, newest, .payload)
        let status = try work.run("status")
        #expect(status.status != 0)
        #expect(status.text.contains("its latest snapshot \(newest.prefix(8)) cannot be read"), "\(status.text)")
        let restore = try work.run("restore", "latest", "--root", work.root.string)
        #expect(restore.status == 2)
        #expect(restore.errorText.contains(newest.prefix(8)), "\(restore.errorText)")
        let again = try work.capture()
        #expect(again != newest)
        #expect(try work.run("show", "latest", "--root", work.root.string).text.contains(again.prefix(8)))
    }

    @Test("status does not report any root as up to date while a segment is missing")
    func missingSegment() throws {
        let work = try Workplace()
        _ = try work.capture()
        let find = try ChildProcess.run("find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) })
        let watcher = try work.start("watch", work.root.string, "--json", "--settle", "10ms")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        unlink(try #require(find.lines.first))
        let status = try work.run("status")
        #expect(status.status == 2)
        #expect(status.text.contains("is missing"), "\(status.text)")
        #expect(!status.text.contains("up to date"), "\(status.text)")
        watcher.send(SIGKILL)
        _ = try watcher.finish()
    }
}

extension [UInt8] {
    /// The last position of `part`.
    fileprivate func lastRange(of part: [UInt8]) -> Range<Int>? {
        guard count >= part.count else { return nil }
        return (0...(count - part.count)).reversed().first { self[$0..<($0 + part.count)].elementsEqual(part) }
            .map { $0..<($0 + part.count) }
    }
}
