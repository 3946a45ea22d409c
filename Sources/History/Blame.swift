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

/// Attributes the lines of a file to its versions, from the newest back until every line has one.
package struct Blame {
    private let archive: Archive

    /// The largest text whose lines are followed, in bytes.
    package static let limit: UInt64 = 16 << 20

    package init(_ archive: Archive) { self.archive = archive }

    /// Returns the lines of the newest of `versions`, which are the versions of one file, the newest first.
    package func lines(_ versions: [PathVersion]) throws -> [BlamedLine] {
        guard let newest = versions.first else { return [] }
        var text = try self.text(newest)
        let all = text.lines
        var found: [BlamedLine?] = Array(repeating: nil, count: all.count)
        // Lines not attributed yet, with their numbers in the version being compared.
        var open = Array(all.indices).map { (line: $0, source: $0) }
        for (index, version) in versions.enumerated() where !open.isEmpty {
            let next = index + 1 < versions.count && versions[index + 1].isPresent ? versions[index + 1] : nil
            let older = try next.map(self.text) ?? TextLines([])
            let numbers = TextLines.numbers(older, text)
            let edits = LineDiff.edits(from: numbers.left, to: numbers.right)
            var stillOpen: [(line: Int, source: Int)] = []
            var edit = 0
            var shift = 0
            for place in open {
                while edit < edits.count, edits[edit].right.upperBound <= place.source {
                    shift += edits[edit].left.count - edits[edit].right.count
                    edit += 1
                }
                if edit < edits.count, edits[edit].right.contains(place.source) {
                    found[place.line] = BlamedLine(
                        bytes: all[place.line], version: version, sourceLine: place.source + 1)
                } else {
                    stillOpen.append((place.line, place.source + shift))
                }
            }
            open = stillOpen
            text = older
        }
        return found.compactMap { $0 }
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
