// A checkpoint of a replica: a compressed copy of the catalogue, with the segments that it covers. A machine without an
// archive begins with it, and reads only the segments after it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Compression
internal import Crypto
internal import FileIO
internal import Glibc
internal import ObjectStore
internal import Roots

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The content of a checkpoint: a line, then pieces of a stream, each compressed.
///
/// The stream is a line of JSON (`Heading`), and an SQLite database.
enum CheckpointContent {
    /// What a checkpoint covers.
    struct Heading: Codable {
        struct Segment: Codable {
            let path: String
            /// The bytes from its start.
            let bytes: Int
        }

        /// The text of archive.json.
        let manifest: String
        /// The sealed segments, which do not grow any more.
        let segments: [Segment]
    }

    static let magic = Array("archiver-checkpoint 1\n".utf8)
    private static let pieceBytes = 1 << 20
    private static let prefixBytes = 8
    private static let level = 1

    // MARK: Writing

    /// Writes the content of a checkpoint.
    ///
    /// - Parameters:
    ///   - database: the copy of the catalogue.
    ///   - take: gets the content in order.
    static func write(
        _ heading: Heading, _ database: EnclosedPath, _ take: ([UInt8]) throws -> Void
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var deflater = try Deflater(level: level)
        var waiting = Array(try encoder.encode(heading)) + [UInt8(ascii: "\n")]
        func put(_ piece: ArraySlice<UInt8>, _ deflater: inout Deflater) throws {
            var packed: [UInt8] = []
            let raw = Array(piece)
            let isPacked = try raw.withUnsafeBytes { try deflater.deflate($0, into: &packed) }
            let stored = isPacked ? packed : raw
            try take(bytes(UInt32(raw.count)) + bytes(UInt32(stored.count)) + stored)
        }
        try take(magic)
        let file = try database.open(O_RDONLY)
        var position: UInt64 = 0
        while true {
            let read = try file.bytes(at: position, count: pieceBytes, database)
            position += UInt64(read.count)
            waiting += read
            while waiting.count >= pieceBytes || (read.isEmpty && !waiting.isEmpty) {
                let piece = waiting.prefix(pieceBytes)
                try put(piece, &deflater)
                waiting.removeFirst(piece.count)
            }
            if read.isEmpty { return }
        }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    // MARK: Reading

    /// Unpacks the content of a checkpoint while it comes.
    struct Reader: ~Copyable {
        private enum Part { case magic, heading, database, unreadable }

        private var part = Part.magic
        private var inflater: Inflater
        /// What came and is not unpacked yet.
        private var waiting: [UInt8] = []
        private var heading: [UInt8] = []
        private var database: [UInt8] = []

        init() throws { inflater = try Inflater() }

        /// Takes the next bytes.
        mutating func take(_ bytes: [UInt8]) throws {
            if part == .unreadable { return }
            waiting += bytes
            var position = 0
            if part == .magic {
                guard waiting.count >= magic.count else { return }
                part = waiting.starts(with: magic) ? .heading : .unreadable
                position = magic.count
            }
            while part != .unreadable, let raw = number(waiting, position), let stored = number(waiting, position + 4) {
                guard raw > 0, raw <= pieceBytes, stored <= raw,
                    heading.count + database.count + raw <= CatalogueCopy.databaseLimit
                else {
                    part = .unreadable
                    break
                }
                let end = position + prefixBytes + stored
                if end > waiting.count { break }
                let piece = waiting[(position + prefixBytes)..<end]
                add(stored == raw ? piece : try piece.withUnsafeBytes { try inflater.inflate($0, expecting: raw) }[...])
                position = end
            }
            waiting.removeFirst(min(position, waiting.count))
        }

        /// Adds unpacked bytes of the stream.
        private mutating func add(_ bytes: ArraySlice<UInt8>) {
            guard part == .heading else {
                database += bytes
                return
            }
            let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            heading += bytes[..<end]
            if end == bytes.endIndex { return }
            part = .database
            database += bytes[(end + 1)...]
        }

        /// The heading and the database; nil if this program cannot read the checkpoint.
        func finish() -> (heading: Heading, database: [UInt8])? {
            guard part == .database, waiting.isEmpty,
                let heading = try? JSONDecoder().decode(Heading.self, from: Data(heading))
            else { return nil }
            return (heading, database)
        }
    }

    private static func number(_ content: [UInt8], _ position: Int) -> Int? {
        guard content.count - position >= 4 else { return nil }
        return content[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}

extension ReplicaSegments {
    /// The longest object of a checkpoint that is read.
    private static let checkpointLimit = UInt64(CatalogueCopy.databaseLimit)

    /// A store sends less to one request than to several at the same time.
    private static let checkpointRequests = 4

    /// The newest checkpoint that can be used; nil if there is none, and everything is read from the segments.
    ///
    /// A checkpoint only saves time: every segment is listed by the store, so none is hidden by a checkpoint that is
    /// missing, old, or damaged.
    func checkpoint() throws(ArchiverError) -> CatalogueCopy? {
        for (name, bytes) in inventory.checkpoints.reversed() where bytes <= ReplicaSegments.checkpointLimit {
            do throws(ArchiverError) {
                let object = try reader.open(.checkpoint(name: name), length: bytes, readsAll: true)
                guard var content = try? CheckpointContent.Reader() else { return nil }
                var isReadable = true
                try object.readAll(requests: ReplicaSegments.checkpointRequests) { piece, _ in
                    do { try content.take(piece) } catch { isReadable = false }
                }
                guard isReadable, let (heading, database) = content.finish(),
                    let manifest = try? ArchiveManifest(decoding: Array(heading.manifest.utf8)),
                    manifest.id == reader.manifest.archive
                else { continue }
                expect(Dictionary(heading.segments.map { ($0.path, $0.bytes) }) { first, _ in first })
                return CatalogueCopy(manifest: manifest, database: database)
            } catch { guard error.code == .damaged || error.code == .wrongIdentity else { throw error } }
        }
        return nil
    }
}

extension Replicator {
    /// A checkpoint is due when this much was sent since the last one, and it would be a small part of that.
    private static let leastBytes: UInt64 = 32 << 20
    private static let checkpointFactor: UInt64 = 8
    /// How many checkpoints are kept.
    private static let checkpointsKept = 2

    /// Whether enough was sent for a new checkpoint.
    func isCheckpointDue(_ progress: ReplicaProgress) -> Bool {
        let known = progress.checkpoint?.bytes ?? 0
        return progress.bytesSinceCheckpoint
            >= checkpointBytes ?? max(Replicator.leastBytes, Replicator.checkpointFactor * known)
    }

    private var folder: EnclosedPath { store.layout.replicas }

    /// Makes a checkpoint; the caller holds the replica's lock.
    ///
    /// - Parameter complete: sends everything that was committed before; it returns false if the replica lacks some.
    /// - Returns: whether there is a new one; none is made if the catalogue is too large.
    func makeCheckpoint(
        _ progress: inout ReplicaProgress, complete: (inout ReplicaProgress) throws -> Bool
    ) throws -> Bool {
        // Under the lock there is one of each; a killed process may have left them.
        let database = folder.appending("\(name).catalogue")
        let content = folder.appending("\(name).checkpoint")
        defer {
            _ = try? database.remove()
            _ = try? content.remove()
        }
        let time = ReplicaTime(.now)
        try store.copyCatalogue(to: database)
        let rows = try ArchiveStore.segments(ofCatalogueAt: database.path)
        guard try database.status?.size ?? 0 <= UInt64(CatalogueCopy.databaseLimit / 2),
            // A prune is about to drop segments, and copies what is needed of them.
            !rows.contains(where: { $0.state == .condemned })
        else { return false }
        // What was committed while the catalogue was copied must be there before the copy is.
        guard try complete(&progress), rows.allSatisfy({ progress.missingBytes(of: $0) == 0 }) else { return false }
        let heading = CheckpointContent.Heading(
            manifest: String(decoding: store.manifest.encoded(), as: UTF8.self),
            segments: rows.filter(\.isSealed).map { .init(path: $0.path, bytes: $0.indexedLength) })
        _ = try content.remove()
        let file = try content.openOrCreate(O_RDWR)
        var hash = SHA256()
        var length: UInt64 = 0
        try CheckpointContent.write(heading, database) { bytes in
            hash.update(data: bytes)
            try file.write(bytes, at: length, path: content.path)
            length += UInt64(bytes.count)
        }
        let source = FileSource(file, content, length)
        let known = try checkpointNames()
        // Later than all others, even if the clock was put back.
        var named = time
        if let newest = known.last.flatMap({ ReplicaTime(objectName: $0) }), newest >= named {
            named = ReplicaTime(Timestamp(seconds: newest.time.seconds + 1))
        }
        let object = ReplicaObject.checkpoint(name: named.objectName)
        let bytes = try put(object, source, Array(hash.finalize()), time)
        progress.checkpoint = ReplicaProgress.Checkpoint(name: named.objectName, bytes: bytes)
        progress.bytesSinceCheckpoint = 0
        try progress.write(name.text, in: store.layout)
        if settings.abilities.deletes {
            try? deleteCheckpoints(known.dropLast(Replicator.checkpointsKept - 1))
        }
        return true
    }

    /// The names of the checkpoints in the replica, oldest first.
    func checkpointNames() throws -> [String] {
        var names: [String] = []
        try objects.list(ReplicaObject.checkpoints) { entry in
            if case .checkpoint(let name) = ReplicaObject(entry.name) { names.append(name) }
        }
        return names.sorted()
    }

    func deleteCheckpoints(_ names: some Sequence<String>) throws {
        for name in names {
            if let object = ReplicaObject.checkpoint(name: name).name { try objects.delete(object) }
        }
    }
}

/// A file of this process as the content of an object.
private final class FileSource: ObjectSource {
    private let file: Descriptor
    private let place: EnclosedPath
    let length: UInt64

    init(_ file: consuming Descriptor, _ place: EnclosedPath, _ length: UInt64) {
        self.file = file
        self.place = place
        self.length = length
    }

    func read(_ range: Range<UInt64>) throws -> [UInt8] {
        try file.bytes(at: range.lowerBound, count: range.count, place)
    }
}

extension Descriptor {
    /// The bytes at `offset`; fewer than `count` only at the end of the file.
    fileprivate borrowing func bytes(at offset: UInt64, count: Int, _ place: EnclosedPath) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset, path: place.path) }
        bytes.removeLast(count - got)
        return bytes
    }
}
