// `archiver browse` and the programs that it starts.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct BrowseTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    @Test(
        "the browser gets the path of a file that only its owner can read, not the token",
        .enabled(if: Workplace.hasTerminals))
    func redirect() throws {
        #expect(try place.run("capture", place.root.string).status == 0)
        let (programs, found) = (place.path("programs").string, place.path("found").string)
        let script = """
            #!/bin/sh
            { echo "$@"; stat -c %a "$1"; cat "$1"; } > \(found)
            """
        try place.write(program: "programs/xdg-open", script)
        #expect(mkfifo(found, 0o600) == 0)
        let server = try place.startOnTerminal(
            "browse", place.root.string,
            environment: [
                "DISPLAY": ":0", "PATH": "\(programs):/usr/local/bin:/usr/bin:/bin",
                "XDG_RUNTIME_DIR": place.path("").string,
            ])
        let url = try server.line { $0.contains("#token=") }.trimmingCharacters(in: .whitespacesAndNewlines)
        let lines = try ChildProcess.run(["cat", found]).lines
        let file = try #require(lines.first)
        #expect(!file.contains("token") && lines.count == 3 && lines[1] == "600")
        #expect(lines.last?.contains(url) == true)
        server.send(SIGTERM)
        _ = try server.finish()
    }

    @Test("--log-file says when the page was served, and is refused inside a root")
    func log() throws {
        #expect(try place.run("capture", place.root.string).status == 0)
        let log = place.path("log").string
        let server = try place.start("browse", place.root.string, "--no-open", "--log-file", log)
        _ = try server.line { $0.contains("#token=") }
        server.send(SIGTERM)
        #expect(try server.finish().status == 130)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.first?.hasSuffix(" info served readOnly=false") == true, "\(lines)")
        #expect(lines.last?.hasSuffix(" info ended") == true, "\(lines)")
        #expect(!lines.contains { $0.contains("token") })
        let refused = try place.run("browse", "--no-open", "--log-file", place.path("tree/log").string)
        #expect(refused.status == 64 && refused.errorText.contains("is inside the root"), "\(refused.errorText)")
    }
}
