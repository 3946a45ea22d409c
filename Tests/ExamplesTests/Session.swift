// Sessions with programs, stored as files: commands and their output.

import Foundation
import Testing

/// A session: commands, and the expected output lines of each.
struct Session: CustomTestStringConvertible, Sendable {
    struct Command: Sendable {
        let words: [String]
        var expected: [String] = []
    }

    let name: String
    private(set) var commands: [Command] = []

    var testDescription: String { name }

    /// The repository's directory of fixtures.
    static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    /// All sessions in fixtures/states, by name.
    static let all: [Session] = {
        let folder = fixtures.appending(path: "states")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { name in
            (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)).map { Session(name, $0) }
        }
    }()

    private init(_ name: String, _ text: String) {
        self.name = name
        for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
            if line.hasPrefix("$ ") {
                commands.append(Command(words: Session.words(String(line.dropFirst(2)))))
            } else if !commands.isEmpty {
                commands[commands.count - 1].expected.append(line)
            }
        }
    }

    /// The words of a command line; double quotes join words.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        for (index, part) in line.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }

    /// Whether `lines` match `expected`, in which `…` matches anything.
    static func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "…" {
            return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], expected.dropFirst()) }
        }
        guard let line = lines.first, isMatch(line, first) else { return false }
        return matches(lines.dropFirst(), expected.dropFirst())
    }

    private static func isMatch(_ line: String, _ expected: String) -> Bool {
        let parts = expected.components(separatedBy: "…")
        guard parts.count > 1 else { return line == expected }
        guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
        var rest = line[...]
        for part in parts where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
