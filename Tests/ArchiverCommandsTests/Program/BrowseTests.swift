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
}
