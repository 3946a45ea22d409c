// Keeps an archive within its size on the local disk: sealed segments that a replica has leave it, and can be fetched.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import ObjectStore
public import Roots
internal import SnapshotTree
internal import SystemPackage

/// Where the segments of an archive are.
public struct SegmentPlaces: Sendable, Hashable {
    /// The bytes of segments and catalogue on the local disk.
    public let localBytes: UInt64
    /// The most bytes that they may have; nil if there is no limit.
    public let limit: UInt64?
    /// The segments that are only in replicas.
    public let awaySegments: Int
    public let awayBytes: UInt64
    /// The names of these replicas.
    public let replicas: [String]

    /// The bytes by which the archive exceeds its limit.
    public var excessBytes: UInt64 { localBytes - min(localBytes, limit ?? .max) }
}

/// What left the local disk, or would.
public struct EvictionResult: Sendable, Hashable {
    public let isDryRun: Bool
    /// Segments that left, and their bytes.
    public internal(set) var segments = 0
    public internal(set) var bytes: UInt64 = 0
    /// The places afterwards; in a dry run, before.
    public internal(set) var places: SegmentPlaces
    /// Why more did not leave; each a sentence.
    public internal(set) var problems: [String] = []

    /// Whether the archive still exceeds its limit, or would.
    public var isShort: Bool { places.excessBytes > (isDryRun ? bytes : 0) }
}

/// What came back to the local disk.
package struct FetchResult: Sendable, Hashable {
    package var segments = 0
    package var bytes: UInt64 = 0
}

extension Archive {
    /// Lets this process read segments that are only in replicas; call it once, before an archive is opened.
    public static func readReplicas() { ReplicaReading.begin() }

    /// Where the segments are.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func segmentPlaces() throws(ArchiverError) -> SegmentPlaces { try segmentPlaces(localSize()) }

    private func segmentPlaces(_ size: LocalSize, without freed: UInt64 = 0) throws(ArchiverError) -> SegmentPlaces {
        try facing {
            let catalogue = UInt64(try store.catalogue.pages().usedBytes)
            let away = try store.joined?.away().values.map(\.self) ?? []
            let local = try store.localBytes() + catalogue
            return SegmentPlaces(
                localBytes: local - min(local, freed),
                limit: size.bytes, awaySegments: away.count,
                awayBytes: away.reduce(0) { $0 + UInt64($1.bytes) }, replicas: Set(away.map(\.replica)).sorted())
        }
    }

    /// The setting of this machine.
    package func localSize() throws(ArchiverError) -> LocalSize {
        store.isReplica ? LocalSize() : try LocalSize.read(store.layout)
    }

    /// Sets how much may stay on the local disk; a limit needs a replica whose identity is at hand.
    ///
    /// - Parameter isDryRun: whether to check only that it could be set.
    package func setLocalSize(
        _ size: LocalSize, isDryRun: Bool = false, stores: ReplicaStores = .all
    ) throws(ArchiverError) {
        try facing { try store.requireWritable() }
        if size.bytes != nil { try requireReplica(size, stores) }
        if !isDryRun { try size.write(store.layout) }
    }

    /// Throws unless a replica can be read without asking anybody.
    private func requireReplica(_ size: LocalSize, _ stores: ReplicaStores) throws(ArchiverError) {
        var failure: ArchiverError?
        for name in try replicaNames() {
            do throws(ArchiverError) {
                let replica = try AwayReplica(
                    name, of: id, in: store.layout, stores, identityFile: size.identityFile)
                return replica.objects.close()
            } catch { failure = failure ?? error }
        }
        throw failure
            ?? ArchiverError(
                .noSuchReplica, "segments leave the local disk only for a replica, and the archive has none",
                remedy: "add a replica first")
    }

    // MARK: Leaving

    /// The newest sealed segments stay: they hold the bases of the next deltas.
    private static let newestSegments = 2
    private static let secondsADay: Int64 = 86_400

    /// Removes segments from the local disk until the archive is within its limit: those least recently read first, and only
    /// those that a replica has, as was just verified.
    ///
    /// Captures and other commands go on. It can be cancelled or killed at any moment.
    ///
    /// - Parameters:
    ///   - size: a setting to try; nil for the one that is set.
    ///   - freed: in a dry run, the bytes that something else would free before.
    /// - Returns: nil if no limit is set.
    /// - Throws: `ArchiverError` with the code `inUse` if another process frees space or checks, `cancelled`.
    package func evictSegments(
        _ size: LocalSize? = nil, isDryRun: Bool = false, freed: UInt64 = 0, stores: ReplicaStores = .all,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ArchiverError) -> EvictionResult? {
        let size = if let size { size } else { try localSize() }
        let before = try segmentPlaces(size, without: freed)
        guard before.limit != nil else { return nil }
        if before.excessBytes == 0 { return EvictionResult(isDryRun: isDryRun, places: before) }
        do throws(ArchiverError) {
            return try evictSegments(size, isDryRun: isDryRun, before, stores, isCancelled)
        } catch {
            // On a full disk, not even the list can be written.
            guard error.code == .noSpace, !isDryRun, Ballast(store.layout).release() else { throw error }
            let result = try evictSegments(size, isDryRun: isDryRun, before, stores, isCancelled)
            try facing { try store.reserveBallast() }
            return result
        }
    }

    private func evictSegments(
        _ size: LocalSize, isDryRun: Bool, _ before: SegmentPlaces, _ stores: ReplicaStores,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(ArchiverError) -> EvictionResult {
        try facingStore {
            // Meanwhile no check or prune of a replica deletes an object.
            var locks: [HeldLock] = []
            if !isDryRun {
                for name in try replicaNames().sorted() {
                    locks.append(try HeldLock(store.layout.lock("replica-\(name).lock")))
                }
            }
            defer { withExtendedLifetime(locks) {} }
            let eviction = try SegmentEviction(store, isDryRun: isDryRun)
            var result = EvictionResult(isDryRun: isDryRun, places: try isDryRun ? before : segmentPlaces(size))
            var sources = try EvictionSources(self, size, stores)
            defer { sources.close() }
            let chosen = try victims(eviction, result.places.excessBytes, &sources, isCancelled)
            result.problems = sources.problems
            let leaving =
                isDryRun
                ? chosen : try eviction.remove(chosen, nodes: currentNodes, isCancelled: isCancelled)
            result.segments = leaving.count
            result.bytes = leaving.reduce(0) { $0 + UInt64($1.away.bytes) }
            if !isDryRun { result.places = try segmentPlaces(size) }
            if result.isShort, result.problems.isEmpty {
                result.problems.append(
                    leaving.count < chosen.count
                        ? "a process that uses the archive is suspended"
                        : "the other segments are new, not in a replica yet, or hold what the local disk needs")
            }
            return result
        }
    }

    /// The segments to remove.
    private func victims(
        _ eviction: SegmentEviction, _ excess: UInt64, _ sources: inout EvictionSources,
        _ isCancelled: () -> Bool
    ) throws -> [SegmentEviction.Victim] {
        let copied = try store.catalogue.copiedSegments()
        let sealed = try store.catalogue.segments().filter { row in
            row.state == .sealed && row.name.map { !copied.contains($0) } ?? false && SegmentName(path: row.path) != nil
        }
        let candidates = sealed.dropLast(Archive.newestSegments)
            .map { (row: $0, day: (store.joined?.lastRead($0.path) ?? 0) / Archive.secondsADay) }
            .sorted { ($0.day, $0.row.path) < ($1.day, $1.row.path) }.map(\.row)
        let nodes = try currentNodes()
        var refused: Set<Int64> = []
        var verified: [Int64: SegmentEviction.Victim] = [:]
        // What is stored again takes room, too.
        var copiedBytes: UInt64 = 0
        while true {
            var victims: [SegmentEviction.Victim] = []
            var bytes: UInt64 = 0
            for row in candidates where bytes < excess + copiedBytes && !refused.contains(row.number) {
                if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
                guard let victim = try verified[row.number] ?? sources.verified(row, isCancelled) else {
                    refused.insert(row.number)
                    continue
                }
                verified[row.number] = victim
                victims.append(victim)
                bytes += UInt64(row.indexedLength)
            }
            let copies = try eviction.copies(of: victims.map(\.segment), nodes)
            refused.formUnion(copies.staying)
            if copies.staying.isEmpty, bytes >= excess + UInt64(copies.bytes) || bytes < excess + copiedBytes {
                return UInt64(copies.bytes) < bytes ? victims : []
            }
            copiedBytes = max(copiedBytes, UInt64(copies.bytes))
        }
    }

    /// What the next captures read: the newest snapshot of each root with its tree.
    private func currentNodes() throws -> Set<ChunkID> {
        var needed: Set<ChunkID> = []
        for root in try store.catalogue.roots() {
            guard let latest = try store.catalogue.latestSnapshot(ofRoot: root.path, machine: root.machine) else {
                continue
            }
            needed.insert(latest.id.chunk)
            var waiting = [try store.snapshot(latest.id).tree]
            while let id = waiting.popLast() {
                guard needed.insert(id).inserted else { continue }
                switch try nodes.node(id, level: nil) {
                case .inner(_, let children): waiting += children.map(\.id)
                case .leaf(let entries):
                    for entry in entries {
                        entry.forEachContent { content in
                            if case .sliceLists(let lists) = content { needed.formUnion(lists.map(\.list)) }
                        }
                    }
                }
            }
        }
        return needed
    }

    // MARK: Coming back

    /// Copies all segments back that are only in replicas; what was copied before a failure stays.
    @discardableResult
    package func fetchSegments(
        stores: ReplicaStores = .all, progress: OperationProgress? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ArchiverError) -> FetchResult {
        try facingStore {
            let eviction = try SegmentEviction(store, isDryRun: false)
            let away = try store.joined?.away().values.sorted { $0.path < $1.path } ?? []
            progress?.expect(entries: nil, bytes: away.reduce(0) { $0 + UInt64($1.bytes) })
            var result = FetchResult()
            let identityFile = try localSize().identityFile
            var replicas: [String: AwayReplica] = [:]
            defer { for replica in replicas.values { replica.objects.close() } }
            for segment in away {
                let replica =
                    try replicas[segment.replica]
                    ?? AwayReplica(
                        ReplicaName(segment.replica), of: id, in: store.layout, stores, identityFile: identityFile)
                replicas[segment.replica] = replica
                try fetch(segment, replica.reader, progress, isCancelled)
                try eviction.enterFile(of: segment)
                result.segments += 1
                result.bytes += UInt64(segment.bytes)
            }
            return result
        }
    }

    private func fetch(
        _ segment: AwaySegment, _ reader: ReplicaReader, _ progress: OperationProgress?, _ isCancelled: () -> Bool
    ) throws {
        let place = store.layout.segments.appending(segment.path)
        try place.parent.createDirectory(durable: true)
        let folder = try place.parent.openDirectory()
        let temporary = try place.temporaryFile(in: folder)
        let object = try reader.open(
            .segment(path: segment.path), length: segment.objectBytes, readsAll: true)
        guard object.length == segment.bytes else {
            throw ArchiverError(
                .damaged, "segment \(segment.path) has another length in the replica '\(segment.replica)'")
        }
        try object.readAll { bytes, offset in
            if isCancelled() { throw StorageError.cancelled(store.layout.directory) }
            try temporary.file.write(bytes, at: UInt64(offset), path: place.path)
            progress?.add(bytes: UInt64(bytes.count))
        }
        try temporary.file.synchronize(path: place.path)
        try temporary.rename(to: place.name, unlocks: true)
        try folder.synchronize(path: place.parent.path)
    }
}

/// A lock among others.
private final class HeldLock {
    private let lock: FileLock

    init(_ path: EnclosedPath) throws { lock = try FileLock.exclusive(path) }
}

/// The replicas that segments may leave for: those of this machine whose identity is at hand.
private struct EvictionSources {
    private let archive: Archive
    private var replicas: [(replica: AwayReplica, whole: Set<String>)] = []
    private(set) var problems: [String] = []

    /// Compared with the object's, at both ends.
    private static let comparedBytes = 64 << 10

    init(_ archive: Archive, _ size: LocalSize, _ stores: ReplicaStores) throws {
        self.archive = archive
        let layout = archive.store.layout
        let progress = try ReplicaProgress.all(in: layout)
        for name in try archive.replicaNames() {
            guard let known = progress[name.text], !known.isUnknown else { continue }
            do throws(ArchiverError) {
                let replica = try AwayReplica(
                    name, of: archive.id, in: layout, stores, identityFile: size.identityFile)
                guard replica.settings.machine == Machine.id else {
                    replica.objects.close()
                    throw ArchiverError(.replica, "it belongs to another machine")
                }
                replicas.append((replica, known.whole))
            } catch { problems.append("the replica '\(name)' cannot be used: \(error.message)") }
        }
        if replicas.isEmpty, problems.isEmpty { problems.append("the archive has no replica that is sent to") }
    }

    func close() {
        for (replica, _) in replicas { replica.objects.close() }
    }

    /// The segment as it is in the first replica that surely has it; nil if none has.
    ///
    /// The object must have the length that it was made with, be signed for exactly the local bytes, be readable with the
    /// identity, and have the same bytes at both ends.
    mutating func verified(_ row: ListedSegment, _ isCancelled: () -> Bool) throws -> SegmentEviction.Victim? {
        for (replica, whole) in replicas where whole.contains(row.path) {
            do {
                if let reason = try difference(row, replica, isCancelled) {
                    problems.append("segment \(row.path) stays: in the replica '\(replica.name)' it \(reason)")
                    continue
                }
                let away = AwaySegment(
                    path: row.path, bytes: row.indexedLength, replica: replica.name.text,
                    objectBytes: replica.sealer.objectLength(ofContent: row.indexedLength))
                return SegmentEviction.Victim(row, away)
            } catch {
                if isCancelled() { throw error }
                let reason = ArchiverError(store: error).message
                problems.append("segment \(row.path) stays: the replica '\(replica.name)' cannot be read: \(reason)")
                // Damage concerns this object; anything else concerns all of them.
                if ArchiverError(store: error).code != .damaged {
                    replicas.removeAll { $0.replica.name == replica.name }
                    replica.objects.close()
                }
            }
        }
        return nil
    }

    /// How the object differs from the local segment; nil if it does not.
    private func difference(
        _ row: ListedSegment, _ replica: AwayReplica, _ isCancelled: () -> Bool
    ) throws -> String? {
        let object = ReplicaObject.segment(path: row.path)
        guard let name = object.name else { return "has no name" }
        let expected = replica.sealer.objectLength(ofContent: row.indexedLength)
        guard let length = try replica.objects.length(of: name) else { return "is missing" }
        if length != expected { return "has \(length) bytes, not \(expected)" }
        let segment = try archive.store.open(row)
        guard try segment.length() == row.indexedLength else { return "cannot be compared with a damaged file" }
        let opened = try replica.reader.open(object, length: length)
        let digest = try SegmentRange(segment, 0..<row.indexedLength).sha256(isCancelled)
        if !opened.isOf(sha256: digest) { return "is signed for another content" }
        let count = min(EvictionSources.comparedBytes, row.indexedLength)
        for start in [0, row.indexedLength - count] {
            let local = try segment.read(at: start, count: count)
            if try opened.read(start..<(start + count)) != local { return "has other bytes" }
        }
        try opened.checkEnd()
        return nil
    }
}
