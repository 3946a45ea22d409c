// The segments of an archive: files in its directory, and segments that have left it and are in a replica.

package import ArchiveFormat
package import FileIO
internal import Glibc
package import SystemPackage
package import Threading

/// A sealed segment that has left the local disk.
package struct AwaySegment: Sendable, Hashable, Codable {
    /// Its path below the archive's `segments`.
    package let path: String
    package let bytes: Int
    /// The name of the replica that has it.
    package let replica: String
    /// The length of the object with it.
    package let objectBytes: UInt64
    /// When it left.
    package let left: Timestamp

    package init(path: String, bytes: Int, replica: String, objectBytes: UInt64, left: Timestamp = .now) {
        (self.path, self.bytes, self.replica, self.objectBytes, self.left) = (path, bytes, replica, objectBytes, left)
    }
}

/// How segments that have left the local disk are read; this module knows no replicas.
package enum AwayReading {
    /// Opens the segments of an archive that are in one replica.
    package typealias Opening =
        @Sendable (ArchiveLayout, _ replica: String, [AwaySegment]) throws -> any SegmentSource

    /// Set once by a program that can read replicas.
    package static let opening = Locked<Opening?>(nil)
}

/// The files of `LocalSegments`, and the segments that the archive's file `away.json` lists.
///
/// A segment that is listed and has a file counts as local: it is listed before its file is removed, and its file is back
/// before it is no longer listed. So a process may be killed at any moment.
package final class JoinedSegments: SegmentStore {
    private let layout: ArchiveLayout
    private let local: LocalSegments

    private struct Known {
        /// The status of the file that was read; nil if there was none.
        var status: FileStatus?
        var away: [String: AwaySegment] = [:]
        /// Open replicas, by their names.
        var sources: [String: any SegmentSource] = [:]
    }

    private let known = Locked(Known())

    init(_ layout: ArchiveLayout) {
        self.layout = layout
        local = LocalSegments(layout)
    }

    package var isRemote: Bool { (try? listed().isEmpty) == false }

    // MARK: The list

    /// The content of `away.json`.
    private struct List: Codable {
        var version = 1
        var segments: [AwaySegment]
    }

    private var file: JSONFile<List> {
        JSONFile(
            layout.away, "it lists the segments that are only in a replica",
            remedy: "put it back from a copy of the archive, or clone the replica", byteLimit: 256 << 20)
    }

    /// The listed segments, by their paths; those that have a file are local all the same.
    package func listed() throws(StorageError) -> [String: AwaySegment] {
        let status = try storing { () throws(FileError) in try layout.away.status }
        if let away = known.withLock({ $0.status == status ? $0.away : nil }) { return away }
        let list = try status == nil ? nil : file.read()
        if let list, list.version != 1 { throw file.damage }
        let away = Dictionary((list?.segments ?? []).map { ($0.path, $0) }) { _, last in last }
        // A list that was replaced in the meantime has another status, and is read again.
        known.withLock { $0 = Known(status: status, away: away) }
        return away
    }

    /// Changes the list, durably; the caller excludes reclaimers.
    package func change(_ body: (inout [String: AwaySegment]) -> Void) throws(StorageError) {
        let before = try listed()
        var away = before
        body(&away)
        if away == before { return }
        try file.write(List(segments: away.values.sorted { $0.path < $1.path }))
    }

    /// The segments that have no file, by their paths.
    package func away() throws(StorageError) -> [String: AwaySegment] {
        try listed().filter { local.length(of: $0.key) == nil }
    }

    /// Where the segment `name` is; nil if it is listed nowhere, or has a file.
    package func away(_ name: String) throws(StorageError) -> AwaySegment? {
        guard let segment = try listed()[name], local.length(of: name) == nil else { return nil }
        return segment
    }

    /// The paths of the listed segments that have a file: a process was killed before it removed them, or is about to.
    package func listedWithFiles() throws(StorageError) -> Set<String> {
        Set(try listed().keys.filter { local.length(of: $0) != nil })
    }

    /// Whether the segment has a file.
    package func isLocal(_ name: String) -> Bool { local.length(of: name) != nil }

    /// Removes the file of a listed segment.
    func removeFile(_ name: String) throws(StorageError) { try local.remove(name, pausing: nil) }

    /// When a segment's file was last read, as far as the file system says (relatime: about once a day).
    package func lastRead(_ name: String) -> Int64 {
        var status = stat()
        guard local.path(of: name).withPlatformString({ lstat($0, &status) }) == 0 else { return 0 }
        return Int64(status.st_atim.tv_sec)
    }

    // MARK: Segments in replicas

    private func open(_ segment: AwaySegment) throws(StorageError) -> any SegmentReading {
        let path = path(of: segment.path)
        do {
            let bytes = try source(of: segment).open(segment.path)
            guard try bytes.length() == segment.bytes else {
                throw StorageError(
                    .damaged, path,
                    "segment \(path) is only in the replica '\(segment.replica)', and has another length there")
            }
            return AwayBytes(bytes, segment, path) { [local] in local.length(of: segment.path) != nil }
        } catch {
            // The next attempt opens the replica again: its disk may be mounted then.
            known.withLock { $0.sources[segment.replica] = nil }
            throw StorageError(away: segment, path, error)
        }
    }

    private func source(of segment: AwaySegment) throws -> any SegmentSource {
        let listed = try listed()
        if let known = known.withLock({ $0.sources[segment.replica] }) { return known }
        guard let opening = AwayReading.opening.withLock({ $0 }) else {
            throw StorageError(.system, layout.directory, "this program reads no replicas")
        }
        let source = try opening(layout, segment.replica, listed.values.filter { $0.replica == segment.replica })
        known.withLock { $0.sources[segment.replica] = source }
        return source
    }

    /// Throws unless each replica with segments that are away can be read.
    func requireReadable() throws(StorageError) {
        var replicas: Set<String> = []
        for segment in try away().values where replicas.insert(segment.replica).inserted { _ = try open(segment) }
    }

    // MARK: SegmentSource

    package func path(of name: String) -> FilePath { local.path(of: name) }

    package func length(of name: String) -> Int? { local.length(of: name) ?? (try? away(name))?.bytes }

    package func open(_ name: String) throws(StorageError) -> any SegmentReading {
        var isSecond = false
        while true {
            do throws(StorageError) { return try local.open(name) } catch {
                guard error.code == .damaged, local.length(of: name) == nil else { throw error }
                if let segment = try away(name) { return try open(segment) }
                // Its file may have come back in the meantime.
                if isSecond { throw error }
                isSecond = true
            }
        }
    }

    package func list() throws(StorageError) -> SegmentListing {
        // Read before and after: in between, a file may be removed, or come back.
        let before = try listed()
        var listing = try local.list()
        let away = Set(before.keys).union(try listed().keys).subtracting(listing.segments)
        if away.isEmpty { return listing }
        listing.segments = (listing.segments + away).sorted()
        let names = Set(away.compactMap { $0.split(separator: "/").last.map(String.init) })
        listing.begun.removeAll { names.contains($0.fileName) }
        return listing
    }

    // MARK: SegmentStore

    package func prepare() throws(StorageError) { try local.prepare() }

    package func openToWrite(_ name: String) throws(StorageError) -> any SegmentBytes {
        if let segment = try away(name) {
            let path = path(of: name)
            throw StorageError(
                .readOnly, path,
                "segment \(path) is only in the replica '\(segment.replica)', so nothing is appended to it",
                remedy: Advice.fetchSegments.text)
        }
        return try local.openToWrite(name)
    }

    package func create(_ name: SegmentName, _ bytes: [UInt8]) throws(StorageError) -> (any SegmentBytes)? {
        try local.create(name, bytes)
    }

    package func note(begun names: [SegmentName]) { local.note(begun: names) }

    package func remove(_ name: String, pausing pause: (() throws(StorageError) -> Void)?) throws(StorageError) {
        // A segment that is dropped must not seem to be away.
        try change { $0[name] = nil }
        try local.remove(name, pausing: pause)
    }

    package func removeUnfinished(_ name: String) { local.removeUnfinished(name) }
    package func freeBytes() -> Int? { local.freeBytes() }
    package func totalBytes() -> Int? { local.totalBytes() }
}

/// A segment in a replica; its errors say that it is not on the local disk.
private struct AwayBytes: SegmentReading {
    let path: FilePath
    private let bytes: any SegmentReading
    private let segment: AwaySegment
    private let isBack: @Sendable () -> Bool

    init(
        _ bytes: any SegmentReading, _ segment: AwaySegment, _ path: FilePath, isBack: @escaping @Sendable () -> Bool
    ) {
        (self.bytes, self.segment, self.path, self.isBack) = (bytes, segment, path, isBack)
    }

    /// Its file is better, once it is back.
    var isRemoved: Bool { isBack() }

    func length() throws(StorageError) -> Int { segment.bytes }

    func isNear(_ range: Range<Int>) -> Bool { bytes.isNear(range) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int {
        do { return try bytes.read(into: buffer, at: offset) } catch { throw StorageError(away: segment, path, error) }
    }

    func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>? {
        do { return try bytes.nextData(from: offset, below: end) } catch {
            throw StorageError(away: segment, path, error)
        }
    }
}

extension StorageError {
    /// The error for a segment in a replica that could not be read: it is damaged only if the object itself is.
    fileprivate init(away segment: AwaySegment, _ path: FilePath, _ error: any Error) {
        let inner = error as? StorageError
        let message = inner?.message ?? "\(error)"
        if inner?.code == .damaged || inner?.code == .away {
            self.init(inner?.code ?? .damaged, path, message, remedy: inner?.remedy)
            return
        }
        self.init(
            .away, path,
            "segment \(path) is only in the replica '\(segment.replica)', which cannot be read now: \(message)",
            remedy: (inner?.remedy).map { "\($0); what is on the local disk stays usable" }
                ?? "make the replica readable and try again; what is on the local disk stays usable")
    }
}
