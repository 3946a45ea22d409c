// How a user names a snapshot: by id, by order, by time, by label.

package import ArchiveFormat
public import FileIO
public import Roots

/// A way to name one snapshot: `3fa9c2`, `latest`, `oldest`, `@10m`, `@2026-11-21 10:00`, or a label; followed by `~2`, the
/// second one before it; `session~1`, the state before the latest session.
public struct SnapshotSelector: Sendable, Hashable {
    enum Meaning: Sendable, Hashable {
        /// The newest but `back`.
        case latest(back: Int)
        /// The first one.
        case oldest
        /// The newest made at this instant or before.
        case time(Timestamp)
        /// The state before the last but so many bursts of work.
        case session(back: Int)
        /// A label, or the first digits of an id.
        case name(String)
        /// A literal that cannot be understood: whoever looks for it is told why.
        case malformed(String, remedy: String?)
    }

    let meaning: Meaning
    /// How many to go back from there, in the same root or title; 0 where the meaning says it.
    let back: Int
    private let text: String

    /// The newest snapshot.
    public static let latest = SnapshotSelector(meaning: .latest(back: 0), text: "latest")

    private init(meaning: Meaning, back: Int = 0, text: String) {
        self.meaning = meaning
        self.back = back
        self.text = text
    }

    /// The one with this id.
    package init(id: ChunkID) { self.init(meaning: .name(id.hex), text: id.hex) }

    /// The selector written as `text`.
    ///
    /// - Throws: `ArchiverError` of the code `malformedSelector`.
    public init(_ text: String) throws(ArchiverError) {
        let (base, back) = try SnapshotSelector.splitSteps(text)
        switch base {
        case "latest": self.init(meaning: .latest(back: back), text: text)
        case "oldest": self.init(meaning: .oldest, back: back, text: text)
        case "session" where back > 0: self.init(meaning: .session(back: back), text: text)
        case _ where base.hasPrefix("@"):
            let time = try SnapshotSelector.pastTime(base)
            self.init(meaning: .time(time), back: back, text: text)
        default:
            if base.isEmpty || base.contains(":") || base.contains("~") {
                throw SnapshotSelector.malformed(text, "it is not an id, a label, a time, 'latest' or 'oldest'")
            }
            self.init(meaning: .name(base), back: back, text: text)
        }
    }

    /// Splits "3fa9c2~2" into "3fa9c2" and 2; "latest~" means one back, as in git.
    private static func splitSteps(_ text: String) throws(ArchiverError) -> (base: String, back: Int) {
        guard let tilde = text.lastIndex(of: "~") else { return (text, 0) }
        let digits = text[text.index(after: tilde)...]
        if digits.isEmpty { return (String(text[..<tilde]), 1) }
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let back = Int(digits)
        else { throw malformed(text, "after '~' comes how many snapshots to go back") }
        return (String(text[..<tilde]), back)
    }

    /// The snapshot that this one counts back from: the same selector without `~`.
    var withoutSteps: SnapshotSelector { SnapshotSelector(meaning: meaning, text: text) }

    /// Whether it names a snapshot by its place in time, so that it means another one in every root.
    package var isRelative: Bool {
        if case .name = meaning { return false }
        return true
    }

    /// Refuses a label by which no selector could name its snapshot.
    ///
    /// - Throws: `ArchiverError` of the code `malformedSelector`, which says what is wrong with it.
    public static func checkLabel(_ text: String) throws(ArchiverError) {
        guard let reason = objection(toLabel: text) else { return }
        throw ArchiverError(
            .malformedSelector, "'\(text)' cannot be a label: \(reason)",
            remedy: "choose another label; nothing was saved or captured")
    }

    /// Why `text` cannot be a label; nil where it can.
    private static func objection(toLabel text: String) -> String? {
        let scalars = text.unicodeScalars
        if scalars.allSatisfy({ $0.properties.isWhitespace }) { return "it is blank" }
        if scalars.contains(where: { $0.properties.generalCategory == .control }) { return "it has control characters" }
        if scalars.first?.properties.isWhitespace == true || scalars.last?.properties.isWhitespace == true {
            return "it begins or ends with a blank"
        }
        if text == "latest" || text == "oldest" { return "that word has a meaning of its own" }
        if text.hasPrefix("-") { return "it begins with '-', as options do" }
        if text.hasPrefix("@") { return "it begins with '@', as times do" }
        if let mark = text.first(where: { $0 == ":" || $0 == "~" }) { return "'\(mark)' has a meaning in selectors" }
        if (4...64).contains(text.utf8.count), text.utf8.allSatisfy({ Hex.value($0) != nil }) {
            return "it looks like the id of a snapshot"
        }
        return nil
    }

    /// The instant that `text` names, as it may follow `@` in a selector.
    ///
    /// - Parameter isStart: whether a day or a minute means its first moment; else its last, the state it led to.
    /// - Throws: `ArchiverError` of the code `malformedSelector`.
    public static func time(_ text: String, isStart: Bool = false) throws(ArchiverError) -> Timestamp {
        let now = Timestamp.now
        guard let time = TimeParser.time(text, isStart ? .start : .end, now: now) else {
            throw ArchiverError(
                .malformedSelector, "'\(text)' is not a time",
                remedy: "a time is like 10m (ago), \"2 hours ago\", 14:05, monday, 2026-11-21 or \"2026-11-21 14:05\"")
        }
        if isStart && time > now {
            throw ArchiverError(
                .malformedSelector, "'\(text)' is in the future", remedy: "'latest' is the newest snapshot")
        }
        return time
    }

    /// The last moment of the span that `selector` names after its `@`; the span must have begun.
    private static func pastTime(_ selector: String) throws(ArchiverError) -> Timestamp {
        let text = String(selector.dropFirst())
        do {
            _ = try time(text, isStart: true)
            return try time(text)
        } catch {
            let message = error.message.replacing("'\(text)'", with: "'\(selector)'", maxReplacements: 1)
            throw ArchiverError(error.code, message, remedy: error.remedy)
        }
    }

    /// Splits `selector` or `selector:path`.
    ///
    /// - Parameter bytes: as the user wrote it; the path may be any bytes.
    /// - Returns: the path below the root, nil where there was no `:`.
    public static func parseWithPath(
        _ bytes: [UInt8]
    ) throws(ArchiverError) -> (selector: SnapshotSelector, path: RelativePath?) {
        let (selector, text) = try split(bytes)
        guard let text else { return (selector, nil) }
        return (selector, try path(text))
    }

    /// Splits `selector` or `selector:path`, and leaves the path as it is written; nil where there is no `:`.
    package static func split(
        _ bytes: [UInt8]
    ) throws(ArchiverError) -> (selector: SnapshotSelector, path: ArraySlice<UInt8>?) {
        // A time may hold colons itself: it reaches as far as it makes sense.
        var searchStart = 0
        if bytes.first == UInt8(ascii: "@") {
            var parser = TimeParser(String(decoding: bytes.dropFirst(), as: UTF8.self), edge: .end)
            if parser.time(now: .now) != nil { searchStart = 1 + parser.consumedBytes }
        }
        guard let colon = bytes[searchStart...].firstIndex(of: UInt8(ascii: ":")) else {
            return (try SnapshotSelector(String(decoding: bytes, as: UTF8.self)), nil)
        }
        return (try SnapshotSelector(String(decoding: bytes[..<colon], as: UTF8.self)), bytes[(colon + 1)...])
    }

    /// A path below the root as a user writes it: `.`, a leading `./` and a trailing `/` are forgiven.
    private static func path(_ bytes: ArraySlice<UInt8>) throws(ArchiverError) -> RelativePath {
        let parts = bytes.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }
        guard bytes.first != UInt8(ascii: "/"), let path = RelativePath(Array(parts.joined(separator: "/".utf8))) else {
            let text = String(decoding: bytes, as: UTF8.self)
            throw ArchiverError(
                .malformedSelector, "'\(text)' is not a path below the root",
                remedy: "after ':' give a path relative to the root, without '..'")
        }
        return path
    }

    private static func malformed(_ text: String, _ reason: String) -> ArchiverError {
        ArchiverError(
            .malformedSelector, "'\(text)' names no snapshot: \(reason)",
            remedy: "'archiver list' shows the ids, 'archiver help selectors' all that works")
    }
}

extension SnapshotSelector: ExpressibleByStringLiteral {
    /// The selector written as a literal, such as `"latest~1"`.
    ///
    /// Where that is none, whatever looks for it throws `malformedSelector`; a text that a user has written is to be read by
    /// ``init(_:)``, which throws at once.
    public init(stringLiteral text: String) {
        do throws(ArchiverError) { try self.init(text) } catch {
            self.init(meaning: .malformed(error.message, remedy: error.remedy), text: text)
        }
    }
}

extension SnapshotSelector: CustomStringConvertible {
    public var description: String { text }
}
