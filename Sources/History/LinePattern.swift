// Patterns for lines: extended regular expressions of POSIX, or literal texts.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import Roots
internal import TextDiff

/// A pattern that lines match; not safe to use from several threads.
///
/// The expressions are those of regcomp(3) with `REG_EXTENDED`, in the C locale: a character is a byte.
final class LinePattern {
    private var expression = regex_t()
    /// A text that every match contains, which is found faster than by regexec(3); empty if none is known.
    private let required: [UInt8]
    /// Whether every place with that text is a match.
    private let isText: Bool

    // REG_STARTEND, a macro that Swift does not import: the match's offsets delimit the text to search.
    private static let startAndEnd: CInt = 1 << 2

    /// The compiled pattern of a query.
    ///
    /// - Throws: `ArchiverError` with the code `malformedSelector` if it is not a valid expression.
    convenience init(_ query: LineQuery) throws(ArchiverError) {
        try self.init(
            query.pattern, isLiteral: query.isLiteral, ignoresCase: query.ignoresCase,
            matchesWords: query.matchesWords)
    }

    /// A compiled pattern.
    ///
    /// - Throws: `ArchiverError` with the code `malformedSelector` if it is not a valid expression.
    init(
        _ pattern: [UInt8], isLiteral: Bool, ignoresCase: Bool, matchesWords: Bool = false
    ) throws(ArchiverError) {
        required = ignoresCase ? [] : isLiteral ? pattern : LinePattern.required(in: pattern)
        isText = !required.isEmpty && required == pattern && !matchesWords
        var bytes = isLiteral ? LinePattern.escaped(pattern) : pattern
        if matchesWords { bytes = Array("(^|[^A-Za-z0-9_])(".utf8) + bytes + Array(")([^A-Za-z0-9_]|$)".utf8) }
        let flags = REG_EXTENDED | REG_NEWLINE | (ignoresCase ? REG_ICASE : 0)
        let result = (bytes + [0]).withUnsafeBytes { text in
            text.assumingMemoryBound(to: CChar.self).baseAddress.map { regcomp(&expression, $0, flags) } ?? -1
        }
        guard result == 0, !pattern.contains(0), !pattern.contains(UInt8(ascii: "\n")) else {
            var reason = [CChar](repeating: 0, count: 256)
            regerror(result, &expression, &reason, reason.count)
            let text = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw ArchiverError(
                .malformedSelector,
                "'\(String(decoding: pattern, as: UTF8.self))' is not a pattern for lines"
                    + (result == 0 ? "" : ": \(text.lowercased())"),
                remedy: "write it as for grep -E, or search for the literal text with -F")
        }
    }

    deinit { regfree(&expression) }

    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte in
            "\\^$.[]|()*+?{}".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
        }
    }

    /// The longest text that every match of an expression contains; empty for expressions with parts that may be missing.
    private static func required(in expression: [UInt8]) -> [UInt8] {
        if expression.contains(where: "\\|()[]{}".utf8.contains) { return [] }
        var (longest, run) = ([UInt8](), [UInt8]())
        for byte in expression + "$".utf8 {
            guard ".*+?^$".utf8.contains(byte) else {
                run.append(byte)
                continue
            }
            // What is before them may be missing.
            if "*?".utf8.contains(byte) { _ = run.popLast() }
            if run.count > longest.count { longest = run }
            run = []
        }
        return longest
    }

    /// Returns where the first match at or after `start`, the beginning of a line, begins.
    func firstMatch(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        if required.isEmpty { return firstMatch(in: text, start..<text.count) }
        var start = start
        while let place = text.firstIndex(of: required, from: start) {
            if isText { return place }
            let line = text.line(at: place)
            if let match = firstMatch(in: text, line) { return match }
            start = line.upperBound + 1
        }
        return nil
    }

    /// Returns where the first match within a range begins that starts where a line does and ends where one does.
    private func firstMatch(in text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        guard let base = text.assumingMemoryBound(to: CChar.self).baseAddress else { return nil }
        var place = regmatch_t(rm_so: regoff_t(range.lowerBound), rm_eo: regoff_t(range.upperBound))
        return regexec(&expression, base, 1, &place, LinePattern.startAndEnd) == 0 ? Int(place.rm_so) : nil
    }
}

/// The matching lines of one content, which is scanned piece by piece.
struct LineScan {
    /// A line, and its number in the content, from 1.
    struct Line: Hashable {
        let number: Int
        /// At most `lineLimit` bytes.
        let bytes: [UInt8]
        let identity: Identity
    }

    /// What two lines have in common exactly if they are equal, however long they are.
    enum Identity: Hashable {
        case whole([UInt8])
        case hashed(ChunkID, count: Int)
    }

    private let pattern: LinePattern
    private var rest: [UInt8] = []
    private var isBegun = false
    private var linesBefore = 0
    private(set) var lines: [Line] = []
    /// Whether the content is not text; then it is not searched.
    private(set) var isBinary = false

    private static let lineFeed = UInt8(ascii: "\n")

    init(_ pattern: LinePattern) { self.pattern = pattern }

    /// Scans the next piece.
    ///
    /// - Returns: whether to pass more.
    mutating func add(_ piece: UnsafeRawBufferPointer) -> Bool {
        if !isBegun {
            isBegun = true
            isBinary = TextLines.isBinary(piece)
            if isBinary { return false }
        }
        guard let end = piece.lastIndex(of: LineScan.lineFeed) else {
            rest += piece
            return true
        }
        if rest.isEmpty {
            scan(UnsafeRawBufferPointer(rebasing: piece[...end]))
        } else {
            rest += piece[...end]
            rest.withUnsafeBytes { scan($0) }
        }
        rest = Array(piece[(end + 1)...])
        return true
    }

    /// Scans the text after the last line feed.
    mutating func finish() {
        if !rest.isEmpty, !isBinary { rest.withUnsafeBytes { scan($0) } }
        rest = []
    }

    private mutating func scan(_ text: UnsafeRawBufferPointer) {
        var (position, counted) = (0, 0)
        while position < text.count, let match = pattern.firstMatch(in: text, from: position), match < text.count {
            let line = text.line(at: match)
            linesBefore += text.lineFeeds(in: counted..<line.lowerBound)
            counted = line.lowerBound
            let bytes = Array(text[line].prefix(FoundLine.byteLimit))
            let identity: Identity =
                bytes.count == line.count
                ? .whole(bytes) : .hashed(ChunkID(hashing: Array(text[line])), count: line.count)
            lines.append(Line(number: linesBefore + 1, bytes: bytes, identity: identity))
            position = line.upperBound + 1
        }
        linesBefore += text.lineFeeds(in: counted..<text.count)
    }
}
