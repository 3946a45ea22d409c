// Searches the lines of all versions of all files for a pattern.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import Dispatch
public import FileIO
public import Roots
internal import Synchronization
internal import Threading

/// A line that some version of a file has.
public struct FoundLine: Sendable, Hashable {
    /// The most bytes of a line that are returned.
    public static let byteLimit = 64 << 10

    /// The file that contains the line.
    public let path: RelativePath
    /// Its bytes without the line feed; at most the first ``byteLimit``.
    public let bytes: [UInt8]
    /// Its number in the latest version that has it, from 1.
    public internal(set) var number: Int
    /// The first snapshot that has it.
    public let first: ListedSnapshot
    /// The first snapshot that no longer has it; nil if the latest snapshot has it.
    public internal(set) var gone: ListedSnapshot?
    /// When it was missing in between: the first snapshots without it and with it again, the oldest first.
    public internal(set) var interruptions: [Interruption] = []
    /// The last snapshot that has it.
    public internal(set) var lastIn: ListedSnapshot
    /// Whether it is gone because the file is: it was in the last version of the file, which was deleted.
    public internal(set) var wasDeleted: Bool
}

extension FoundLine {
    /// A span of snapshots without a line that earlier and later ones have.
    public struct Interruption: Sendable, Hashable {
        /// The first snapshot without the line.
        public let gone: ListedSnapshot
        /// The first snapshot with the line again.
        public let back: ListedSnapshot
    }
}

/// Which lines to search for, and where.
public struct LineQuery: Sendable {
    /// An extended regular expression as for `grep -E`, or the text itself.
    public var pattern: [UInt8]
    /// Whether the pattern is the text itself.
    public var isLiteral: Bool
    /// Whether the letters A to Z and a to z are the same.
    public var ignoresCase: Bool
    /// Whether only whole words match: no letter, digit or underscore is next to the match.
    public var matchesWords: Bool
    /// The file or directory to search.
    public var path: RelativePath
    /// The snapshot to search; nil for all.
    public var snapshot: ListedSnapshot?

    /// A search; what is nil is not restricted.
    public init(
        _ pattern: [UInt8], isLiteral: Bool = false, ignoresCase: Bool = false, matchesWords: Bool = false,
        path: RelativePath = .root, in snapshot: ListedSnapshot? = nil
    ) {
        self.matchesWords = matchesWords
        self.pattern = pattern
        self.isLiteral = isLiteral
        self.ignoresCase = ignoresCase
        self.path = path
        self.snapshot = snapshot
    }
}

/// The lines that were found.
public struct FoundLines: Sendable {
    /// By path, then by number.
    public internal(set) var lines: [FoundLine] = []
    /// The files that have an unreadable version.
    public internal(set) var unreadable: [RelativePath] = []

    package init() {}

    /// Adds the results of another search.
    package mutating func append(lines: [FoundLine], unreadable: [RelativePath]) {
        self.lines += lines
        self.unreadable += unreadable
    }
}

extension Archive {
    /// Returns the matching lines of all versions of all files of a root.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func lines(
        matching query: LineQuery, in root: ArchivedRoot, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> FoundLines {
        var found = FoundLines()
        found.unreadable = try forEachLine(matching: query, in: root, progress: progress) { line in
            found.lines.append(line)
            return true
        }
        return found
    }

    /// Calls `body` with each matching line of all versions of all files of a root, file by file, until it returns
    /// false.
    ///
    /// A content that many snapshots and files share is usually read once, on all processors. A content with a NUL byte in
    /// its first 8,000 bytes is binary and is skipped.
    ///
    /// - Parameters:
    ///   - progress: counts files.
    ///   - isCancelled: asked again and again, from several threads; if it returns true, the search ends early.
    /// - Returns: the files that have an unreadable version, among those searched.
    /// - Throws: `ArchiverError` with the code `malformedSelector` if the pattern is invalid.
    public func forEachLine(
        matching query: LineQuery, in root: ArchivedRoot, progress: OperationProgress? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }, _ body: (FoundLine) -> Bool
    ) throws(ArchiverError) -> [RelativePath] {
        _ = try LinePattern(query)
        return try facing {
            let search = LineSearch(archive: self, root: root, query: query, isCancelled: isCancelled)
            return try search.run(progress, body)
        }
    }
}

/// One search for lines.
///
/// Paths are searched in batches. The versions of a batch are read in the order of their snapshots, as they were
/// stored: neighbours share most of their trees and blocks. What is held in memory are the positions of the batch's
/// versions, the entries and matching lines of one step, and the results of the batch.
private struct LineSearch {
    let archive: Archive
    let root: ArchivedRoot
    let query: LineQuery
    let isCancelled: @Sendable () -> Bool

    /// The most versions of a batch: the first results appear soon, and later batches have many neighbours.
    private static let versionsPerBatch = (first: 16, most: 1 << 14)
    /// The most versions that are read before their lines are sorted into the results.
    private static let versionsPerStep = 1024

    func run(_ progress: OperationProgress?, _ body: (FoundLine) -> Bool) throws -> [RelativePath] {
        guard let number = try archive.number(of: root),
            let latest = try query.snapshot ?? archive.store.catalogue.snapshot(before: .end, root: number)
        else { return [] }
        var unreadable: Set<RelativePath> = []
        var places = Places(catalogue: archive.store.catalogue, root: number, latest: latest, only: query.snapshot)
        let contents = KnownContents()
        let paths = try paths()
        progress?.expect(entries: UInt64(paths.count), bytes: nil)
        var limit = LineSearch.versionsPerBatch.first
        var next = 0
        while next < paths.count, !isCancelled() {
            var batch = Batch()
            while next < paths.count, batch.versions.count < limit, !isCancelled() {
                try addVersions(of: paths[next], root: number, to: &batch)
                next += 1
            }
            try read(&batch, contents, &places)
            if isCancelled() { break }
            for (index, path) in batch.paths.enumerated() {
                if batch.unreadable.contains(index) { unreadable.insert(path) }
                batch.lines[index].end()
                for line in batch.lines[index].found.sorted(by: { $0.line.number < $1.line.number }) {
                    guard let line = try places.found(line, at: path) else { continue }
                    if !body(line) { return unreadable.sorted() }
                }
            }
            progress?.add(entries: batch.paths.count)
            limit = min(2 * limit, LineSearch.versionsPerBatch.most)
        }
        return unreadable.sorted()
    }

    /// Returns the paths of all files that are or were in the searched part of the root.
    private func paths() throws -> [RelativePath] {
        var paths: Set<RelativePath> = []
        let add = { (entry: Entry) in
            if entry.kind == .file { paths.insert(entry.path) }
            return !isCancelled()
        }
        if let snapshot = query.snapshot {
            try archive.forEachEntry(in: snapshot, at: query.path, add)
            return paths.sorted()
        }
        guard let number = try archive.indexed(root) else { return [] }
        let catalogue = archive.store.catalogue
        try catalogue.forEachChangedPath(root: number) { path in
            if query.path.contains(path) { paths.insert(path) }
            return !isCancelled()
        }
        if let first = try catalogue.firstSnapshot(root: number) {
            try archive.forEachEntry(in: first, at: query.path, add)
        }
        return paths.sorted()
    }

    // MARK: Versions

    /// A version of a path: the position of its snapshot.
    private struct Version {
        let place: HistoryPlace
        /// An index in the batch's paths.
        let path: Int32
        let kind: PathChange.Kind
    }

    /// Paths that are searched together.
    private struct Batch {
        var paths: [RelativePath] = []
        var versions: [Version] = []
        /// The results so far, by path.
        var lines: [PathLines] = []
        var unreadable: Set<Int> = []
    }

    /// How many changes are read per query.
    private static let changesPerQuery = 512

    private func addVersions(of path: RelativePath, root: Int64, to batch: inout Batch) throws {
        let number = Int32(clamping: batch.paths.count)
        batch.paths.append(path)
        batch.lines.append(PathLines(isOneVersion: query.snapshot != nil))
        if let snapshot = query.snapshot {
            batch.versions.append(Version(place: HistoryPlace(snapshot), path: number, kind: .added))
            return
        }
        let catalogue = archive.store.catalogue
        var (end, oldest) = (HistoryPlace.end, PathChange.Kind?.none)
        while !isCancelled() {
            let changes = try catalogue.changes(
                of: path, root: root, before: end, limit: LineSearch.changesPerQuery)
            for placed in changes {
                batch.versions.append(Version(place: placed.place, path: number, kind: placed.change.kind))
                (end, oldest) = (placed.place, placed.change.kind)
            }
            if changes.count < LineSearch.changesPerQuery { break }
        }
        if oldest != .added, let first = try catalogue.firstSnapshot(root: root), HistoryPlace(first) < end {
            batch.versions.append(Version(place: HistoryPlace(first), path: number, kind: .added))
        }
    }

    // MARK: Reading

    /// The matching lines of the contents that were read last, so that a content that comes again is not read again.
    private final class KnownContents: Sendable {
        /// Of a content that may be long, only a hash is kept.
        struct Key: Hashable, Sendable {
            private let first: Int
            private let second: Int

            init(_ content: Content) {
                var hasher = Hasher()
                hasher.combine(content)
                first = hasher.finalize()
                hasher = Hasher()
                hasher.combine(first)
                hasher.combine(content)
                second = hasher.finalize()
            }
        }

        /// Nil for a content that cannot be read.
        private let lines = Locked(ClockCache<Key, [LineScan.Line]?>(capacity: 16 << 20))

        subscript(key: Key) -> [LineScan.Line]?? { lines.withLock { $0.value(for: key) } }

        func insert(_ found: [LineScan.Line]?, for key: Key) {
            let memory = (found ?? []).reduce(128) { $0 + 128 + $1.bytes.count }
            let evicted = lines.withLock { $0.insert(found, for: key, cost: memory) }
            // Freed here, outside the lock.
            _ = consume evicted
        }
    }

    /// What a version is.
    private enum Found: Sendable {
        /// There is no file.
        case none
        /// What is there cannot be read.
        case unknown
        /// A file; no lines if its content cannot be read.
        case lines(KnownContents.Key, [LineScan.Line]?)
    }

    /// Reads the versions of a batch in the order of their snapshots, and sorts their lines into the results.
    private func read(_ batch: inout Batch, _ contents: KnownContents, _ places: inout Places) throws {
        batch.versions.sort { ($0.place, $0.path) < ($1.place, $1.path) }
        var start = 0
        while start < batch.versions.count, !isCancelled() {
            let end = min(start + LineSearch.versionsPerStep, batch.versions.count)
            var wanted: [(version: Version, path: RelativePath, snapshot: ListedSnapshot)] = []
            for version in batch.versions[start..<end] {
                // The content is that of the version before.
                if version.kind == .metadata, batch.lines[Int(version.path)].isBegun { continue }
                // It may have been forgotten meanwhile.
                guard let snapshot = try places.snapshot(at: version.place) else { continue }
                wanted.append((version, batch.paths[Int(version.path)], snapshot))
            }
            let results = try inParallel(wanted) { part, pattern throws(ArchiverError) in
                if part.version.kind == .removed { return Found.none }
                return try read(part.path, in: part.snapshot, pattern, contents)
            }
            // Some are missing.
            if isCancelled() { return }
            for (part, found) in zip(wanted, results) {
                let index = Int(part.version.path)
                switch found {
                case nil, .some(.unknown): batch.unreadable.insert(index)
                case .some(.none): batch.lines[index].remove(at: part.version.place)
                case .some(.lines(let key, let lines)):
                    if part.version.kind == .metadata, batch.lines[index].isBegun { continue }
                    if lines == nil { batch.unreadable.insert(index) }
                    batch.lines[index].replace(by: lines ?? [], key, at: part.version.place)
                }
            }
            // What one step frees is in pieces between what the caches keep: without this, memory grows with the steps.
            if end - start == LineSearch.versionsPerStep { CurrentProcess.releaseFreeMemory() }
            start = end
        }
    }

    /// Returns the matching lines of a version.
    private func read(
        _ path: RelativePath, in snapshot: ListedSnapshot, _ pattern: LinePattern, _ contents: KnownContents
    ) throws(ArchiverError) -> Found {
        let entry = try facing { try archive.readableEntry(at: path, in: snapshot) }
        // The content is unknown, so the lines before it do not count as gone.
        guard let entry else { return .unknown }
        guard entry.kind == .file else { return .none }
        let key = KnownContents.Key(entry.content)
        if let known = contents[key] { return .lines(key, known) }
        let lines = try lines(of: entry, pattern)
        contents.insert(lines, for: key)
        return .lines(key, lines)
    }

    private func lines(of entry: Entry, _ pattern: LinePattern) throws(ArchiverError) -> [LineScan.Line]? {
        var scan = LineScan(pattern)
        do throws(ArchiverError) {
            try archive.forEachPiece(of: entry) { scan.add($0) && !isCancelled() }
        } catch {
            guard error.code == .damaged || error.code == .newerFormat else { throw error }
            return nil
        }
        scan.finish()
        return scan.lines
    }

    /// Inputs that several threads work on together.
    private final class SharedWork<Input: Sendable, Output: Sendable>: Sendable {
        let inputs: [Input]
        let results: Locked<[Output?]>
        let failure = Locked<ArchiverError?>(nil)
        let next = Atomic(0)
        let body: @Sendable (Input, LinePattern) throws(ArchiverError) -> Output

        init(_ inputs: [Input], _ body: @escaping @Sendable (Input, LinePattern) throws(ArchiverError) -> Output) {
            self.inputs = inputs
            self.body = body
            results = Locked([Output?](repeating: nil, count: inputs.count))
        }
    }

    /// Neighbours that one thread works on: their trees and blocks are alike.
    private static let neighbours = 32

    /// Returns the results of `body` for all inputs; some are missing if the search is cancelled.
    ///
    /// The threads are its own: those of a shared pool would be missing for other work as long as the search lasts.
    private func inParallel<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], _ body: @escaping @Sendable (Input, LinePattern) throws(ArchiverError) -> Output
    ) throws -> [Output?] {
        let work = SharedWork(inputs, body)
        let parts = (inputs.count + LineSearch.neighbours - 1) / LineSearch.neighbours
        let others = DispatchGroup()
        for _ in 0..<max(0, min(Processors.count, parts) - 1) {
            let part: @Sendable () -> Void = {
                self.work(on: work)
                others.leave()
            }
            others.enter()
            do throws(FileError) { try DetachedThread.start(for: "a search", .normal, part) } catch {
                // The other threads do its part.
                others.leave()
            }
        }
        self.work(on: work)
        others.wait()
        if let failure = work.failure.withLock({ $0 }) { throw failure }
        return work.results.withLock { $0 }
    }

    private func work<Input, Output>(on work: SharedWork<Input, Output>) {
        do throws(ArchiverError) {
            let pattern = try LinePattern(query)
            while true {
                let start = work.next.add(LineSearch.neighbours, ordering: .relaxed).oldValue
                guard start < work.inputs.count else { return }
                for index in start..<min(start + LineSearch.neighbours, work.inputs.count) {
                    if isCancelled() || work.failure.withLock({ $0 != nil }) { return }
                    let output = try work.body(work.inputs[index], pattern)
                    work.results.withLock { $0[index] = output }
                }
            }
        } catch {
            work.failure.withLock { $0 = error }
        }
    }

    // MARK: Results

    /// A line of a path, with the positions of the snapshots that it concerns.
    private struct PlacedLine {
        /// As it is in the latest version that has it.
        var line: LineScan.Line
        let first: HistoryPlace
        var gone: HistoryPlace?
        var interruptions: [(gone: HistoryPlace, back: HistoryPlace)] = []
        var wasDeleted = false
        /// The number of the last version that has it.
        var version: Int
    }

    /// The lines of one path, each once; the versions are passed in their order.
    private struct PathLines {
        private(set) var found: [PlacedLine] = []
        private var indexes: [LineScan.Identity: Int] = [:]
        /// The lines of the last version.
        private var present: [Int] = []
        /// The content of the last version; nil if there was no file.
        private var content: KnownContents.Key?
        private var versions = 0
        /// Whether there is one version only: in it, each of several equal lines is found.
        private let isOneVersion: Bool

        init(isOneVersion: Bool) { self.isOneVersion = isOneVersion }

        /// Whether there was a version before.
        var isBegun: Bool { versions > 0 }

        mutating func remove(at place: HistoryPlace) {
            if content == nil { return }
            content = nil
            for index in present { found[index].gone = place }
        }

        mutating func replace(by lines: [LineScan.Line], _ key: KnownContents.Key, at place: HistoryPlace) {
            if content == key { return }
            if content != nil {
                for index in present { found[index].gone = place }
            }
            content = key
            versions += 1
            present = []
            for line in lines {
                if !isOneVersion, let index = indexes[line.identity] {
                    if found[index].version == versions { continue }
                    (found[index].line, found[index].version) = (line, versions)
                    if let gone = found[index].gone, gone != place {
                        found[index].interruptions.append((gone, place))
                    }
                    found[index].gone = nil
                    present.append(index)
                } else {
                    indexes[line.identity] = found.count
                    present.append(found.count)
                    found.append(PlacedLine(line: line, first: place, version: versions))
                }
            }
        }

        /// Notes which lines are gone because the file is.
        mutating func end() {
            if content != nil { return }
            for index in present { found[index].wasDeleted = true }
        }
    }

    /// Finds the snapshots at positions.
    private struct Places {
        let catalogue: Catalogue
        let root: Int64
        let latest: ListedSnapshot
        /// The only snapshot that is searched; nil for all.
        let only: ListedSnapshot?
        private var known = ClockCache<HistoryPlace, ListedSnapshot>(capacity: 1024)
        private var before = ClockCache<HistoryPlace, ListedSnapshot>(capacity: 1024)

        init(catalogue: Catalogue, root: Int64, latest: ListedSnapshot, only: ListedSnapshot?) {
            (self.catalogue, self.root, self.latest, self.only) = (catalogue, root, latest, only)
        }

        /// The snapshot at a position; nil if it was forgotten.
        mutating func snapshot(at place: HistoryPlace) throws(StorageError) -> ListedSnapshot? {
            if let only { return only }
            if let known = known.value(for: place) { return known }
            guard let found = try catalogue.snapshot(at: place, root: root) else { return nil }
            _ = known.insert(found, for: place)
            return found
        }

        /// The last snapshot before a position.
        private mutating func last(before place: HistoryPlace) throws(StorageError) -> ListedSnapshot? {
            if let known = before.value(for: place) { return known }
            guard let found = try catalogue.snapshot(before: place, root: root) else { return nil }
            _ = before.insert(found, for: place)
            return found
        }

        /// The line with its snapshots; nil if they were forgotten.
        mutating func found(_ line: PlacedLine, at path: RelativePath) throws(StorageError) -> FoundLine? {
            guard let first = try snapshot(at: line.first) else { return nil }
            var (gone, lastIn) = (ListedSnapshot?.none, ListedSnapshot?.some(latest))
            if let place = line.gone { (gone, lastIn) = (try snapshot(at: place), try last(before: place)) }
            var found = FoundLine(
                path: path, bytes: line.line.bytes, number: line.line.number, first: first, gone: gone,
                lastIn: lastIn ?? gone ?? first, wasDeleted: line.wasDeleted)
            for span in line.interruptions {
                guard let gone = try snapshot(at: span.gone), let back = try snapshot(at: span.back) else { continue }
                found.interruptions.append(.init(gone: gone, back: back))
            }
            return found
        }
    }
}
