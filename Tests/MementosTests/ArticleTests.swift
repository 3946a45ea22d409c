// The code in the articles is code that the tests run.

import Foundation
import Testing

@Suite struct ArticleTests {
    @Test(arguments: ["Observer", "Commands"]) func theBlocksOfAnArticleAreThoseOfItsTest(_ name: String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let catalogue = tests.appending(path: "../../Sources/Mementos/Mementos.docc")
        let article = try lines(of: catalogue.appending(path: "\(name).md"))
        let source = try lines(of: tests.appending(path: "\(name)Article.swift"))
        let blocks = regions(of: article, from: "```swift", to: "```")
        #expect(!blocks.isEmpty)
        #expect(blocks == regions(of: source, from: "// begin", to: "// end"))
        #expect(article.count { $0.hasPrefix("```") } == 2 * blocks.count, "a block of another language")
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }

    /// The lines between two markers, without the indentation of the first marker.
    private func regions(of lines: [String], from begin: String, to end: String) -> [[String]] {
        var regions: [[String]] = []
        var open: (indentation: Int, lines: [String])?
        for line in lines {
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
