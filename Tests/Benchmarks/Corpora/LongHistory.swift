// An archive with a long history of one directory. Its snapshots are written directly, as a million captures would take
// hours.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
import Capturing
internal import FileIO
internal import Glibc
internal import SnapshotTree
internal import SystemPackage
internal import TestSupport

/// Snapshots of a directory with about 2,000 small files, 20 seconds apart, with a pause of an hour after every
/// hundred.
///
/// Each changes a file; every tenth also changes `hot.log`; every thousandth removes a file and adds another.
enum LongHistory {
    static let root: FilePath = "/benchmark/long"
    /// A second root, with a snapshot at each quarter of the history.
    static let quiet: FilePath = "/benchmark/quiet"
    static let hot = "hot.log"
    private static let files = 2000
    private static let session = 100

    /// A file that exists from the first snapshot on.
    static let file = name(of: 7)

    private static func name(of file: Int) -> String { "d\(file % 20)/f\(10_000 + file).txt" }

    /// The time of the snapshot `number`, chosen so that the last of `count` is dated now.
    private static func time(_ number: Int, of count: Int, _ now: Timestamp) -> Timestamp {
        func offset(_ number: Int) -> Int64 { Int64(number) * 20 + Int64(number / session) * 3600 }
        return Timestamp(seconds: now.seconds - offset(count - 1) + offset(number))
    }

    /// Creates the archive in `directory`.
    ///
    /// - Parameter segmentBytes: where its segments are sealed; nil for the usual size.
    static func make(in directory: FilePath, snapshots count: Int, segmentBytes: Int? = nil) throws {
        if let segmentBytes {
            try Directory.create(directory, permissions: 0o700, durable: false)
            let manifest = ArchiveManifest(
                id: .random(), created: .now, parameters: ArchiveManifest.Parameters(segmentBytes: segmentBytes))
            try DurableFile.create(
                directory: directory, name: CName("archive.json".utf8), contents: manifest.encoded())
        }
        let store = try ArchiveStore.open(directory, creating: true)
        let nodes = StoredNodes(store)
        var random = SeededGenerator(seed: 1)
        var present = Array(0..<files)
        var parents: [FilePath: ListedSnapshot] = [:]
        let now = Timestamp.now
        func commit(_ root: FilePath, _ entries: [TreeEdit], _ changes: [PathChange]?, _ number: Int) throws {
            let parent = parents[root]
            let commit = try store.beginCommit()
            let writer = NodeWriter(store, commit: commit, level: 1)
            var editor = try TreeEditor(base: parent?.tree, source: nodes, sink: writer)
            for edit in entries.sorted(by: { $0.path < $1.path }) { try editor.apply(edit) }
            let tree = try editor.finish()
            try writer.flush()
            let counts = ChangeCounts(
                added: UInt64(changes?.count { $0.kind == .added } ?? 0),
                modified: UInt64(changes?.count { $0.kind == .modified } ?? 0),
                removed: UInt64(changes?.count { $0.kind == .removed } ?? 0))
            let snapshot = Snapshot(
                time: time(number, of: count, now), rootPath: Array(root.string.utf8), host: "host", cause: .watch,
                parent: parent?.id, tree: tree, totals: Totals(files: UInt64(files), directories: 21), changes: counts,
                storedBytes: commit.storedBytes, sequence: (parent?.sequence ?? 0) + 1)
            let base = try parent.flatMap { try store.base($0.id.chunk) }
            parents[root] = try commit.commit(snapshot, base: base, changes: changes ?? [])
        }
        var first = [try entry("", 0, .directory, now), try entry(hot, 0, .file, now)]
        for directory in 0..<20 { first.append(try entry("d\(directory)", 0, .directory, now)) }
        for file in present { first.append(try entry(name(of: file), 0, .file, now)) }
        try commit(root, first.map(TreeEdit.put), nil, 0)
        for number in 1..<count {
            if number % 4096 == 0 { try Interruption.check() }
            var edits: [TreeEdit] = []
            var changes: [PathChange] = []
            func put(_ entry: Entry, _ kind: PathChange.Kind) {
                edits.append(.put(entry))
                changes.append(PathChange(path: entry.path, kind: kind, object: .file, size: entry.size))
            }
            let chosen = random.below(present.count)
            if number % 1000 == 0 {
                let gone = try entry(name(of: present[chosen]), number, .file, now)
                edits.append(.remove(gone.path))
                changes.append(PathChange(path: gone.path, kind: .removed, object: .file, size: gone.size))
                present[chosen] = files + number
                put(try entry(name(of: present[chosen]), number, .file, now), .added)
            } else {
                put(try entry(name(of: present[chosen]), number, .file, now), .modified)
            }
            if number % 10 == 0 { put(try entry(hot, number, .file, now), .modified) }
            try commit(root, edits, changes, number)
            if number % (count / 4) == 1 {
                try commit(quiet, [.put(try entry("", number, .directory, now))], nil, number)
            }
        }
    }

    private static func entry(_ name: String, _ number: Int, _ kind: FileKind, _ now: Timestamp) throws -> Entry {
        guard let path = RelativePath(Array(name.utf8)) else { throw BenchmarkError("'\(name)' is not a path") }
        return Entry(
            path: path, kind: kind, permissions: kind == .file ? 0o644 : 0o755,
            modified: Timestamp(seconds: now.seconds - Int64(number)),
            content: kind == .file ? .inline(Array("\(name) of state \(number)\n".utf8)) : .none)
    }
}
