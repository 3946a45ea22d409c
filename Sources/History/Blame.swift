// Which version introduced each line of a file.

internal import ArchiveFormat
internal import ArchiveStorage
package import Archives
internal import FileIO
internal import Roots
package import TextDiff

/// A line of a file and the version that introduced it.
package struct BlamedLine {
    package let bytes: ArraySlice<UInt8>
    package let version: PathVersion
    /// Its number in that version, from 1.
    package let sourceLine: Int
}

/// The lines of a file with their versions; a few bytes for each line besides its text.
package struct BlamedLines: RandomAccessCollection, Sendable {
    fileprivate struct Origin {
        /// An index in `versions`.
        let version: UInt32
        /// From 1.
        let line: UInt32
    }

    private let text: TextLines
    private let origins: [Origin]
    private let versions: [PathVersion]

    fileprivate init(_ text: TextLines, _ origins: [Origin], _ versions: [PathVersion]) {
        (self.text, self.origins, self.versions) = (text, origins, versions)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { text.lines.count }

    package subscript(index: Int) -> BlamedLine {
        let origin = origins[index]
        return BlamedLine(
            bytes: text.lines[index], version: versions[Int(origin.version)], sourceLine: Int(origin.line))
    }
}

/// Attributes the lines of a file to its versions, from the newest back until every line has one.
package struct Blame {
    private let archive: Archive

    /// The largest text whose lines are followed, in bytes.
    package static let limit: UInt64 = 16 << 20

    package init(_ archive: Archive) { self.archive = archive }

    /// Returns the lines of the newest of `versions`, which are the versions of one file, the newest first.
    package func lines(_ versions: [PathVersion]) throws -> BlamedLines {
        guard let newest = versions.first else { return BlamedLines(TextLines([]), [], []) }
        let all = try self.text(newest)
        var text = all
        // The oldest version has every line that is not attributed to another one.
        var origins = Array(repeating: BlamedLines.Origin(version: 0, line: 0), count: all.lines.count)
        // Lines not attributed yet, with their numbers in the version being compared.
        var open = (0..<UInt32(all.lines.count)).map { (line: $0, source: $0) }
        for index in versions.indices where !open.isEmpty {
            let next = index + 1 < versions.count && versions[index + 1].isPresent ? versions[index + 1] : nil
            let older = try next.map(self.text) ?? TextLines([])
            let numbers = TextLines.numbers(older, text)
            let edits = LineDiff.edits(from: numbers.left, to: numbers.right)
            var stillOpen: [(line: UInt32, source: UInt32)] = []
            var edit = 0
            var shift = 0
            for place in open {
                let source = Int(place.source)
                while edit < edits.count, edits[edit].right.upperBound <= source {
                    shift += edits[edit].left.count - edits[edit].right.count
                    edit += 1
                }
                if edit < edits.count, edits[edit].right.contains(source) {
                    origins[Int(place.line)] = BlamedLines.Origin(version: UInt32(index), line: place.source + 1)
                } else {
                    stillOpen.append((place.line, UInt32(source + shift)))
                }
            }
            open = stillOpen
            text = older
        }
        return BlamedLines(all, origins, versions)
    }

    /// Returns the lines of a version; none if it is not a file.
    package func text(_ version: PathVersion) throws -> TextLines {
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
        return TextLines(bytes)
    }
}
