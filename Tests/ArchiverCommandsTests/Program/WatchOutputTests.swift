// `archiver watch` and readers of its output that stall or close the pipe.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct WatchOutputTests {
    /// A named pipe with a capacity of one page, which the watcher writes to.
    private final class NarrowPipe {
        let path: FilePath
        private let reader: Descriptor
        private var text = ""

        init(_ path: FilePath) throws {
            self.path = path
            guard mkfifo(path.string, 0o600) == 0 else { throw ChildProcess.Failure(description: "mkfifo") }
            reader = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
            // F_SETPIPE_SZ, which Glibc's module does not export.
            _ = fcntl(reader.number, 1031, 4096)
        }

        /// Reads until the text so far satisfies `isEnough`.
        func read(until isEnough: (String) -> Bool) throws {
            while !isEnough(text) {
                var request = pollfd(fd: reader.number, events: Int16(POLLIN), revents: 0)
                guard poll(&request, 1, 60_000) > 0 else {
                    throw ChildProcess.Failure(description: "timed out after: \(text.suffix(500))")
                }
                var piece = [UInt8](repeating: 0, count: 4096)
                let count = Glibc.read(reader.number, &piece, piece.count)
                if count <= 0 { throw ChildProcess.Failure(description: "closed after: \(text.suffix(500))") }
                text += String(decoding: piece.prefix(count), as: UTF8.self)
            }
        }
    }

    private func watch(_ work: Workplace, _ pipe: NarrowPipe, _ redirection: String) throws -> ChildProcess {
        try ChildProcess(
            "sh",
            [
                "-c", "exec \"$0\" watch \"$1\" --json --settle 1ms --max-delay 5ms \(redirection)",
                Workplace.program.string, work.root.string, pipe.path.string,
            ].map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string], directory: "/")
    }

    /// Changes a file repeatedly, and waits each time until the watcher has captured the change.
    ///
    /// The file is replaced: if it was rewritten in place, a snapshot might hold it empty.
    private func change(_ work: Workplace, times: Int) throws {
        for number in 1...times {
            try work.replace("counter", "\(number)\n")
            // The watcher may still read the root for the first time, which it then says.
            var status = try work.run("status", work.root.string, "--patience", "60s")
            for _ in 0..<100 where status.status != 0 {
                status = try work.run("status", work.root.string, "--patience", "60s")
            }
            #expect(status.status == 0, "\(status.text)\(status.errorText)")
        }
    }

    @Test("a stalled reader does not delay captures, and gets everything when it reads again")
    func stalledReader() throws {
        let work = try Workplace()
        let pipe = try NarrowPipe(work.path("pipe"))
        let process = try watch(work, pipe, ">\"$2\"")
        try pipe.read { $0.contains("\"event\":\"watching\"") }
        try change(work, times: 15)
        #expect(try work.run("cat", "latest:counter").text == "15\n")
        // One for each change; a replacement may be captured halfway, too.
        #expect(try work.listed().count >= 16)
        process.send(SIGTERM)
        try pipe.read { $0.contains("\"event\":\"stopped\"") }
        #expect(try process.finish().status == 0)
    }

    @Test("SIGTERM ends a watch with a stalled reader after the last capture")
    func stalledReaderAtTheEnd() throws {
        let work = try Workplace()
        let pipe = try NarrowPipe(work.path("pipe"))
        let process = try watch(work, pipe, ">\"$2\" 2>&1")
        try pipe.read { $0.contains("\"event\":\"watching\"") }
        try change(work, times: 8)
        try work.write("counter", "last\n")
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        #expect(try work.run("cat", "latest:counter").text == "last\n")
    }

    @Test("watching continues when the reader closes the pipe, and reports that once")
    func closedPipe() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string, "--json", "--settle", "1ms")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        try process.closeOutput()
        try change(work, times: 3)
        process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let reports = outcome.errorText.split(separator: "\n").filter { $0.contains("stdout was closed") }
        #expect(reports.count == 1, "\(outcome.errorText)")
        #expect(try work.run("cat", "latest:counter").text == "3\n")
    }

    @Test("watching continues when its output cannot be written", .enabled(if: access("/dev/full", W_OK) == 0))
    func fullDisk() throws {
        let work = try Workplace()
        let process = try ChildProcess(
            "sh",
            ["-c", "exec \"$0\" watch \"$1\" --settle 1ms 2>&1 >/dev/full", Workplace.program.string, work.root.string]
                .map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string], directory: "/")
        _ = try process.line { $0.contains("No space left") }
        try change(work, times: 2)
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        #expect(try work.run("cat", "latest:counter").text == "2\n")
    }
}
