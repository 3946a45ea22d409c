// The article on JSON output says what the commands write.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct JSONArticleTests {
    /// Fields that are left out where they do not apply, as the article says.
    private static func optionalFields(_ article: String) throws -> Set<String> {
        let start = try #require(article.range(of: "Optional fields"))
        let end = try #require(article.range(of: ".\n", range: start.upperBound..<article.endIndex))
        return Set(article[start.upperBound..<end.lowerBound].matches(of: /`(\w+)`/).map { String($0.1) })
    }

    @Test("Every command of the article writes the fields that it says, in this order")
    func commands() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md")
        let optional = try JSONArticleTests.optionalFields(article)
        let sections = article.components(separatedBy: "\n### archiver ").dropFirst()
        #expect(sections.count > 15)

        let work = try Workplace()
        symlink("notes/todo.txt", work.path("tree/link").string)
        try work.write("plan.md", "plan\n")
        _ = try work.capture()
        try work.remove("tree/plan.md")
        try work.write("notes/todo.txt", "three\n")
        try work.write("new", "new\n")
        for section in sections {
            let command = try #require(section.split(separator: "\n").first).split(separator: " ").map(String.init)
            let block = try #require(section.firstMatch(of: /```json\n([\s\S]*?)\n```/)?.1)
            let outcome = try work.run(
                (command.prefix(1) + ["--json"] + command.dropFirst()).map { Array($0.utf8) }, in: work.root)
            let written = outcome.output.isEmpty ? outcome.error : outcome.output
            let differences = Shape.differences(
                documented: try Shape.json(Array(block.utf8)), written: try Shape.json(written), optional,
                at: command[0])
            #expect(differences.isEmpty, "\(command): \(differences)")
        }
    }

    @Test("capture names the root by its path, wherever it is called")
    func captureRoot() throws {
        let work = try Workplace()
        let outcome = try work.run(["capture", ".", "--json"].map { Array($0.utf8) }, in: work.root)
        #expect(try JSON.array(outcome.output).first?["root"] as? String == work.root.string)
    }
}

/// The fields of JSON values.
private enum Shape {
    static func json(_ bytes: [UInt8]) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }

    /// Where the fields of two values differ; null is any value, and an empty array any array.
    static func differences(documented: Any, written: Any, _ optional: Set<String>, at place: String) -> [String] {
        if documented is NSNull || written is NSNull { return [] }
        switch (documented, written) {
        case (let left as [String: Any], let right as [String: Any]):
            let undocumented = right.keys.filter { left[$0] == nil && !optional.contains($0) }
            let unwritten = left.keys.filter { right[$0] == nil && !optional.contains($0) }
            let below = left.keys.sorted().flatMap { key in
                right[key].map {
                    differences(documented: left[key] ?? NSNull(), written: $0, optional, at: "\(place).\(key)")
                } ?? []
            }
            return undocumented.map { "\(place).\($0) is not documented" }
                + unwritten.map { "\(place).\($0) is not written" } + below
        case (let left as [Any], let right as [Any]):
            guard let first = left.first else { return [] }
            return right.flatMap { differences(documented: first, written: $0, optional, at: place + "[]") }
        default:
            let isSame =
                (documented is String) == (written is String) && (documented is NSNumber) == (written is NSNumber)
            return isSame ? [] : ["\(place) is of another kind"]
        }
    }
}
