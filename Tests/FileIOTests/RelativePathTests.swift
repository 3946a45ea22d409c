// The order of paths compared with a real walk, and the relations between their parts.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct RelativePathTests {
    /// Creates a random tree and returns its paths in no particular order.
    private func createTree(in directory: OpenDirectory, _ random: inout SeededGenerator) throws -> [RelativePath] {
        var directories = [RelativePath.root]
        var paths = Set<RelativePath>()
        for _ in 0..<300 {
            let parent = directories[Int.random(in: 0..<directories.count, using: &random)]
            let path = parent.appending(random.name())
            if !paths.insert(path).inserted { continue }
            let place = try directory.root.openParent(of: path)
            if Int.random(in: 0..<3, using: &random) == 0 {
                try place.directory.createDirectory(place.name, permissions: 0o700, path: FilePath(path))
                directories.append(path)
            } else {
                try place.directory.createSpecialFile(
                    place.name, kind: .file, permissions: 0o600, path: FilePath(path))
            }
        }
        return Array(paths)
    }

    /// All paths below `path`, with names in byte order and the contents of a directory directly after it.
    private func walk(_ path: RelativePath, in directory: OpenDirectory) throws -> [RelativePath] {
        var reader = DirectoryReader()
        let folder = try directory.root.open(beneath: path, O_RDONLY | O_DIRECTORY)
        return try reader.read(folder, path: path).flatMap { record in
            let child = path.appending(record.name)
            return record.kind == .directory ? [child] + (try walk(child, in: directory)) : [child]
        }
    }

    @Test("paths are ordered like a walk of a directory tree")
    func walkOrder() throws {
        var random = SeededGenerator("walk")
        for _ in 0..<5 {
            let directory = try OpenDirectory()
            let paths = try createTree(in: directory, &random)
            #expect(paths.sorted() == (try walk(.root, in: directory)), "seed \(random.seed)")
        }
    }

    @Test("paths are compared component by component")
    func componentOrder() {
        var random = SeededGenerator("order")
        for _ in 0..<5_000 {
            let (a, b) = (path(&random), path(&random))
            let expected = a.components.lexicographicallyPrecedes(b.components) { $0.lexicographicallyPrecedes($1) }
            #expect((a < b) == expected, "\(a.bytes) \(b.bytes), seed \(random.seed)")
            #expect([a < b, b < a, a == b].count { $0 } == 1, "\(a.bytes) \(b.bytes), seed \(random.seed)")
        }
    }

    private func path(_ random: inout SeededGenerator) -> RelativePath {
        (0..<Int.random(in: 0...4, using: &random)).reduce(RelativePath.root) { path, _ in path.appending(random.name())
        }
    }

    @Test("the parts of a path agree with the path")
    func parts() throws {
        var random = SeededGenerator("laws")
        for _ in 0..<2_000 {
            let (path, below) = (path(&random), path(&random))
            let whole = path.appending(path: below)
            #expect(RelativePath(whole.bytes) == whole, "seed \(random.seed)")
            #expect(path.contains(whole), "seed \(random.seed)")
            #expect(path.suffix(of: whole) == below, "seed \(random.seed)")
            #expect(whole.depth == path.depth + below.depth, "seed \(random.seed)")
            #expect(whole.depth == whole.components.count, "seed \(random.seed)")
            #expect(whole.components.reduce(RelativePath.root) { $0.appending($1) } == whole, "seed \(random.seed)")
            #expect(whole.contains(path) == below.isRoot, "seed \(random.seed)")
            if let parent = whole.parent {
                #expect(parent.appending(whole.name) == whole, "seed \(random.seed)")
                #expect(parent < whole && parent.contains(whole) && !whole.contains(parent), "seed \(random.seed)")
            } else {
                #expect(whole.isRoot, "seed \(random.seed)")
            }
            #expect(FilePath(whole).bytes == (whole.isRoot ? [UInt8(ascii: ".")] : whole.bytes), "seed \(random.seed)")
        }
    }

    @Test("a path whose name only begins with a directory's name is not below that directory")
    func prefixes() throws {
        let build = RelativePath("build")
        #expect(!build.contains(RelativePath("builda")))
        #expect(!build.contains(RelativePath("build.d/x")))
        #expect(build.contains(RelativePath("build/x")))
        #expect(build.suffix(of: RelativePath("builda")) == nil)
    }

    @Test(
        "invalid paths are rejected",
        arguments: ["/", "/a", "a/", "a//b", ".", "..", "a/./b", "a/../b", "../a", "a\0b", "a/\0"])
    func invalid(text: String) {
        #expect(RelativePath(text) == nil)
    }
}

extension SeededGenerator {
    /// A file name of 1 to 255 bytes, without NUL and `/`; mostly short, so that names have common prefixes.
    mutating func name() -> [UInt8] {
        let alphabet = Array("ab.-_ \n\u{1}0".utf8) + [0xFF, 0x80]
        while true {
            let isShort = Int.random(in: 0..<10, using: &self) > 0
            let count = Int.random(in: 1...(isShort ? 3 : 255), using: &self)
            let name = (0..<count).map { _ in
                isShort ? alphabet[Int.random(in: 0..<alphabet.count, using: &self)] : anyNameByte()
            }
            if name != Array(".".utf8) && name != Array("..".utf8) { return name }
        }
    }

    private mutating func anyNameByte() -> UInt8 {
        let byte = UInt8.random(in: 1...255, using: &self)
        return byte == UInt8(ascii: "/") ? 1 : byte
    }
}
