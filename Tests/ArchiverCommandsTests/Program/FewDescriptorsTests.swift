// Programs with a low limit of open files.

import ArchiveFormat
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct FewDescriptorsTests {
    /// Runs or starts `archiver` under the shell's `ulimit`.
    private func start(_ work: Workplace, files: Int, _ arguments: String...) throws -> ChildProcess {
        let command = "ulimit -n \(files) && exec \"$0\" \"$@\""
        return try ChildProcess(
            "sh", (["-c", command, Workplace.program.string] + arguments).map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string, "HOME": work.path("").string], directory: "/")
    }

    @Test("doctor scans more directories than the limit of open files, and reports the low limit")
    func doctor() throws {
        let work = try Workplace()
        for outer in 0..<10 {
            for inner in 0..<10 { try work.write("d\(outer)/e\(inner)/file", "x") }
        }
        let outcome = try start(work, files: 40, "doctor", work.root.string, "--json").finish()
        let findings = try JSON.array(outcome.output)
        func finding(_ topic: String) -> [String: Any]? { findings.first { $0["topic"] as? String == topic } }
        // The tree's own entries are the root, notes, and three files.
        #expect((finding("size")?["message"] as? String)?.hasPrefix("112 directories, 103 files") == true)
        #expect(finding("access")?["verdict"] as? String == "good", "\(findings)")
        #expect(finding("open files")?["verdict"] as? String == "bad")
        #expect(outcome.status == 1)
    }

    /// A failed accept must not stop the watcher from listening.
    @Test("a watcher answers again after clients that used up its descriptors have closed")
    func watcher() throws {
        let work = try Workplace()
        let process = try start(work, files: 64, "watch", work.root.string, "--json", "--audit-interval", "0s")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        let name = "watch-" + ChunkID(hashing: work.root.bytes).hex.prefix(16) + ".socket"
        let socket = work.archive.appending("locks").appending(name)
        do {
            let clients = try (0..<80).map { _ in try Client(socket) }
            withExtendedLifetime(clients) {}
        }
        let outcome = try work.run("status", "--json")
        #expect(outcome.status == 0, "\(outcome.text)")
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    /// A connection that sends nothing.
    private final class Client {
        private let socket: LocalSocket

        init(_ path: FilePath) throws {
            guard let socket = try LocalSocket.connect(to: path, by: .now + .seconds(30)) else { throw NobodyListens() }
            self.socket = socket
        }

        private struct NobodyListens: Error {}
    }
}
