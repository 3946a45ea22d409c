// Parses scenarios; fixtures/watch/README.md describes their language.

internal import Foundation

/// One scenario: the changes of a tree while it is watched, and the expected results.
package struct Script: Sendable {
    /// One line of a script.
    package struct Line: Sendable, CustomStringConvertible {
        package let number: Int
        /// The line's words with their escapes resolved; may contain any bytes.
        package let words: [[UInt8]]
        /// The line as written.
        package let description: String

        /// The first word.
        package var command: String { String(decoding: words.first ?? [], as: UTF8.self) }

        /// The words after the first as text.
        package var arguments: [String] { words.dropFirst().map { String(decoding: $0, as: UTF8.self) } }
    }

    /// The file's name without its extension.
    package let name: String
    /// The file's first line: a sentence that describes the scenario.
    package let title: String
    package let lines: [Line]

    /// Whether a line begins with one of `commands`.
    package func uses(_ commands: String...) -> Bool {
        lines.contains { commands.contains($0.command) }
    }

    /// Whether the script expects `event`.
    package func expects(_ event: String) -> Bool {
        lines.contains { $0.command == "expect" && $0.arguments.first == event }
    }

    /// The script's special requirements: the words of its `requires` lines.
    package var requirements: Set<String> {
        Set(lines.filter { $0.command == "requires" }.flatMap(\.arguments))
    }
}

extension Script {
    /// Every script of `fixtures/watch`, sorted by name.
    package static let all: [Script] = {
        let folder = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "fixtures/watch")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        return names.sorted().filter { $0.hasSuffix(".txt") }.compactMap { name in
            guard let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8) else { return nil }
            return Script(name: String(name.dropLast(4)), text)
        }
    }()

    /// Parses a script: its title, then one step per line; lines that begin with `#` are comments.
    package init(name: String, _ text: String) {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.drop { $0 == " " }
        }
        self.name = name
        title = all.first.map(String.init) ?? ""
        lines = all.enumerated().dropFirst().compactMap { index, line in
            if line.isEmpty || line.hasPrefix("#") { return nil }
            let words = line.split(separator: " ").map { Script.unescaped($0.utf8) }
            return Line(number: index + 1, words: words, description: String(line))
        }
    }

    /// Resolves `\xHH`, `\n` and `\\`.
    private static func unescaped(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "x"):
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? UInt8(ascii: "?"))
                rest = rest.dropFirst(2)
            case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
            default: bytes.append(escape)
            }
        }
        return bytes
    }
}

/// A line that failed or is not a command.
package struct ScriptError: Error, CustomStringConvertible {
    package let description: String

    package init(_ line: String, _ reason: String) {
        description = "\(line): \(reason)"
    }
}
