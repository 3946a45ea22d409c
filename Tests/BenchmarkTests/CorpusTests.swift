// Corpora are the same every time, and the comparison of trees finds every difference.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import benchmarks

@Suite struct CorpusTests {
    @Test("each small file has its own path") func paths() {
        let files = SmallFiles(outer: 2, inner: 3)
        let paths = (0..<files.count).map(files.path)
        #expect(Set(paths).count == 600)
        #expect(paths[0] == "00/00/00.txt")
        #expect(paths[599] == "01/02/99.txt")
    }

    @Test("what an archive stores is counted without its ballast") func ballast() throws {
        let archive = try TemporaryDirectory()
        func stored(after script: String) throws -> Int {
            try Command("sh", "-c", script).inDirectory(archive.path).run()
            return try Archiver(binary: "archiver").storedBytes(archive.path)
        }
        #expect(try stored(after: "mkdir segments && printf abc > segments/one") == 3)
        #expect(try stored(after: "head -c 1000 /dev/zero > ballast") == 3)
    }

    @Test("small files are the same every time") func smallFiles() throws {
        let directory = try TemporaryDirectory()
        let trees = ["one", "two"].map { directory.path.appending($0) }
        for tree in trees { try SmallFiles(outer: 2, inner: 2).make(at: tree) }
        try TreeComparison.check(trees[0], trees[1], includesTimes: false)
        // The root, 2 and 4 directories, 400 files.
        #expect(try TreeSize.entries(trees[0]) == 407)
        let bytes = (0..<400).reduce(0) { $0 + SmallFiles.content($1).utf8.count }
        #expect(try TreeSize.bytes(trees[0]) == bytes)
    }

    @Test("dense files are the same every time, after the inserted bytes") func denseFiles() throws {
        let directory = try TemporaryDirectory()
        let paths = ["one", "two", "three"].map { directory.path.appending($0) }
        for (path, front) in zip(paths, [[], [], [0x2A]]) as Zip2Sequence<[FilePath], [[UInt8]]> {
            try LargeFiles.makeDense(at: path, bytes: 2 << 20, front: front)
        }
        let texts = try paths.map { try bytes($0) }
        #expect(texts[0].count == 2 << 20)
        #expect(texts[0] == texts[1])
        #expect([0x2A] + texts[0] == texts[2])
    }

    @Test("sparse files have the full length and few blocks") func sparseFiles() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("image")
        try LargeFiles.makeSparse(at: path, bytes: 100 << 20)
        let status = try FileStatus.read(Descriptor.open(path, O_RDONLY))
        #expect(status.size == 100 << 20)
        #expect(status.allocatedBytes > 0 && status.allocatedBytes < 1 << 20)
    }

    @Test(
        "the comparison finds a difference in content, mode, time, name and kind",
        arguments: ["content", "mode", "time", "name", "kind"])
    func comparison(_ difference: String) throws {
        let directory = try TemporaryDirectory()
        let left = directory.path.appending("left")
        try SmallFiles(outer: 1, inner: 2).make(at: left)
        let right = directory.path.appending("right")
        try Floors.copy(left, to: right).run()
        try TreeComparison.check(left, right)
        let file = right.appending("00").appending("01").appending("42.txt")
        switch difference {
        case "content":
            var text = try TextFile.read(file)
            text.removeLast()
            try TextFile.write(text + "!", to: file)
            try Command("touch", "-r", left.pushing("00/01/42.txt").string, file.string).run()
        case "mode": chmod(file.string, 0o600)
        case "time": try Command("touch", "-d", "@1", file.string).run()
        case "name": rename(file.string, file.string + "x")
        default:
            unlink(file.string)
            symlink("elsewhere", file.string)
        }
        #expect(throws: BenchmarkError.self) { try TreeComparison.check(left, right) }
    }

    private func bytes(_ path: FilePath) throws -> [UInt8] {
        try Descriptor.open(path, O_RDONLY).readToEnd(limit: 1 << 30, path: path)
    }
}
