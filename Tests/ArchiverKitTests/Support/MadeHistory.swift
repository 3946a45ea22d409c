// A root with made-up snapshots: entries, inodes and times as a test wants them, without a file system.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Roots
import SnapshotTree
import SystemPackage
import Testing

@testable import Capturing

/// A file of a made-up snapshot.
struct MadeFile: Hashable {
    /// The numbers of its lines, which make its text.
    var lines: [Int]
    var inode: UInt64?
    /// Seconds since 1970.
    var modified: Int64 = 0

    var text: [UInt8] { lines.flatMap { MadeFile.text(ofLine: $0) } }

    static func text(ofLine number: Int) -> [UInt8] { Array("line \(number) of a file that was made up\n".utf8) }
}

/// Commits made-up snapshots of one root; the first query finds what they changed.
final class MadeHistory {
    let sandbox: Sandbox
    private(set) var snapshots: [ListedSnapshot] = []
    private(set) var states: [[RelativePath: MadeFile]] = []

    var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    func root() throws -> ArchivedRoot { try #require(try archive.roots().first) }

    @discardableResult
    func add(_ files: [RelativePath: MadeFile], at seconds: Int64) throws -> ListedSnapshot {
        let store = archive.store
        let commit = try store.beginCommit()
        let packer = ChunkPacker(store, BlockAppender(store, commit, level: 1))
        let writer = NodeWriter(store, commit: commit, level: 1)
        var editor = try TreeEditor(base: nil, source: archive.nodes, sink: writer)
        var entries: [RelativePath: Entry] = [:]
        for (path, file) in files {
            entries[path] = try entry(path, file, packer)
            var parent = path.parent
            while let directory = parent, entries[directory] == nil {
                entries[directory] = Entry(
                    path: directory, kind: .directory, permissions: 0o755, modified: Timestamp(seconds: 0))
                parent = directory.parent
            }
        }
        entries[.root] = Entry(path: .root, kind: .directory, permissions: 0o755, modified: Timestamp(seconds: 0))
        for entry in entries.values.sorted(by: { $0.path < $1.path }) { try editor.apply(.put(entry)) }
        let tree = try editor.finish()
        try packer.flush()
        try writer.flush()
        let snapshot = Snapshot(
            time: Timestamp(seconds: seconds), rootPath: sandbox.root.directory.bytes, host: "host", cause: .watch,
            parent: snapshots.last?.id, tree: tree, totals: Totals(files: UInt64(files.count)),
            changes: ChangeCounts(modified: 1), storedBytes: 1, sequence: UInt64(snapshots.count) + 1,
            machine: Machine.id)
        let listed = try commit.commit(snapshot, base: nil, changes: snapshots.isEmpty ? [] : nil)
        snapshots.append(listed)
        states.append(files)
        return listed
    }

    private func entry(_ path: RelativePath, _ file: MadeFile, _ packer: ChunkPacker) throws -> Entry {
        let text = file.text
        let content: Content =
            if text.isEmpty {
                .none
            } else if text.count <= Content.inlineLimit {
                .inline(text)
            } else {
                .slices([
                    Slice(
                        length: UInt64(text.count), chunk: try text.withUnsafeBytes { try packer.add(.content, $0) })
                ])
            }
        let modified = Timestamp(seconds: file.modified)
        return Entry(
            path: path, kind: .file, permissions: 0o644, modified: modified, content: content,
            signature: file.inode.map { Signature(inode: $0, changed: modified) })
    }
}
