// How much of an archive a replica has. It decides what a prune must not drop yet, and which segments are continued.

internal import ArchiveFormat
package import FileIO
internal import SystemPackage

/// What one replica has of the archive's segments, remembered in the archive's folder `settings/replicas`.
package struct ReplicaProgress: Sendable, Hashable, Codable {
    /// What was sent of a segment that the replica does not have as a whole.
    package struct Pieces: Sendable, Hashable, Codable {
        /// The bytes from its start that may be there: recorded before they are sent.
        package var begunBytes: Int
        /// The bytes from its start that are there.
        package var sentBytes: Int
        /// Whether nothing more of the segment is sent: it ended here before the pieces did, or is damaged here.
        package var isFinal = false

        package init(begunBytes: Int = 0, sentBytes: Int = 0) {
            self.begunBytes = begunBytes
            self.sentBytes = sentBytes
        }
    }

    /// Why replicating failed last.
    package struct Failure: Sendable, Hashable, Codable {
        package let time: Timestamp
        package let message: String
        package let remedy: String?

        package init(time: Timestamp, message: String, remedy: String?) {
            self.time = time
            self.message = message
            self.remedy = remedy
        }
    }

    /// A copy of the catalogue in the replica.
    package struct Checkpoint: Sendable, Hashable, Codable {
        package let name: String
        /// The length of the object.
        package let bytes: UInt64

        package init(name: String, bytes: UInt64) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// The paths of the sealed segments that the replica has as a whole.
    package var whole: Set<String> = []
    /// What was sent of the others, by their paths.
    package var pieces: [String: Pieces] = [:]
    /// Segments in the replica that a prune has dropped here, and when that was noticed.
    package var dropped: [String: Timestamp] = [:]
    /// Everything that was committed before this is in the replica; nil if it was never complete.
    package var completeUntil: Timestamp?
    /// When the replica was last compared with the archive, and whether every byte was.
    package var checked: Timestamp?
    package var checkedData: Timestamp?
    /// When files were last read from the replica alone and compared.
    package var tested: Timestamp?
    /// The newest copy of the catalogue in the replica.
    package var checkpoint: Checkpoint?
    /// The bytes that were sent since.
    package var bytesSinceCheckpoint: UInt64 = 0
    /// Why replicating failed; nil if the last attempt succeeded.
    package var failure: Failure?
    /// Whether the replica was not compared yet with the archive: what it has is not known.
    package var isUnknown = false

    package init() {}

    /// How many of a segment's bytes are not in the replica.
    ///
    /// - Parameter segment: its row now.
    package func missingBytes(of segment: ListedSegment) -> Int {
        if whole.contains(segment.path) { return 0 }
        guard let pieces = pieces[segment.path] else { return segment.indexedLength }
        return pieces.isFinal ? 0 : max(0, segment.indexedLength - pieces.sentBytes)
    }

    // MARK: Storing

    private static let suffix = ".progress.json"

    private static func file(_ name: String, _ layout: ArchiveLayout) -> JSONFile<ReplicaProgress> {
        JSONFile(
            layout.replicas.appending(name + suffix), "it says what the replica '\(name)' has",
            remedy: "remove the file; the replica is then compared with the archive", byteLimit: 64 << 20)
    }

    /// The progress of the replica `name`; nil if nothing is known of it.
    package static func read(_ name: String, in layout: ArchiveLayout) throws(StorageError) -> ReplicaProgress? {
        try file(name, layout).read()
    }

    /// Stores the progress durably.
    package func write(_ name: String, in layout: ArchiveLayout) throws(StorageError) {
        try ReplicaProgress.file(name, layout).write(self)
    }

    package static func remove(_ name: String, in layout: ArchiveLayout) throws(StorageError) {
        _ = try storing { () throws(FileError) in try file(name, layout).place.remove() }
    }

    /// The progress of all replicas of an archive, by their names.
    package static func all(in layout: ArchiveLayout) throws(StorageError) -> [String: ReplicaProgress] {
        var all: [String: ReplicaProgress] = [:]
        for name in try names(in: layout, suffix) { all[name] = try read(name, in: layout) }
        return all
    }

    /// The names of the files in the folder of replicas that end with `suffix`, without it.
    package static func names(in layout: ArchiveLayout, _ suffix: String) throws(StorageError) -> [String] {
        do {
            return try DirectoryReader.list(layout.replicas.openDirectory(), path: .root)
                .map { String(decoding: $0.name, as: UTF8.self) }
                .filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }
                .map { String($0.dropLast(suffix.count)) }.sorted()
        } catch {
            if error.code == .noSuchFileOrDirectory { return [] }
            throw StorageError(error)
        }
    }
}

extension ArchiveStore {
    /// The most bytes of each segment that any replica may have in pieces.
    ///
    /// A segment that is shorter, as after a power failure on a disk that loses writes, is never continued: the replica
    /// would have two contents at one place.
    func replicatedBytes() throws(StorageError) -> [String: Int] {
        var bytes: [String: Int] = [:]
        for progress in try ReplicaProgress.all(in: layout).values {
            for (path, pieces) in progress.pieces { bytes[path] = max(bytes[path] ?? 0, pieces.begunBytes) }
        }
        return bytes
    }

    /// The length of a segment's blocks, without the footer of a sealed one.
    package func contentBytes(of row: ListedSegment) throws(StorageError) -> Int {
        guard row.isSealed, let trailer = try open(row).trailer() else { return row.indexedLength }
        return trailer.indexOffset
    }

    /// The numbers of the segments that a replica lacks, wholly or in part.
    func unreplicated(_ segments: [ListedSegment]) throws(StorageError) -> Set<Int64> {
        let all = try ReplicaProgress.all(in: layout).values
        var numbers: Set<Int64> = []
        for segment in segments {
            if all.contains(where: { $0.missingBytes(of: segment) > 0 }) { numbers.insert(segment.number) }
        }
        return numbers
    }
}
