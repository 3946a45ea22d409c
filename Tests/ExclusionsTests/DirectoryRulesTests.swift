// Ignore files and cache tags read from directories.

import Exclusions
import FileIO
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("Directory rules", .blocking)
struct DirectoryRulesTests {
    private static let name = RelativePath(".archiverignore")
    private static let tag = RelativePath("CACHEDIR.TAG")
    private static let signature = "Signature: 8a477f597d28d172789f06886806bc55"

    private let directory: OpenDirectory
    private let caches = ExclusionRules(excludesCaches: true)

    init() throws { directory = try OpenDirectory() }

    /// Reads the rules with and without the directory's listing; the results must be equal.
    private func read(_ rules: ExclusionRules = ExclusionRules()) throws -> DirectoryRules {
        let found = DirectoryRules.read(in: directory.root, rules)
        let records = try listing()
        let other = DirectoryRules.read(in: directory.root, rules, among: records)
        #expect(found.ignoreFiles == other.ignoreFiles)
        #expect(found.isCache == other.isCache)
        return found
    }

    private func listing() throws(FileError) -> DirectoryListing {
        let directory = try directory.root.open(beneath: .root, O_RDONLY | O_DIRECTORY)
        return try DirectoryReader.list(directory, path: .root)
    }

    private func file(_ text: String) -> IgnoreFile { IgnoreFile(Array(text.utf8)) }

    @Test("ignore files are read in the order of the rules' names")
    func order() throws {
        for (name, text) in [("a", "1"), ("b", "2"), ("c", "# nothing"), ("d", "")] {
            try directory.write(Array(text.utf8), to: try #require(RelativePath(name)))
        }
        let rules = ExclusionRules(ignoreFileNames: ["b", "x", "c", "d", "a"].map { Array($0.utf8) })
        #expect(try read(rules).ignoreFiles == [file("2"), file("1")])
        #expect(try read().ignoreFiles.isEmpty)
    }

    @Test("only regular files are read as ignore files")
    func kinds() throws {
        #expect(try read().ignoreFiles.isEmpty)
        try directory.createDirectory(Self.name)
        #expect(try read().ignoreFiles.isEmpty)
        try directory.root.removeDirectory(CName(Self.name.bytes), path: .init(Self.name))
        try directory.write(Array("a".utf8), to: RelativePath("target"))
        try directory.createLink(Self.name, to: "target")
        #expect(try read().ignoreFiles.isEmpty, "a symbolic link is not followed")
        try directory.remove(Self.name)
        try directory.root.createSpecialFile(
            CName(Self.name.bytes), kind: .fifo, permissions: 0o644, path: .init(Self.name))
        let pipe = try directory.root.open(beneath: Self.name, O_RDWR)
        try pipe.write(Array("a".utf8), path: .init(Self.name))
        #expect(try read().ignoreFiles.isEmpty)
        let isUntouched = canRead(pipe)
        #expect(isUntouched)
        try directory.remove(Self.name)
        try directory.write(Array("a".utf8), to: Self.name)
        #expect(try read().ignoreFiles == [file("a")])
    }

    /// Whether `pipe` can be read without waiting.
    private func canRead(_ pipe: borrowing Descriptor) -> Bool {
        var request = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&request, 1, 0) == 1
    }

    @Test("an ignore file that is too long has no effect")
    func length() throws {
        let comment =
            Array("#".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: DirectoryRules.ignoreFileByteLimit - 3)
        let longest = comment + Array("\na".utf8)
        try directory.write(longest, to: Self.name)
        #expect(try read().ignoreFiles == [file("a")])
        try directory.write(longest + Array("b".utf8), to: Self.name)
        #expect(try read().ignoreFiles.isEmpty)
    }

    @Test("files missing from the listing are not read")
    func listed() throws {
        let none = try listing()
        try directory.write(Array(Self.signature.utf8), to: Self.tag)
        let others = try listing()
        try directory.write(Array("a".utf8), to: Self.name)
        let nothing = DirectoryRules.read(in: directory.root, caches, among: none)
        #expect(nothing.ignoreFiles.isEmpty && !nothing.isCache)
        let tagOnly = DirectoryRules.read(in: directory.root, caches, among: others)
        #expect(tagOnly.ignoreFiles.isEmpty && tagOnly.isCache)
    }

    @Test("names are found at any position of a listing")
    func places() throws {
        let names = (0..<20).map { Array("n\($0)".utf8) }
        for (index, name) in names.enumerated() {
            try directory.write(Array("\(index)".utf8), to: RelativePath.root.appending(name))
        }
        #expect(try read(ExclusionRules(ignoreFileNames: names)).ignoreFiles == (0..<20).map { file("\($0)") })
    }

    @Test(
        "a cache is recognised by the signature of its tag",
        arguments: [
            (signature, true), (signature + "\n# by a program\n", true), (signature + "x", true),
            ("", false), (String(signature.dropLast()), false), (" " + signature, false),
            (signature.uppercased(), false),
        ])
    func cacheTag(_ text: String, _ isCache: Bool) throws {
        try directory.write(Array(text.utf8), to: Self.tag)
        #expect(try read(caches).isCache == isCache)
        #expect(try !read().isCache, "not requested")
    }

    @Test("a cache's tag must be a regular file")
    func cacheTagKind() throws {
        #expect(try !read(caches).isCache)
        try directory.write(Array(Self.signature.utf8), to: RelativePath("target"))
        try directory.createLink(Self.tag, to: "target")
        #expect(try !read(caches).isCache)
    }

    @Test("only ignore files and the cache tag decide on exclusions")
    func decides() {
        #expect(DirectoryRules.decides(".archiverignore".utf8, caches))
        #expect(DirectoryRules.decides("CACHEDIR.TAG".utf8, caches))
        #expect(!DirectoryRules.decides("CACHEDIR.TAG".utf8, ExclusionRules()))
        #expect(!DirectoryRules.decides(".gitignore".utf8, caches))
        #expect(DirectoryRules.decides(".gitignore".utf8, ExclusionRules(ignoreFileNames: [Array(".gitignore".utf8)])))
        #expect(!DirectoryRules.decides("a".utf8, caches))
    }
}
