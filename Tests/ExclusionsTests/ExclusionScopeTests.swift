// Exclusion scopes, which a walk extends on the way down.

import Exclusions
import FileIO
import TestTraits
import Testing

@Suite("Exclusion scope", .blocking)
struct ExclusionScopeTests {
    private func path(_ text: String) throws -> RelativePath { try #require(RelativePath(text)) }

    private func file(_ text: String) -> IgnoreFile { IgnoreFile(Array(text.utf8)) }

    @Test("a scope that excludes nothing is trivial")
    func trivial() throws {
        #expect(ExclusionScope(ExclusionRules()).isTrivial)
        #expect(ExclusionScope(ExclusionRules(patterns: [Array("!a".utf8), [], Array("[".utf8)])).isTrivial)
        #expect(!ExclusionScope(ExclusionRules(patterns: [Array("a".utf8)])).isTrivial)
        let scope = ExclusionScope(ExclusionRules())
        #expect(scope.adding([file("# a"), file("!b")], of: .root).isTrivial)
        #expect(!scope.adding([file("a")], of: .root).isTrivial)
        #expect(scope.isTrivial, "adding to a copy does not change the original")
    }

    @Test("of two ignore files in a directory the later one takes precedence")
    func twoNames() throws {
        let scope = ExclusionScope(ExclusionRules()).adding([file("a\n!b"), file("!a\nb")], of: .root)
        #expect(try !scope.excludes(path("a"), isDirectory: false))
        #expect(try scope.excludes(path("b"), isDirectory: false))
    }

    @Test("extending a scope does not change the original")
    func branches() throws {
        let root = ExclusionScope(ExclusionRules()).adding([file("a")], of: .root)
        let left = root.adding([file("!a\nb")], of: try path("left"))
        let right = root.adding([file("c")], of: try path("right"))
        #expect(try !left.excludes(path("left/a"), isDirectory: false))
        #expect(try left.excludes(path("left/b"), isDirectory: false))
        #expect(try right.excludes(path("right/a"), isDirectory: false))
        #expect(try !right.excludes(path("right/b"), isDirectory: false))
        #expect(try right.excludes(path("right/c"), isDirectory: false))
        #expect(try !root.excludes(path("c"), isDirectory: false))
    }

    @Test("anchored patterns are relative to the directory of their file")
    func anchors() throws {
        let scope = ExclusionScope(ExclusionRules()).adding([file("/a\nc/d")], of: try path("x/y"))
        #expect(try scope.excludes(path("x/y/a"), isDirectory: false))
        #expect(try scope.excludes(path("x/y/c/d"), isDirectory: false))
        #expect(try !scope.excludes(path("x/y/z/a"), isDirectory: false))
        #expect(try !scope.excludes(path("x/y/z/c/d"), isDirectory: false))
    }

    @Test("an ignore file is never excluded, a directory of its name is")
    func ignoreFiles() throws {
        let rules = ExclusionRules(
            patterns: [Array("*".utf8)],
            ignoreFileNames: [ExclusionRules.ignoreFileName, ExclusionRules.gitIgnoreFileName])
        let scope = ExclusionScope(rules).adding([file(".archiverignore")], of: .root)
        for name in [".archiverignore", ".gitignore", "a/.gitignore"] {
            #expect(try !scope.excludes(path(name), isDirectory: false))
            #expect(try scope.excludes(path(name), isDirectory: true))
        }
        #expect(try scope.excludes(path("a.gitignore"), isDirectory: false))
        let other = ExclusionScope(ExclusionRules(patterns: rules.patterns))
        #expect(try other.excludes(path(".gitignore"), isDirectory: false), "not an ignore file here")
    }

    @Test("the root itself is not excluded")
    func root() {
        let scope = ExclusionScope(ExclusionRules(patterns: ["*", "**", "/**", "**/"].map { Array($0.utf8) }))
        #expect(!scope.excludes(.root, isDirectory: true))
    }

    @Test("an ignore file does not apply to its own directory or its siblings")
    func elsewhere() throws {
        let scope = ExclusionScope(ExclusionRules()).adding([file("*")], of: try path("x/yyyyyy"))
        #expect(try !scope.excludes(path("x"), isDirectory: true))
        #expect(try !scope.excludes(path("x/yyyyyy"), isDirectory: true))
        #expect(try !scope.excludes(path("x/yyyyyy with more"), isDirectory: true))
        #expect(try !scope.excludes(path("z"), isDirectory: true))
    }

    @Test("files above the size limit are excluded")
    func sizes() {
        #expect(!ExclusionRules().excludes(fileOfSize: .max))
        #expect(!ExclusionRules(largerThan: 5).excludes(fileOfSize: 5))
        #expect(ExclusionRules(largerThan: 5).excludes(fileOfSize: 6))
        #expect(ExclusionRules(largerThan: 0).excludes(fileOfSize: 1))
    }
}
