// Restores from forged archives: a restore verifies what it can, and reports the rest.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import Roots
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct ForgedRestoreTests {
    /// Commits a snapshot of the sandbox's root with `entries`, and a slice list with one hole of 5 bytes.
    private func forge(_ sandbox: Sandbox, _ entries: [Entry]) throws -> ListedSnapshot {
        let store = try ArchiveStore.open(sandbox.archive.directory, creating: false)
        let writer = try store.beginCommit()
        var encoder = try BlockEncoder(level: 1)
        let list = RawChunk(kind: .sliceList, bytes: SliceList(slices: [Slice(length: 5, chunk: nil)]).encoded())
        let node = RawChunk(kind: .node, bytes: Node.leaf(entries).encoded())
        for chunk in [list, node] where try writer.claim(chunk.id) { try writer.append(encoder.encode([chunk])) }
        let host = try #require(try sandbox.archive.roots().first).host
        let snapshot = Snapshot(
            time: .now, rootPath: sandbox.root.directory.bytes,
            host: host, cause: .capture, tree: node.id, totals: Totals(files: 2, directories: 1),
            changes: ChangeCounts(added: 1), storedBytes: 1, sequence: 2, machine: Machine.id)
        return try writer.commit(snapshot, base: nil)
    }

    private func entry(_ path: String, _ kind: FileKind, _ content: Content = .none) throws -> Entry {
        Entry(
            path: path.isEmpty ? .root : try .at(FilePath(path)), kind: kind,
            permissions: kind == .directory ? 0o755 : 0o644, owner: geteuid(), group: getegid(),
            modified: Timestamp(seconds: 1_000_000_000), content: content)
    }

    @Test("a link without a target and a false size are reported, and the rest is restored", arguments: [true, false])
    func lies(inPlace: Bool) throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("good", "old")
        try sandbox.capture()
        let list = ChunkID(hashing: SliceList(slices: [Slice(length: 5, chunk: nil)]).encoded())
        let forged = try forge(
            sandbox,
            [
                entry("", .directory), entry("good", .file, .inline(Array("new".utf8))),
                entry("lie", .file, .sliceLists([ListedSlices(length: 1 << 40, list: list)])),
                entry("link", .symbolicLink),
            ])
        let target = inPlace ? sandbox.root.directory : sandbox.base.full("target")
        let options = inPlace ? RestoreOptions() : RestoreOptions(target: target)
        let result = try sandbox.archive.restore(forged, options)
        #expect(result.problems.map(\.path.description).sorted() == ["lie", "link"])
        #expect(result.hasDamage && !result.isComplete && result.failed == 2)
        #expect(result.bytesWritten == 3 && result.created + result.replaced == (inPlace ? 1 : 2))
        #expect(try Files(target).read("good") == Array("new".utf8))
        #expect(!Files(target).exists("lie") && !Files(target).exists("link"))
    }

    @Test("a snapshot's row in the catalogue is compared with the snapshot before anything is written")
    func catalogue() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "old")
        let first = try sandbox.capture()
        try sandbox.root.write("file", "new")
        let second = try sandbox.capture()
        let lie = ListedSnapshot(
            id: second.id, time: second.time, rootPath: second.rootPath, host: second.host, cause: second.cause,
            label: nil, parent: nil, tree: first.tree, totals: second.totals, changes: second.changes, problems: 0,
            storedBytes: 0)
        for options in [RestoreOptions(), RestoreOptions(target: sandbox.base.full("target"))] {
            ArchiverError.expect(.damaged) { _ = try sandbox.archive.restore(lie, options) }
        }
        #expect(try sandbox.root.read("file") == Array("new".utf8))
        #expect(!sandbox.base.exists("target"))
    }

    @Test("an operation that names a snapshot of another root is not undone")
    func foreignOperation() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "precious")
        let own = try sandbox.capture()
        try sandbox.base.makeDirectory("other")
        try sandbox.base.write("other/intruder", "x")
        let other = try sandbox.archive.capture(sandbox.base.full("other")).latest
        let store = try ArchiveStore.open(sandbox.archive.directory, creating: false)
        _ = try store.enter(
            OperationRecord(
                rootPath: own.rootPath, host: own.host, kind: .restore, time: .now, before: other.id, snapshot: own.id,
                machine: Machine.id))
        let archive = try sandbox.reopened()
        let root = try #require(try archive.root(holding: sandbox.root.directory))
        for isDryRun in [true, false] {
            let error = ArchiverError.expect(.otherRoot) {
                _ = try archive.undo(root, ReversalOptions(isDryRun: isDryRun))
            }
            #expect(error?.message.contains("other") == true)
        }
        #expect(try sandbox.root.read("file") == Array("precious".utf8) && !sandbox.root.exists("intruder"))
    }

    @Test("a snapshot whose root is a file is not restored", arguments: [true, false])
    func rootIsAFile(inPlace: Bool) throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("good", "old")
        try sandbox.capture()
        let forged = try forge(sandbox, [entry("", .file, .inline(Array("new".utf8)))])
        let target = sandbox.base.full("target")
        ArchiverError.expect(.damaged) {
            _ = try sandbox.archive.restore(forged, inPlace ? RestoreOptions() : RestoreOptions(target: target))
        }
        #expect(try sandbox.root.read("good") == Array("old".utf8) && !Files("/").exists(target))
    }
}
