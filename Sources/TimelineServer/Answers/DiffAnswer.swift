// The difference of two versions of a file: its hunks if both are text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Crypto
internal import FileIO
internal import TextDiff

struct DiffAnswer: Encodable {
    struct Side: Encodable {
        let size: UInt64
        let content: String?
        let kind: String
    }

    struct Place: Encodable {
        let start: Int
        let count: Int
    }

    struct Hunk: Encodable {
        let left: Place
        let right: Place
        var lines: [[String]]
    }

    let kind: String
    let left: Side?
    let right: Side?
    var hunks: [Hunk] = []
    var isTruncated = false
    /// The digest of the file on disk, if one side is that.
    var state: String?
    /// `UTF-16` or `Latin-1`; nil for UTF-8.
    var encoding: String?

    private static let lineLimit = 20_000

    /// Returns a digest of a content.
    static func state(of bytes: [UInt8]) -> String {
        Base64URL.encoded(Array(SHA256.hash(data: bytes).prefix(18)))
    }

    /// Returns the hunks between two texts, in the order in which ``PutBack`` numbers them.
    static func hunks(_ old: TextLines, _ new: TextLines) -> (hunks: [Hunk], isTruncated: Bool) {
        var (hunks, lines): ([Hunk], Int) = ([], 0)
        func texts(_ sign: String, _ text: TextLines, _ range: Range<Int>) -> [[String]] {
            text.lines[range].map { [sign, LineText.text($0)] }
        }
        for group in UnifiedDiff.hunks(TextLines.edits(from: old, to: new)) {
            guard let first = group.first, let last = group.last else { continue }
            let before = min(UnifiedDiff.contextLines, first.left.lowerBound)
            let after = min(UnifiedDiff.contextLines, old.lines.count - last.left.upperBound)
            let left = (first.left.lowerBound - before)..<(last.left.upperBound + after)
            let right = (first.right.lowerBound - before)..<(last.right.upperBound + after)
            var hunk = Hunk(
                left: .init(start: left.lowerBound + 1, count: left.count),
                right: .init(start: right.lowerBound + 1, count: right.count), lines: [])
            var next = left.lowerBound
            for edit in group {
                hunk.lines += texts(" ", old, next..<edit.left.lowerBound) + texts("-", old, edit.left)
                hunk.lines += texts("+", new, edit.right)
                next = edit.left.upperBound
            }
            hunk.lines += texts(" ", old, next..<left.upperBound)
            lines += hunk.lines.count
            hunks.append(hunk)
            if lines > lineLimit { return (hunks, true) }
        }
        return (hunks, false)
    }
}

/// Texts in other encodings than UTF-8.
enum LineText {
    /// Returns a line as text: as Latin-1 if it is not UTF-8.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
    }

    /// Returns UTF-16 with a byte order mark as UTF-8; nil for anything else.
    static func utf8(of bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let isBig = bytes[0] == 0xFE && bytes[1] == 0xFF
        guard isBig || bytes[0] == 0xFF && bytes[1] == 0xFE else { return nil }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (high, low) = isBig ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            return UInt16(high) << 8 | UInt16(low)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// A file at one side of a comparison: in a snapshot, or on disk.
struct ComparedFile {
    enum Place {
        case snapshot(ListedSnapshot)
        case disk(ArchivedRoot)
    }

    let side: DiffAnswer.Side
    /// The content of a file; nil if it is no file or too large to compare lines.
    let bytes: [UInt8]?
    let isOnDisk: Bool

    /// Reads a file; nil if the place has nothing at the path.
    init?(at path: RelativePath, _ place: Place, _ archive: Archive) throws {
        switch place {
        case .snapshot(let snapshot):
            guard let entry = try archive.entry(at: path, in: snapshot) else { return nil }
            side = DiffAnswer.Side(size: entry.size, content: ContentName.of(entry), kind: entry.kind.answer)
            let isReadable = entry.kind == .file && entry.size <= Blame.limit
            bytes = isReadable ? try archive.read(entry, range: 0..<entry.size) : nil
            isOnDisk = false
        case .disk(let root):
            guard let file = try archive.presentFile(at: path, in: root, limit: Blame.limit) else { return nil }
            let size = file.kind == .file ? file.size : 0
            side = DiffAnswer.Side(size: size, content: file.bytes.map(DiffAnswer.state), kind: file.kind.answer)
            bytes = file.bytes
            isOnDisk = true
        }
    }
}
