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
    var digest: String?
    /// `UTF-16` or `Latin-1`; nil for UTF-8.
    var encoding: String?

    private static let lineLimit = 20_000

    /// Returns a digest of a content.
    static func digest(of bytes: [UInt8]) -> String {
        Base64URL.encoded(Array(SHA256.hash(data: bytes).prefix(18)))
    }

    /// Returns the hunks between two texts, in the order in which ``PutBack`` numbers them.
    static func hunks(_ old: TextLines, _ new: TextLines) -> (hunks: [Hunk], isTruncated: Bool) {
        var (hunks, lines): ([Hunk], Int) = ([], 0)
        func texts(_ sign: String, _ text: TextLines, _ range: Range<Int>) -> [[String]] {
            text.lines[range].map { [sign, LineText.text($0).text] }
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

/// Texts in other encodings than UTF-8; text.js has the same rules for what the page reads by itself.
enum LineText {
    /// The bytes at the beginning of a file that tell its encoding.
    static let sniffedBytes: UInt64 = 8192

    /// Returns a line as text, and whether it is UTF-8: if not, it is read as Latin-1.
    static func text(_ bytes: some Collection<UInt8>) -> (text: String, isUTF8: Bool) {
        if let text = String(validating: bytes, as: UTF8.self) { return (text, true) }
        return (String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) })), false)
    }

    /// Returns the text of a found line, without the return of a CRLF; the end of a very long line is missing.
    static func found(_ line: FoundLine) -> String {
        let bytes = line.bytes.last == UInt8(ascii: "\r") ? line.bytes.dropLast() : line.bytes[...]
        // The last letter may be cut.
        return bytes.count < FoundLine.byteLimit ? text(bytes).text : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a text begins as UTF-16.
    static func isUTF16(_ bytes: [UInt8]) -> Bool { byteOrder(of: bytes) != nil }

    /// Returns UTF-16 as UTF-8; nil for anything else.
    static func utf8(of bytes: [UInt8]) -> [UInt8]? {
        guard let order = byteOrder(of: bytes) else { return nil }
        let units = stride(from: order.hasMark ? 2 : 0, to: bytes.count - 1, by: 2).map { index in
            let (high, low) = order.isBig ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            return UInt16(high) << 8 | UInt16(low)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Returns the byte order of UTF-16, by its mark, or because Latin letters have a zero in each second byte.
    private static func byteOrder(of bytes: [UInt8]) -> (isBig: Bool, hasMark: Bool)? {
        if bytes.starts(with: [0xFE, 0xFF]) { return (true, true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (false, true) }
        let head = bytes.prefix(Int(sniffedBytes))
        var zeros = (even: 0, odd: 0)
        for (index, byte) in head.enumerated() where byte == 0 {
            if index.isMultiple(of: 2) { zeros.even += 1 } else { zeros.odd += 1 }
        }
        let half = Double(head.count) / 2
        if Double(zeros.odd) > half * 0.4, Double(zeros.even) < half * 0.05 { return (false, false) }
        if Double(zeros.even) > half * 0.4, Double(zeros.odd) < half * 0.05 { return (true, false) }
        return nil
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
            side = DiffAnswer.Side(size: entry.size, content: ContentName.of(entry), kind: entry.kind.word)
            let isReadable = entry.kind == .file && entry.size <= Blame.limit
            bytes = isReadable ? try archive.read(entry, range: 0..<entry.size) : nil
            isOnDisk = false
        case .disk(let root):
            guard let file = try archive.presentFile(at: path, in: root, limit: Blame.limit) else { return nil }
            let size = file.kind == .file ? file.size : 0
            side = DiffAnswer.Side(size: size, content: file.bytes.map(DiffAnswer.digest), kind: file.kind.word)
            bytes = file.bytes
            isOnDisk = true
        }
    }
}
