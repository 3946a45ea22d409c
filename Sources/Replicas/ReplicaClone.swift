// Makes a local archive again from a replica.

internal import ArchiveFormat
internal import ArchiveStorage
package import Archives
internal import FileIO
internal import Glibc
internal import ObjectStore
package import Roots
package import SystemPackage
internal import Threading

/// Clones a replica into a directory.
///
/// It can be killed and repeated: what is complete is verified and stays. The directory is no archive before everything
/// is there.
package struct ReplicaClone {
    /// What a clone did.
    package struct Result: Sendable {
        package let archive: Archive
        package var segments = 0
        package var bytes: UInt64 = 0
        /// Segments that were there from an earlier attempt.
        package var keptSegments = 0
        /// What the replica lacks, each a sentence; everything else is in the archive.
        package var problems: [String] = []
        /// Everything that was committed before this is in the archive; nil if nothing says so.
        package var time: ReplicaTime?
    }

    private let reader: ReplicaReader
    private let layout: ArchiveLayout
    private let isCancelled: @Sendable () -> Bool
    private let progress: OperationProgress?

    private init(
        _ reader: ReplicaReader, _ directory: FilePath, _ isCancelled: @escaping @Sendable () -> Bool,
        _ progress: OperationProgress?
    ) {
        self.reader = reader
        layout = ArchiveLayout(directory)
        self.isCancelled = isCancelled
        self.progress = progress
    }

    /// Clones the replica into the directory, which is missing, empty, or has an unfinished clone of it.
    package static func run(
        _ reader: ReplicaReader, into directory: FilePath,
        isCancelled: @escaping @Sendable () -> Bool = { false }, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> Result {
        try facingStore { try ReplicaClone(reader, directory.absolute, isCancelled, progress).run() }
    }

    private var marker: EnclosedPath { EnclosedPath(layout.directory).appending("clone.unfinished") }

    private func run() throws -> Result {
        let inventory = try ReplicaInventory(reader.objects)
        let paths = inventory.paths
        guard !paths.isEmpty else {
            throw ArchiverError(.replica, "the replica in \(reader.objects.address) holds nothing yet")
        }
        try reader.requireFitting(inventory)
        try prepare()
        guard let lock = try FileLock.tryExclusive(layout.lock("clone.lock")) else {
            throw ArchiverError(
                .inUse, "another process clones into \(layout.directory)", remedy: "wait until it has ended")
        }
        defer { withExtendedLifetime(lock) {} }
        let fetched = Fetched()
        progress?.expect(entries: nil, bytes: inventory.bytes)
        try DetachedThread.forEach(paths, upTo: ReplicaClone.mostAtOnce, for: "a clone") { path in
            if isCancelled() { throw StorageError.cancelled(layout.directory) }
            do {
                try fetch(path, inventory, fetched)
            } catch let error as ArchiverError where error.code == .damaged || error.code == .wrongIdentity {
                // An object that is damaged or forged must not hide the others.
                fetched.state.withLock { $0.problems[path, default: []].append(error.message) }
            }
            if inventory.segments[path] == nil, inventory.hasHole(in: path) {
                let end = inventory.chain(of: path).last?.end ?? 0
                let problem = "the pieces of segment \(path) from byte \(end) are missing from the replica"
                fetched.state.withLock { $0.problems[path, default: []].append(problem) }
            }
        }
        return try finish(paths, fetched.state.withLock { $0 })
    }

    /// What several threads have fetched.
    private final class Fetched: Sendable {
        struct State {
            var keptSegments = 0
            /// By the paths of the segments.
            var problems: [String: [String]] = [:]
            var time: ReplicaTime?

            mutating func add(_ time: ReplicaTime) { self.time = max(self.time ?? time, time) }
        }

        let state = Locked(State())
    }

    /// How many segments are fetched at the same time.
    private static let mostAtOnce = 4

    /// Makes the directory an archive.
    private func finish(_ paths: [String], _ fetched: Fetched.State) throws -> Result {
        let known = paths.flatMap { fetched.problems[$0] ?? [] }
        guard let manifest = try ArchiveStore.manifest(of: reader.manifest.archive, inSegmentsAt: layout) else {
            throw ArchiverError(
                .damaged, "no segment of the replica in \(reader.objects.address) can be read: \(known.first ?? "")")
        }
        try DurableFile.replace(layout.manifest, contents: manifest.encoded())
        let archive = try Archive.open(layout.directory)
        try marker.remove()
        var problems = known
        for finding in archive.findings where finding.kind == .missing || finding.kind == .damage {
            problems.append(finding.message)
        }
        var result = Result(archive: archive)
        result.segments = paths.count
        result.keptSegments = fetched.keptSegments
        result.bytes = try archive.store.storedBytes()
        result.problems = problems
        result.time = fetched.time
        return result
    }

    /// Prepares the directory, durably: the marker first.
    private func prepare() throws {
        try mark()
        // An earlier attempt may have been killed before it made them.
        try layout.locks.createDirectory(durable: true)
        try layout.segments.createDirectory(durable: true)
    }

    private func mark() throws {
        let line = "\(reader.manifest.archive.hex) \(reader.manifest.signer)\n"
        if let file = try? marker.open(O_RDONLY) {
            let found = try file.readToEnd(limit: 4096, path: marker.path)
            guard found == Array(line.utf8) else {
                throw ArchiverError(
                    .targetNotEmpty, "\(layout.directory) has an unfinished clone of another replica",
                    remedy: "name another directory, or remove that one", path: layout.directory)
            }
            return
        }
        try Directory.create(layout.directory, permissions: 0o700, durable: true)
        let names = try DirectoryReader.list(Descriptor.open(layout.directory, O_RDONLY | O_DIRECTORY), path: .root)
            .map(\.name).filter { !TemporaryFile.isTemporaryName($0) }
        guard names.isEmpty else {
            throw ArchiverError(
                .targetNotEmpty, "\(layout.directory) is not empty", remedy: "name a new directory",
                path: layout.directory)
        }
        try DurableFile.create(marker, contents: Array(line.utf8))
    }

    // MARK: Segments

    /// Fetches a segment, unless it is there already.
    private func fetch(_ path: String, _ inventory: ReplicaInventory, _ fetched: Fetched) throws {
        let place = layout.segments.appending(path)
        let parts = inventory.parts(of: path)
        guard let first = parts.first else { return }
        if inventory.segments[path] != nil, let status = try place.status {
            let object = try reader.open(first.object, length: first.bytes)
            if status.kind == .file, status.size == UInt64(object.length), isAsSealed(place) {
                progress?.add(bytes: UInt64(object.length))
                return fetched.state.withLock { state in
                    state.add(object.time)
                    state.keptSegments += 1
                }
            }
        }
        try place.parent.createDirectory(durable: true)
        let folder = try place.parent.openDirectory()
        let temporary = try place.temporaryFile(in: folder)
        for part in parts {
            let object = try reader.open(part.object, length: part.bytes, readsAll: true)
            try object.readAll { bytes, offset in
                if isCancelled() { throw StorageError.cancelled(layout.directory) }
                try temporary.file.write(bytes, at: UInt64(part.offset + offset), path: place.path)
                progress?.add(bytes: UInt64(bytes.count))
            }
            fetched.state.withLock { $0.add(object.time) }
        }
        try temporary.file.synchronize(path: place.path)
        // A segment that is locked is left out when the archive is opened.
        try temporary.rename(to: place.name, unlocks: true)
        try folder.synchronize(path: place.parent.path)
    }

    /// Whether a sealed segment of an earlier attempt is intact.
    private func isAsSealed(_ place: EnclosedPath) -> Bool {
        (try? Segment(LocalSegment(at: place)).isAsSealed()) == true
    }
}
