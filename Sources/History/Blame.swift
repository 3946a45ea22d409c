// Which version introduced each line of a file.

internal import ArchiveFormat
internal import ArchiveStorage
package import Archives
internal import FileIO
internal import Roots
package import TextDiff
internal import Threading

/// A line of a file and the version that introduced it.
package struct BlamedLine {
    package let bytes: ArraySlice<UInt8>
    package let version: PathVersion
    /// Its number in that version, from 1.
    package let sourceLine: Int
}

/// The lines of a file with their versions; a few bytes for each run of lines besides the text.
package struct BlamedLines: RandomAccessCollection, Sendable {
    /// Lines of the text that follow each other, there and in an older version.
    fileprivate struct Run {
        /// The first one's index in the text.
        var line: Int
        /// Its index in the version.
        var source: Int
        var count: Int
        /// An index in `versions`.
        var version = 0
    }

    private let text: TextLines
    /// All lines, in order.
    private let runs: [Run]
    private let versions: [PathVersion]

    fileprivate init(_ text: TextLines, _ runs: [Run], _ versions: [PathVersion]) {
        (self.text, self.runs, self.versions) = (text, runs.sorted { $0.line < $1.line }, versions)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { text.lines.count }

    package subscript(index: Int) -> BlamedLine {
        // The last run that does not begin after the line.
        var (low, high) = (0, runs.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if runs[middle].line <= index { low = middle } else { high = middle }
        }
        let run = runs[low]
        return BlamedLine(
            bytes: text.lines[index], version: versions[run.version], sourceLine: run.source + index - run.line + 1)
    }
}

/// Attributes the lines of a file to its versions, from the newest back until every line has one.
package struct Blame: Sendable {
    private let archive: Archive
    /// Returns the text that the bytes of a version are, whose lines are followed.
    private let decode: @Sendable ([UInt8]) -> [UInt8]

    /// The largest text whose lines are followed, in bytes.
    package static let limit: UInt64 = 16 << 20
    private static let largeText: UInt64 = 4 << 20

    package init(_ archive: Archive, decoding decode: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }) {
        (self.archive, self.decode) = (archive, decode)
    }

    /// Returns the lines of the newest of `versions`, which are the versions of one file, the newest first.
    package func lines(_ versions: [PathVersion]) throws -> BlamedLines {
        var (all, newer) = (TextLines([]), TextLines?.none)
        var index = 0
        var done: [BlamedLines.Run] = []
        // Lines not attributed yet, with their places in the version being compared.
        var open: [BlamedLines.Run] = []
        try forEachText(of: versions.prefix(1) + versions.dropFirst().prefix(while: \.isPresent)) { text in
            if let newer {
                open = Blame.divide(open, by: TextLines.edits(from: text, to: newer), version: index, &done)
                index += 1
            } else {
                all = text
                open = [BlamedLines.Run(line: 0, source: 0, count: text.lines.count)].filter { $0.count > 0 }
            }
            newer = text
            return !open.isEmpty
        }
        // The oldest version has brought the others.
        done += open.map { BlamedLines.Run(line: $0.line, source: $0.source, count: $0.count, version: index) }
        return BlamedLines(all, done, versions)
    }

    /// Calls `body` with the text of each version in order, until it returns false; texts are read ahead.
    package func forEachText(of versions: some Sequence<PathVersion>, _ body: (TextLines) throws -> Bool) throws {
        try versions.forEachAhead(byteCount: \.size, waits: archive.store.isRemote, { try text($0) }, body)
    }

    /// Attributes the lines that edits have brought to a version, and returns the others with their places before it.
    ///
    /// - Parameters:
    ///   - open: runs in the order of the version's lines.
    ///   - done: receives the attributed runs.
    private static func divide(
        _ open: [BlamedLines.Run], by edits: [LineEdit], version: Int, _ done: inout [BlamedLines.Run]
    ) -> [BlamedLines.Run] {
        var left: [BlamedLines.Run] = []
        var (edit, shift) = (0, 0)
        for run in open {
            var rest = run
            /// Takes the lines before a place from the rest of the run.
            func take(until place: Int) -> BlamedLines.Run {
                let count = min(place - rest.source, rest.count)
                defer {
                    rest = BlamedLines.Run(
                        line: rest.line + count, source: rest.source + count, count: rest.count - count)
                }
                return BlamedLines.Run(line: rest.line, source: rest.source, count: count, version: version)
            }
            while rest.count > 0 {
                while edit < edits.count, edits[edit].right.upperBound <= rest.source {
                    shift += edits[edit].left.count - edits[edit].right.count
                    edit += 1
                }
                if edit < edits.count, edits[edit].right.contains(rest.source) {
                    done.append(take(until: edits[edit].right.upperBound))
                } else {
                    var kept = take(until: edit < edits.count ? edits[edit].right.lowerBound : .max)
                    kept.source += shift
                    left.append(kept)
                }
            }
        }
        return left
    }

    /// Returns the lines of a version; none if it is not a file.
    private func text(_ version: PathVersion) throws -> TextLines {
        guard let entry = try archive.entry(at: version.path, in: version.snapshot), entry.kind == .file else {
            return TextLines([])
        }
        guard entry.size <= Blame.limit else {
            throw ArchiverError(
                .unsuitable,
                "\(version.path) is larger than \(Blame.limit >> 20) MiB in snapshot \(version.snapshot.id.short)",
                remedy: "lines are followed only in smaller files")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(entry.size))
        try archive.forEachPiece(of: entry) { piece in
            bytes.append(contentsOf: piece)
            return true
        }
        // The cached blocks of a large text are as large again.
        if entry.size > Blame.largeText { archive.releaseUnusedMemory() }
        return TextLines(decode(bytes))
    }
}
