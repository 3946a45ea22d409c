// The first hours of a writer, a developer and an administrator, and the day of a container: their commands, and what the program prints on a
// terminal.

import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("First hours", .blocking)
struct FirstHourTests {
    private static let hasTerminals = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    @Test(
        "a first hour prints what its file says", .enabled(if: hasTerminals),
        arguments: ["writer", "developer", "administrator", "container"])
    func hours(_ name: String) throws {
        let scratch = try TemporaryDirectory()
        let file = Session.fixtures.appending(path: "first-hours/\(name).txt")
        let hour = FirstHour(try String(contentsOf: file, encoding: .utf8))
        #expect(hour.steps.count > 10)
        let printed = try hour.run(in: scratch.url.resolvingSymlinksInPath())
        #expect(printed.count == hour.steps.count, "\(printed)")
        for (step, lines) in zip(hour.steps, printed) {
            #expect(
                Session.matches(lines[...], step.expected[...]), "\(step.command)\n\(lines.joined(separator: "\n"))")
        }
    }
}

/// A session of one shell: commands, and the output of each.
private struct FirstHour {
    struct Step {
        let command: String
        /// What the test does after the command, such as waiting.
        var then: [String] = []
        var expected: [String] = []
    }

    private(set) var steps: [Step] = []

    init(_ text: String) {
        for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if !steps.isEmpty {
                let last = steps.count - 1
                if line.hasPrefix("% ") {
                    steps[last].then.append(String(line.dropFirst(2)))
                } else {
                    steps[last].expected.append(line)
                }
            }
        }
    }

    private static let mark = "@@@@"

    private var script: String {
        var lines = ["stty columns 100 -onlcr", "cd", "exec 2>&1"]
        for step in steps {
            lines += [step.command, "echo; echo \(FirstHour.mark)"]
            lines += step.then.map { "{ \($0); } > /dev/null 2>&1" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Runs all commands in the home directory of a user named ann.
    ///
    /// - Returns: the lines that each command printed, without empty ones.
    func run(in folder: URL) throws -> [[String]] {
        let home = folder.appending(path: "home")
        let programs = folder.appending(path: "bin")
        for directory in [home, programs] {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: programs.appending(path: "archiver").path(), withDestinationPath: BuiltProgram.path(of: "archiver"))
        let script = folder.appending(path: "session.sh")
        try Data(self.script.utf8).write(to: script)
        let text = try ChildProcess.run(
            ["script", "-qec", "bash '\(script.path())'", "/dev/null"],
            environment: [
                "HOME": home.path(), "PATH": "\(programs.path()):/usr/local/bin:/usr/bin:/bin", "TERM": "xterm",
                "NO_COLOR": "1", "ARCHIVER_PAGER": "cat", "ARCHIVER_MACHINE_ID": "first-hour",
            ], joinsErrors: true
        ).text
            .replacing("\r", with: "").replacing(home.path(), with: "/home/ann")
        return text.components(separatedBy: FirstHour.mark + "\n").dropLast().map(FirstHour.lines)
    }

    /// The lines that stay on the terminal: a progress line is erased before the next.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.components(separatedBy: "\u{1B}[K").last ?? "" }
            .filter { !$0.allSatisfy(\.isWhitespace) }
    }
}
