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
    public let path: RelativePath
    /// Its bytes without the line feed; at most the first 65,536.
    public let bytes: [UInt8]
    /// Its number in the latest version that has it, from 1.
    public internal(set) var number: Int
    /// The first snapshot that has it.
    public let first: ListedSnapshot
    /// The first snapshot that no longer has it; nil if the latest snapshot has it.
    ///
    /// Snapshots in between may lack it, too.
    public internal(set) var gone: ListedSnapshot?
}

/// Which lines to search for, and where.
public struct LineQuery: Sendable {
    /// An extended regular expression as for `grep -E`, or the text itself.
    public var pattern: [UInt8]
    /// Whether the pattern is the text itself.
    public var isLiteral: Bool
    /// Whether the letters A to Z and a to z are the same.
    public var ignoresCase: Bool
    /// The file or directory to search.
    public var path: RelativePath
    /// The snapshot to search; nil for all.
    public var snapshot: ListedSnapshot?

    public init(
        _ pattern: [UInt8], isLiteral: Bool = false, ignoresCase: Bool = false, path: RelativePath = .root,
        in snapshot: ListedSnapshot? = nil
    ) {
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
}

extension Archive {
    /// Returns the matching lines of all versions of all files of a root.
    ///
    /// Each content is read once, however many snapshots and files share it, on all processors. A content with a NUL
    /// byte in its first 8,000 bytes is binary and is skipped.
    ///
    /// - Parameter progress: counts contents.
    /// - Throws: `ArchiverError` with the code `malformedSelector` if the pattern is invalid.
    public func lines(
        matching query: LineQuery, in root: ArchivedRoot, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> FoundLines {
        _ = try LinePattern(query.pattern, isLiteral: query.isLiteral, ignoresCase: query.ignoresCase)
        return try facing {
            let search = LineSearch(archive: self, root: root, query: query)
            return try search.run(progress)
        }
    }
}

/// One search for lines.
private struct LineSearch {
    let archive: Archive
    let root: ArchivedRoot
    let query: LineQuery

    /// A content of a file, from one snapshot until another.
    private struct Span {
        let content: Int
        let first: ListedSnapshot
        var gone: ListedSnapshot?
    }

    /// The contents to read, each once.
    private struct Contents {
        var numbers: [Content: Int] = [:]
        var entries: [Entry] = []

        mutating func number(of entry: Entry) -> Int {
            if let known = numbers[entry.content] { return known }
            numbers[entry.content] = entries.count
            entries.append(entry)
            return entries.count - 1
        }
    }

    func run(_ progress: OperationProgress?) throws -> FoundLines {
        var contents = Contents()
        var spans: [(path: RelativePath, spans: [Span])] = []
        var result = FoundLines()
        for path in try paths() {
            let (found, isWhole) = try self.spans(of: path, &contents)
            if !found.isEmpty { spans.append((path, found)) }
            if !isWhole { result.unreadable.append(path) }
        }
        progress?.expect(entries: UInt64(contents.entries.count), bytes: nil)
        let lines = try scan(contents.entries, progress)
        for (path, spans) in spans {
            result.lines += found(at: path, spans, lines)
            if spans.contains(where: { lines[$0.content] == nil }) { result.unreadable.append(path) }
        }
        result.unreadable = Array(Set(result.unreadable)).sorted()
        return result
    }

    /// Returns the paths of all files that are or were in the searched part of the root.
    private func paths() throws -> [RelativePath] {
        var paths: Set<RelativePath> = []
        let add = { (entry: Entry) in
            if entry.kind == .file { paths.insert(entry.path) }
            return true
        }
        if let snapshot = query.snapshot {
            try archive.forEachEntry(in: snapshot, at: query.path, add)
            return paths.sorted()
        }
        guard let number = try archive.indexed(root) else { return [] }
        let catalogue = archive.store.catalogue
        try catalogue.forEachChangedPath(root: number) { if query.path.contains($0) { paths.insert($0) } }
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

    /// Returns the matching lines of each content; nil for one that cannot be read.
    private func scan(_ entries: [Entry], _ progress: OperationProgress?) throws -> [[LineScan.Line]?] {
        let results = Locked([[LineScan.Line]?](repeating: nil, count: entries.count))
        let failure = Locked<ArchiverError?>(nil)
        let next = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))) { _ in
            do throws(ArchiverError) {
                let pattern = try LinePattern(
                    query.pattern, isLiteral: query.isLiteral, ignoresCase: query.ignoresCase)
                while failure.withLock({ $0 == nil }) {
                    let index = next.add(1, ordering: .relaxed).oldValue
                    guard index < entries.count else { return }
                    let lines = try self.lines(of: entries[index], pattern)
                    results.withLock { $0[index] = lines }
                    progress?.add(entries: 1)
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return results.withLock { $0 }
    }

    private func lines(of entry: Entry, _ pattern: LinePattern) throws(ArchiverError) -> [LineScan.Line]? {
        var scan = LineScan(pattern)
        do throws(ArchiverError) {
            try archive.forEachPiece(of: entry) { scan.add($0) }
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
        scan.finish()
        return scan.lines
    }

    /// Returns the lines of one path, each once.
    private func found(at path: RelativePath, _ spans: [Span], _ lines: [[LineScan.Line]?]) -> [FoundLine] {
        // The index of each line in `found`, and the last span that has it.
        var places: [[UInt8]: (index: Int, span: Int)] = [:]
        var found: [FoundLine] = []
        for (number, span) in spans.enumerated() {
            for line in lines[span.content] ?? [] {
                if let place = places[line.bytes] {
                    if place.span == number { continue }
                    places[line.bytes]?.span = number
                    found[place.index].number = line.number
                    found[place.index].gone = span.gone
                } else {
                    places[line.bytes] = (found.count, number)
                    found.append(
                        FoundLine(
                            path: path, bytes: line.bytes, number: line.number, first: span.first, gone: span.gone))
                }
            }
        }
        return found.sorted { $0.number < $1.number }
    }
}
