// Archives with mistakes and correct checksums: `check` finds every mistake that would break a restore.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Forged archives", .blocking)
struct ForgedArchiveTests {
    @Test("check finds every mistake", arguments: ForgedArchive.wrong, [false, true])
    func found(archive: ForgedArchive, readingData: Bool) throws {
        let sandbox = try ForgedSandbox(archive)
        let result = try sandbox.open().check(data: readingData ? .all : .none)
        #expect(result.findingCount > 0)
    }

    @Test("an archive without findings restores exactly", arguments: ForgedArchive.wrong + ForgedArchive.right)
    func promise(forged: ForgedArchive) throws {
        let sandbox = try ForgedSandbox(forged)
        let archive = try sandbox.open()
        let result = try archive.check(data: true)
        guard result.findings.isEmpty else { return }
        for snapshot in try archive.snapshots() {
            let target = sandbox.base.full("target-\(snapshot.id.short)")
            let restored = try archive.restore(snapshot, RestoreOptions(target: target))
            #expect(restored.warnings == [])
            let second = try Archive.open(sandbox.base.full("second"), creating: true)
            let captured = try #require(try second.capture(target).snapshot)
            #expect(captured.totals == snapshot.totals)
        }
    }

    @Test("check finds nothing in a correct archive", arguments: ForgedArchive.right)
    func passed(archive: ForgedArchive) throws {
        let sandbox = try ForgedSandbox(archive)
        let result = try sandbox.open().check(data: true)
        #expect(result.findings.isEmpty, "\(result.findings)")
        #expect(result.goodSnapshots == result.snapshots && result.snapshots > 0)
    }
}

/// A forged archive in a directory that is removed after the test.
final class ForgedSandbox {
    let base: Files
    let archive: FilePath
    /// The root of the archive's snapshots; it has one file.
    let root: FilePath

    /// - Parameter inMemory: whether to use a file system in memory, for tests that create many archives.
    init(_ forged: ForgedArchive, inMemory: Bool = false) throws {
        base = Files(try TemporaryDirectory.create(inMemory: inMemory))
        archive = base.full("archive")
        root = base.full("root")
        try base.makeDirectory("root")
        try Files(root).write("present", "present")
        try Forgery.write(to: archive, of: root, forged.write)
        try forged.spoil(Files(archive))
    }

    deinit { try? base.removeAll() }

    func open() throws -> Archive { try Archive.open(archive) }
}
