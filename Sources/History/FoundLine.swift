// Searches the lines of all versions of all files for a pattern.

internal import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import Dispatch
public import FileIO
internal import Glibc
public import Roots
internal import Synchronization
internal import Threading

/// A line that some version of a file has.
public struct FoundLine: Sendable, Hashable {
    /// The file that contains the line.
    public let path: RelativePath
    /// Its bytes without the line feed; at most the first 65,536.
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
    /// Each content is read once, however many snapshots and files share it, on all processors. A content with a NUL
    /// byte in its first 8,000 bytes is binary and is skipped.
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
private struct LineSearch {
    let archive: Archive
    let root: ArchivedRoot
    let query: LineQuery
    let isCancelled: @Sendable () -> Bool

    /// A content of a file, from one snapshot until another.
    private struct Span {
        let content: Int
        let first: ListedSnapshot
        var gone: ListedSnapshot?
    }

    /// The contents that were found, each once, by number: a history may have a million, so only a hash is kept of each.
    private struct Contents {
        private struct Hash: Hashable {
            let first: Int
            let second: Int

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

        private var numbers: [Hash: Int] = [:]
        /// The matching lines of each content that was read; nil if it cannot be read.
        private(set) var lines: [[LineScan.Line]?] = []
        /// Those that are still to be read.
        private(set) var waiting: [Entry] = []

        mutating func number(of entry: Entry) -> Int {
            let hash = Hash(entry.content)
            if let known = numbers[hash] { return known }
            let number = lines.count + waiting.count
            numbers[hash] = number
            waiting.append(entry)
            return number
        }

        mutating func add(_ found: [[LineScan.Line]?]) {
            lines += found
            waiting = []
        }
    }

    /// The first results appear soon, and later steps use all processors well.
    private static let contentsPerStep = (first: 16, most: 4096)

    func run(_ progress: OperationProgress?, _ body: (FoundLine) -> Bool) throws -> [RelativePath] {
        var contents = Contents()
        var unreadable: Set<RelativePath> = []
        guard let number = try archive.number(of: root),
            let latest = try query.snapshot ?? archive.store.catalogue.snapshot(before: .end, root: number)
        else { return [] }
        var holders = Holders(catalogue: archive.store.catalogue, root: number, latest: latest)
        let paths = try paths()
        progress?.expect(entries: UInt64(paths.count), bytes: nil)
        var waiting: [(path: RelativePath, spans: [Span])] = []
        var step = LineSearch.contentsPerStep.first
        for (number, path) in paths.enumerated() {
            if isCancelled() { break }
            let (spans, isWhole) = try spans(of: path, &contents)
            if !isWhole { unreadable.insert(path) }
            waiting.append((path, spans))
            let isLast = number == paths.count - 1
            guard isLast || waiting.count >= step || contents.waiting.count >= step else { continue }
            contents.add(try scan(contents.waiting[...]))
            for (path, spans) in waiting {
                if isCancelled() { break }
                if spans.contains(where: { contents.lines[$0.content] == nil }) { unreadable.insert(path) }
                for line in try found(at: path, spans, contents.lines, &holders) where !body(line) {
                    return unreadable.sorted()
                }
            }
            progress?.add(entries: waiting.count)
            waiting = []
            step = min(2 * step, LineSearch.contentsPerStep.most)
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

    /// Returns the contents that a path had, the oldest first, and whether all of its versions could be read.
    private func spans(of path: RelativePath, _ contents: inout Contents) throws -> (spans: [Span], isWhole: Bool) {
        if let snapshot = query.snapshot {
            guard let entry = try archive.readableEntry(at: path, in: snapshot) else { return ([], false) }
            return ([Span(content: contents.number(of: entry), first: snapshot, gone: nil)], true)
        }
        var spans: [Span] = []
        var isWhole = true
        for version in try archive.history(of: path, in: root, HistoryQuery(followsRenames: false)).reversed() {
            // A file may have very many versions. What is returned then is not used.
            if isCancelled() { break }
            if version.change == .metadata, !spans.isEmpty { continue }
            let entry = version.isPresent ? try archive.readableEntry(at: path, in: version.snapshot) : nil
            // The content is unknown, so the lines before it do not count as gone.
            if version.isPresent, entry == nil {
                isWhole = false
                continue
            }
            let content = entry.flatMap { $0.kind == .file ? contents.number(of: $0) : nil }
            if let last = spans.indices.last, spans[last].gone == nil {
                if spans[last].content == content { continue }
                spans[last].gone = version.snapshot
            }
            if let content { spans.append(Span(content: content, first: version.snapshot, gone: nil)) }
        }
        return (spans, isWhole)
    }

    /// Contents that several threads scan together.
    private final class SharedScan: Sendable {
        let entries: ArraySlice<Entry>
        let results: Locked<[[LineScan.Line]?]>
        let failure = Locked<ArchiverError?>(nil)
        let next: Atomic<Int>

        init(_ entries: ArraySlice<Entry>) {
            self.entries = entries
            results = Locked([[LineScan.Line]?](repeating: nil, count: entries.count))
            next = Atomic(entries.startIndex)
        }
    }

    /// Returns the matching lines of each content; nil for one that cannot be read.
    ///
    /// The threads are its own: those of a shared pool would be missing for other work as long as the search lasts.
    private func scan(_ entries: ArraySlice<Entry>) throws -> [[LineScan.Line]?] {
        let shared = SharedScan(entries)
        let width = min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), entries.count)
        let others = DispatchGroup()
        for _ in 0..<max(0, width - 1) {
            let part: @Sendable () -> Void = {
                scan(shared)
                others.leave()
            }
            others.enter()
            do throws(FileError) { try DetachedThread.start(for: "a search", .normal, part) } catch {
                // The other threads do its part.
                others.leave()
            }
        }
        scan(shared)
        others.wait()
        if let failure = shared.failure.withLock({ $0 }) { throw failure }
        return shared.results.withLock { $0 }
    }

    /// Scans contents until none is left.
    private func scan(_ shared: SharedScan) {
        do throws(ArchiverError) {
            let pattern = try LinePattern(query)
            while !isCancelled(), shared.failure.withLock({ $0 == nil }) {
                let index = shared.next.add(1, ordering: .relaxed).oldValue
                guard index < shared.entries.endIndex else { return }
                let lines = try lines(of: shared.entries[index], pattern)
                shared.results.withLock { $0[index - shared.entries.startIndex] = lines }
            }
        } catch {
            shared.failure.withLock { $0 = error }
        }
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

    /// The last snapshots before lines were gone.
    private struct Holders {
        let catalogue: Catalogue
        let root: Int64
        let latest: ListedSnapshot
        private var known: [SnapshotID: ListedSnapshot] = [:]

        init(catalogue: Catalogue, root: Int64, latest: ListedSnapshot) {
            (self.catalogue, self.root, self.latest) = (catalogue, root, latest)
        }

        mutating func last(before gone: ListedSnapshot?) throws(StorageError) -> ListedSnapshot {
            guard let gone else { return latest }
            if let known = known[gone.id] { return known }
            let last = try catalogue.snapshot(before: HistoryPlace(gone), root: root) ?? gone
            known[gone.id] = last
            return last
        }
    }

    /// Returns the lines of one path, each once.
    private func found(
        at path: RelativePath, _ spans: [Span], _ lines: [[LineScan.Line]?], _ holders: inout Holders
    ) throws -> [FoundLine] {
        // The index of each line in `found`, and the last span that has it.
        var places: [LineScan.Identity: (index: Int, span: Int)] = [:]
        var found: [FoundLine] = []
        for (number, span) in spans.enumerated() {
            // A later span would begin where this one is gone.
            let wasDeleted = span.gone != nil && number == spans.count - 1
            for line in lines[span.content] ?? [] {
                let lastIn = try holders.last(before: span.gone)
                // In one snapshot, each of several equal lines is found.
                if query.snapshot == nil, let place = places[line.identity] {
                    if place.span == number { continue }
                    places[line.identity]?.span = number
                    found[place.index].number = line.number
                    if let gone = found[place.index].gone, gone.id != span.first.id {
                        found[place.index].interruptions.append(.init(gone: gone, back: span.first))
                    }
                    (found[place.index].gone, found[place.index].lastIn) = (span.gone, lastIn)
                    found[place.index].wasDeleted = wasDeleted
                } else {
                    places[line.identity] = (found.count, number)
                    found.append(
                        FoundLine(
                            path: path, bytes: line.bytes, number: line.number, first: span.first, gone: span.gone,
                            lastIn: lastIn, wasDeleted: wasDeleted))
                }
            }
        }
        return found.sorted { $0.number < $1.number }
    }
}
