// Checks that the code in the articles is code that the tests run.

import TestSupport
import Testing

@Suite struct ArticleTests {
    @Test("an article has the code blocks of its test", arguments: ["Observer", "UserInterfaces", "Commands"])
    func blocks(
        _ name: String
    ) throws {
        let article = try CodeBlocks.file("Sources/Mementos/Mementos.docc/\(name).md")
        let blocks = CodeBlocks.ofDocument(article)
        #expect(!blocks.isEmpty)
        #expect(blocks == CodeBlocks.ofSource(try CodeBlocks.file("Tests/MementosTests/\(name)Article.swift")))
        #expect(
            article.split(separator: "\n").count { $0.hasPrefix("```") } == 2 * blocks.count,
            "a block of another language")
    }
}
