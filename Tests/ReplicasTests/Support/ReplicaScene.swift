// A root, its archive with small segments, and a replica in memory.

import Age
import ArchiveFormat
import ArchiveStorage
import Archives
import Capturing
import FileIO
import Foundation
import Glibc
import ObjectStore
import Replicas
import Roots
import SystemPackage
import TestSupport
import Testing
import Threading

/// A root, an archive and a replica in memory.
final class ReplicaScene: Sendable {
    let base: TemporaryDirectory
    let objects: MemoryStore
    let identity = AgeIdentity.generate()
    private let opened: Locked<Archive>
    var archive: Archive { opened.withLock { $0 } }

    /// - Parameter segmentBytes: where segments are sealed.
    init(segmentBytes: Int = 6_000, objects: MemoryStore = MemoryStore(), adding: Bool = true) throws {
        base = try TemporaryDirectory(inMemory: true)
        self.objects = objects
        let directory = base.path.appending("archive")
        let manifest = ArchiveManifest(
            id: .random(), created: .now, parameters: ArchiveManifest.Parameters(segmentBytes: segmentBytes))
        mkdir(directory.string, 0o700)
        try DurableFile.create(directory: directory, name: CName("archive.json".utf8), contents: manifest.encoded())
        mkdir(base.path.appending("root").string, 0o700)
        opened = Locked(try Archive.open(directory))
        if adding { try add() }
    }

    var root: FilePath { base.path.appending("root") }
    /// Every address leads to the objects in memory.
    var stores: ReplicaStores {
        let objects = objects
        return ReplicaStores { (_) throws(ObjectStoreError) in Unclosed(objects) }
    }

    static var name: ReplicaName { get throws { try ReplicaName("test") } }

    @discardableResult
    func add(_ change: (inout ReplicaRequest) -> Void = { _ in }) throws -> AddedReplica {
        var request = ReplicaRequest(address: "memory:")
        request.recipients = [identity.recipient].compactMap { $0 }
        change(&request)
        return try archive.addReplica(ReplicaScene.name, request, stores: stores)
    }

    /// Opens the archive again, as another process does.
    func reopen() throws {
        opened.withLock { $0.store.close() }
        let archive = try Archive.open(base.path.appending("archive"))
        opened.withLock { $0 = archive }
    }

    /// Changes a file and captures it: the file has random bytes, which do not become smaller.
    @discardableResult
    func capture(_ number: Int, bytes: Int = 900) throws -> SnapshotID {
        var random = SeededGenerator("replica \(number)")
        let content = (0..<bytes).map { _ in UInt8(random.below(256)) }
        try base.url.appending(path: "root/f\(number % 5)").write(bytes: content)
        try base.url.appending(path: "root/number").write(bytes: Array("\(number)".utf8))
        let result = try archive.capture(root)
        return try #require(result.snapshot).id
    }

    @discardableResult
    func send(comparing: Bool = false) throws -> Replicator.Pass {
        try archive.replicator(ReplicaScene.name, stores: stores).send(comparing: comparing)
    }

    func reader(signer: String? = nil, lists: Bool = false) throws -> ReplicaReader {
        try ReplicaReader(objects, [identity], signer: signer, lists: lists)
    }

    /// Clones the replica into a new directory.
    func clone(_ name: String = "clone-\(UInt32.random(in: 0...UInt32.max))") throws -> ReplicaClone.Result {
        try ReplicaClone.run(reader(), into: base.path.appending(name))
    }

    var status: ReplicaStatus { get throws { try #require(try archive.replicas().first) } }

    /// The names of the objects that begin with `prefix`.
    func names(_ prefix: String) -> [String] {
        objects.objects.keys.map(\.text).filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Expects that `copy` has these snapshots, with all their files.
    func expect(
        _ copy: Archive, has snapshots: some Collection<SnapshotID>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let there = Dictionary(try copy.snapshots().map { ($0.id, $0) }) { first, _ in first }
        for listed in try archive.snapshots() where snapshots.contains(listed.id) {
            let copied = try #require(there[listed.id], "the snapshot is lost", sourceLocation: sourceLocation)
            try expect(copy, has: copied, as: listed, sourceLocation: sourceLocation)
        }
    }

    private func expect(
        _ copy: Archive, has copied: ListedSnapshot, as listed: ListedSnapshot, sourceLocation: SourceLocation
    ) throws {
        var entries: [Entry] = []
        try archive.forEachEntry(in: listed) { entry in
            entries.append(entry)
            return true
        }
        for entry in entries {
            let other = try #require(try copy.entry(at: entry.path, in: copied), sourceLocation: sourceLocation)
            #expect(other == entry, sourceLocation: sourceLocation)
            if entry.kind == .file {
                let isEqual = try copy.read(other, range: 0..<other.size) == archive.read(entry, range: 0..<entry.size)
                #expect(isEqual, "\(entry.path)", sourceLocation: sourceLocation)
            }
        }
    }
}

extension URL {
    fileprivate func write(bytes: [UInt8]) throws { try Data(bytes).write(to: self) }
}

/// A store that stays open when one of its users closes it.
private struct Unclosed: ObjectStore {
    let base: MemoryStore

    init(_ base: MemoryStore) { self.base = base }

    var address: String { base.address }
    func put(_ name: ObjectName, from source: any ObjectSource) throws(ObjectStoreError) -> PutOutcome {
        try base.put(name, from: source)
    }
    func get(_ name: ObjectName, _ range: Range<UInt64>?) throws(ObjectStoreError) -> [UInt8] {
        try base.get(name, range)
    }
    func length(of name: ObjectName) throws(ObjectStoreError) -> UInt64? { try base.length(of: name) }
    func list(_ prefix: String, _ body: (ObjectEntry) throws -> Void) throws { try base.list(prefix, body) }
    func delete(_ name: ObjectName) throws(ObjectStoreError) { try base.delete(name) }
    func close() {}
}

/// The `ArchiverError` that `body` throws; nil if it throws none.
func failure<Result>(_ body: () throws -> Result) throws -> ArchiverError? {
    do {
        _ = try body()
        return nil
    } catch let error as ArchiverError { return error }
}
