// Extracts code from documents, and the code in sources that it must equal.

import Foundation

/// Blocks of code between two markers; each block is its lines without the indentation of the first marker.
public enum CodeBlocks {
    /// The Swift blocks of a Markdown document.
    public static func ofDocument(_ text: String) -> [[String]] { regions(of: text, from: "```swift", to: "```") }

    /// The blocks between lines "// begin" and "// end" of a source.
    public static func ofSource(_ text: String) -> [[String]] { regions(of: text, from: "// begin", to: "// end") }

    /// The repository's file at `path`.
    public static func file(_ path: String) throws -> String {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        return try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    /// The texts of the Swift sources in the repository's directory at `path`.
    public static func sources(in path: String) throws -> [String] {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let names = try FileManager.default.contentsOfDirectory(atPath: repository.appending(path: path).path())
        return try names.filter { $0.hasSuffix(".swift") }.map { try file("\(path)/\($0)") }
    }

    /// The README and the articles, with their names without the suffix.
    public static func documents() throws -> [(name: String, text: String)] {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let sources = repository.appending(path: "Sources").path()
        let articles = FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String } ?? []
        let paths = ["README.md"] + articles.filter { $0.hasSuffix(".md") }.map { "Sources/\($0)" }
        return try paths.map { path in
            (URL(filePath: path).deletingPathExtension().lastPathComponent, try file(path))
        }
    }

    private static func regions(of text: String, from begin: String, to end: String) -> [[String]] {
        var regions: [[String]] = []
        var open: (indentation: Int, lines: [String])?
        for line in text.components(separatedBy: "\n") {
            let text = line.drop { $0 == " " }
            if let (indentation, lines) = open {
                if text == end {
                    regions.append(lines)
                    open = nil
                } else {
                    open?.lines.append(String(line.dropFirst(indentation)))
                }
            } else if text == begin {
                open = (line.count - text.count, [])
            }
        }
        return regions
    }
}
