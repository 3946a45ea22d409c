// From a file's path to its root and its path below it.

import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestTraits
import Testing

@Suite("Locating files", .blocking)
struct LocatingTests {
    @Test("a file is located in its innermost root, also if it is gone, and through links to its directory")
    func located() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("figures/inner")
        try sandbox.root.write("figures/plot", "1")
        let outer = try sandbox.capture().root
        let root = sandbox.root.directory
        #expect(try sandbox.archive.locate(root).path == .root)
        for (file, path) in [
            ("figures/plot", "figures/plot"), ("./figures//plot", "figures/plot"), ("figures/", "figures"),
            ("gone/deep", "gone/deep"), ("figures/inner/../plot", "figures/plot"),
        ] as [(String, RelativePath)] {
            let found = try sandbox.archive.locate("\(root)/\(file)")
            #expect(found.root == outer && found.path == path, "\(file)")
        }
        let link = sandbox.base.directory.appending("link")
        #expect(symlink(root.string, link.string) == 0)
        #expect(symlink("plot", root.appending("figures/alias").string) == 0)
        #expect(try sandbox.archive.locate(link.appending("figures/plot")).path == "figures/plot")
        #expect(try sandbox.archive.locate(link.appending("figures/alias")).path == "figures/alias")
        _ = try sandbox.archive.capture(root.appending("figures"))
        let inner = try sandbox.archive.locate(root.appending("figures/plot"))
        #expect(inner.root.path == root.appending("figures") && inner.path == "plot")
        let error = ArchiverError.expect(.noSuchPath) { _ = try sandbox.archive.locate("/usr/nothing") }
        #expect(error?.message.contains("/usr/nothing") == true && error?.remedy != nil)
    }

    @Test(
        "a path that a person types may begin with ./ and end with /",
        arguments: [
            ("a", "a"), ("./a", "a"), ("a/", "a"), ("./a/b//", "a/b"), ("a/./b", "a/b"), (".", ""), ("", ""),
            ("./", ""),
            ("..a", "..a"), ("a b", "a b"),
        ])
    func parsed(text: String, path: String) throws {
        #expect(try RelativePath(parsing: text).bytes == Array(path.utf8))
        #expect(RelativePath(stringLiteral: text).bytes == Array(path.utf8))
    }

    @Test(
        "a path that leads out of its root is refused with its name",
        arguments: ["/etc", "/", "..", "a/../b", "./..", "a\0"])
    func refused(text: String) {
        let error = ArchiverError.expect(.noSuchPath) { _ = try RelativePath(parsing: text) }
        #expect(error?.message.contains(text) == true && error?.remedy != nil)
    }
}
