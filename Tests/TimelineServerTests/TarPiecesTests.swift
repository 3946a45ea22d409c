// Downloads as tar, unpacked by the system's tar and compared.

import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct TarPiecesTests {
    @Test("a downloaded tar file unpacks to the captured files")
    func unpacked() throws {
        var random = SeededGenerator("tar")
        let scratch = try TemporaryDirectory()
        let long = String(repeating: "long", count: 55)
        try scratch.write("root/plain.txt", "text\n")
        try scratch.write("root/\(long)/\(long)/deep.txt", "deep\n")
        try scratch.write("root/empty", "")
        try scratch.write("root/large", String(decoding: random.text(700_000), as: UTF8.self))
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/root/link", withDestinationPath: "\(long)/\(long)/deep.txt")
        let archive = try Archive.open(scratch.path.pushing("archive"), creating: true)
        let snapshot = try #require(try archive.capture(scratch.path.pushing("root")).snapshot)
        let top = try #require(try archive.entry(at: .root, in: snapshot))
        let pieces = TarPieces(archive, snapshot, top)
        var bytes: [UInt8] = []
        while let piece = try pieces.next() { bytes += piece }
        #expect(bytes.count % 512 == 0)
        try Data(bytes).write(to: URL(filePath: "\(scratch.path)/all.tar"))
        let script = """
            set -e; cd "$1"; mkdir out; tar -xf all.tar -C out; diff -r --no-dereference root out
            """
        let shell = try ChildProcess.run(["bash", "-c", script, "bash", scratch.path.string])
        #expect(shell.status == 0, "\(shell.errorText) seed \(random.seed)")
    }
}
