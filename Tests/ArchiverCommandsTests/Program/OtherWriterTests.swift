// Another program, written only from the format document, writes into an archive that is in use.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct OtherWriterTests {
    /// A text that is too long to be stored in an entry.
    private static let text = String(repeating: "written elsewhere\n", count: 10)
    private static let machine = ["ARCHIVER_MACHINE_ID": "0123456789abcdef0123456789abcdef"]

    private static let writer = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("OtherWriter").appending("writer.py")

    /// The Python that has the package cbor2, if any.
    static let python: FilePath? = ["/usr/bin/python3", "python3"].first { python in
        (try? ChildProcess.run(python, ["-c", "import cbor2"].map { Array($0.utf8) }))?.status == 0
    }

    @Test(
        "a snapshot that another program wrote from the format document is listed, and the next one builds on it",
        .enabled(if: python != nil), arguments: [true, false])
    func snapshot(isWatched: Bool) throws {
        let work = try Workplace()
        let root = work.path("other")
        try work.write("../other/f", "as it is\n")
        func run(_ words: String...) throws -> ChildProcess.Outcome {
            try work.run(words.map { Array($0.utf8) }, in: "/", environment: OtherWriterTests.machine)
        }
        #expect(try run("capture", root.string).status == 0)
        let watcher = try isWatched ? start(work, root) : nil
        let written = try ChildProcess.run(
            #require(OtherWriterTests.python),
            ["-B", OtherWriterTests.writer.string, work.archive.string, root.string, "f", OtherWriterTests.text]
                .map { Array($0.utf8) },
            environment: OtherWriterTests.machine)
        #expect(written.status == 0, "\(written.errorText)")
        let id = try #require(written.lines.first)

        let listed = try run("list", "--json", "--root", root.string)
        #expect(try JSON.array(listed.output).compactMap { $0["id"] as? String }.last == id, "\(listed.errorText)")
        #expect(try run("cat", "latest:f", "--root", root.string).text == OtherWriterTests.text)
        #expect(try run("check", "--data").status == 0)

        try work.write("../other/g", "new\n")
        if let watcher {
            _ = try watcher.line { $0.contains("\"event\":\"snapshot\"") }
            watcher.send(SIGTERM)
            #expect(try watcher.finish().status == 0)
        } else {
            #expect(try run("capture", root.string).status == 0)
        }
        let shown = try JSON.object(run("show", "latest", "--json", "--root", root.string).output)
        #expect(shown["parent"] as? String == id)
        let target = work.path("restored")
        #expect(try run("restore", "latest", "--root", root.string, "--target", target.string).status == 0)
        #expect(try work.difference(of: root, and: "restored") == "")
        #expect(try run("check", "--data").status == 0)
    }

    private static let reader = writer.removingLastComponent().appending("reader.py")
    private static let golden = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().removingLastComponent().appending("fixtures/golden-archives")

    private func read(_ archive: FilePath, _ labels: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            #require(OtherWriterTests.python),
            (["-B", OtherWriterTests.reader.string, archive.string] + labels).map { Array($0.utf8) })
    }

    @Test(
        "a reader that was written from the format document reads every entry of a golden archive",
        .enabled(if: python != nil))
    func goldenArchive() throws {
        let folder = OtherWriterTests.golden.appending("version-1")
        let outcome = try read(folder.appending("archive"), "objects", "deep")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let entries = outcome.lines.filter { $0.contains("\t") }
        let listing = try String(contentsOfFile: folder.appending("listing.txt").string, encoding: .utf8)
        #expect(entries == listing.split(separator: "\n").map(String.init))
        let records = try String(contentsOfFile: folder.appending("records.txt").string, encoding: .utf8)
        let snapshots = records.split(separator: "\n").filter { $0.hasPrefix("snapshot ") }
            .map { $0.split(separator: " ")[1] }
        let found = outcome.lines.filter { $0.hasPrefix("snapshot ") }.map { $0.split(separator: " ")[1] }
        #expect(Set(found) == Set(snapshots))
        #expect(outcome.lines.allSatisfy { $0.contains("\t") || $0.hasPrefix("snapshot ") }, "\(outcome.lines)")
    }

    @Test(
        "program and reader both name each segment that is missing, without a catalogue", .enabled(if: python != nil))
    func missingSegments() throws {
        let work = try Workplace()
        let copy = work.path("copy").string
        let archive = OtherWriterTests.golden.appending("version-1/archive")
        func copyArchive() throws {
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: archive.string, toPath: copy)
        }
        try copyArchive()
        let segments = try FileManager.default.subpathsOfDirectory(atPath: copy + "/segments")
            .filter { $0.hasSuffix(".segment") }
        #expect(segments.count > 2)
        for segment in segments {
            try copyArchive()
            try FileManager.default.removeItem(atPath: copy + "/segments/" + segment)
            let digits = segment.dropLast(8).suffix(32)
            let outcome = try read(FilePath(copy))
            #expect(outcome.lines.contains { $0.hasPrefix("missing ") && $0.contains(digits) }, "\(outcome.lines)")
            let check = try work.run("check", "--archive", copy)
            #expect(check.status == 2 && check.errorText.contains(digits), "\(check.status) \(check.errorText)")
            let list = try work.run("list", "--archive", copy)
            #expect(list.status == 0 && list.errorText.contains(digits), "\(list.errorText)")
        }
    }

    @Test(
        "program and reader both note a segment that was written off, and neither calls it missing",
        .enabled(if: python != nil))
    func writtenOff() throws {
        let work = try Workplace()
        let copy = work.path("copy").string
        let archive = OtherWriterTests.golden.appending("version-1/archive")
        try FileManager.default.copyItem(atPath: archive.string, toPath: copy)
        let segments = try FileManager.default.subpathsOfDirectory(atPath: copy + "/segments")
            .filter { $0.hasSuffix(".segment") }.sorted()
        // The last one holds only records, so nothing else is damaged by its loss.
        let segment = try #require(segments.last)
        let digits = segment.dropLast(8).suffix(32)
        try FileManager.default.removeItem(atPath: copy + "/segments/" + segment)
        #expect(try work.run("repair", "--archive", copy).status == 2)
        let repair = try work.run("repair", "--archive", copy, "--write-off", "the disk's end", "--json")
        let lost = try JSON.object(repair.output)["lost"] as? [String]
        // What that segment said about a dropped one is lost, too.
        #expect(repair.status == 0 && lost?.count == 2, "\(repair.text) \(repair.errorText)")
        let check = try work.run("check", "--archive", copy)
        #expect(check.status == 0 && check.errorText.contains("note: segment"), "\(check.text) \(check.errorText)")
        #expect(check.errorText.contains(digits) && check.errorText.contains("the disk's end"))
        let list = try work.run("list", "--archive", copy)
        #expect(list.status == 0 && list.errorText.isEmpty, "\(list.errorText)")
        let outcome = try read(FilePath(copy))
        #expect(outcome.lines.contains { $0.hasPrefix("lost ") && $0.contains(digits) }, "\(outcome.lines)")
        #expect(!outcome.lines.contains { $0.hasPrefix("missing ") }, "\(outcome.lines)")
        try FileManager.default.copyItem(
            atPath: archive.string + "/segments/" + segment, toPath: copy + "/segments/" + segment)
        let again = try work.run("check", "--archive", copy)
        #expect(again.status == 0 && again.errorText.isEmpty, "\(again.errorText)")
    }

    private func start(_ work: Workplace, _ root: FilePath) throws -> ChildProcess {
        let words = ["watch", root.string, "--json", "--settle", "1ms", "--time-scale", "100"]
        let process = try ChildProcess(
            Workplace.program, words.map { Array($0.utf8) },
            environment: OtherWriterTests.machine.merging(["ARCHIVER_ARCHIVE": work.archive.string]) { $1 },
            directory: "/")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        return process
    }
}
