// How a user names a snapshot: by id, order, time or label.

package import ArchiveFormat
internal import ArchiveStorage
public import FileIO
public import Roots

/// A way to name one snapshot or saved state.
///
/// `3fa9c2` (an id), `latest`, `oldest`, `@10m`, `@2026-11-21 10:00` or a label. A suffix `~2` means the second
/// snapshot before it. `session~1` names the state before the latest session.
public struct SnapshotSelector: Sendable, Hashable {
    enum Meaning: Sendable, Hashable {
        /// The snapshot `back` steps before the newest.
        case latest(back: Int)
        /// The first snapshot.
        case oldest
        /// The newest snapshot made at or before this instant.
        case time(Timestamp)
        /// The state before the session number `back`, counted from the latest.
        case session(back: Int)
        /// A label, or the first digits of an id.
        case name(String)
        /// A malformed literal: using it throws this message.
        case malformed(String, remedy: String?)
    }

    let meaning: Meaning
    /// How many snapshots or states to go back from there, in the same root or title; 0 if the meaning includes the
    /// steps.
    let back: Int
    private let text: String
    /// The time as it was written after `@`; nil for other selectors.
    private let writtenTime: String?

    /// The newest snapshot.
    public static let latest = SnapshotSelector(meaning: .latest(back: 0), text: "latest")

    private init(meaning: Meaning, back: Int = 0, text: String, writtenTime: String? = nil) {
        self.meaning = meaning
        self.back = back
        self.text = text
        self.writtenTime = writtenTime
    }

    /// The instant that a time such as `@10m` means when it is `now`; nil for other selectors.
    func time(at now: Timestamp) -> Timestamp? {
        writtenTime.flatMap { SnapshotSelector.moment($0, isStart: false, now: now) }
    }

    /// The selector of the snapshot or state with this id.
    package init(id: ChunkID) { self.init(meaning: .name(id.hex), text: id.hex) }

    /// The selector of the newest snapshot or state made at or before `time`.
    public init(time: Timestamp) { self.init(meaning: .time(time), text: "@\(time.rfc3339)") }

    /// Parses a selector.
    ///
    /// - Throws: `ArchiverError` with the code `malformedSelector` if `text` is not a selector.
    public init(_ text: String) throws(ArchiverError) {
        let (base, back) = try SnapshotSelector.splitSteps(text)
        switch base {
        case "latest": self.init(meaning: .latest(back: back), text: text)
        case "oldest": self.init(meaning: .oldest, back: back, text: text)
        case "session" where back > 0: self.init(meaning: .session(back: back), text: text)
        case _ where base.hasPrefix("@"):
            let time = try SnapshotSelector.pastTime(base)
            self.init(meaning: .time(time), back: back, text: text, writtenTime: String(base.dropFirst()))
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
        else { throw malformed(text, "'~' must be followed by how many snapshots to go back") }
        return (String(text[..<tilde]), back)
    }

    /// The same selector without `~`: the one to count back from.
    var withoutSteps: SnapshotSelector { SnapshotSelector(meaning: meaning, text: text, writtenTime: writtenTime) }

    /// Whether it names a snapshot by order or time, so that it means a different one in every root.
    package var isRelative: Bool {
        if case .name = meaning { return false }
        return true
    }

    /// Checks that `text` can be a label that a selector can name.
    ///
    /// - Throws: `ArchiverError` with the code `malformedSelector` and the reason if it cannot.
    public static func checkLabel(_ text: String) throws(ArchiverError) {
        guard let reason = objection(toLabel: text) else { return }
        throw ArchiverError(
            .malformedSelector, "'\(text)' cannot be a label: \(reason)",
            remedy: "choose another label; nothing was saved or captured")
    }

    /// Why `text` cannot be a label; nil if it can.
    private static func objection(toLabel text: String) -> String? {
        let scalars = text.unicodeScalars
        if scalars.allSatisfy({ $0.properties.isWhitespace }) { return "it is blank" }
        if scalars.contains(where: { $0.properties.generalCategory == .control }) { return "it has control characters" }
        if scalars.first?.properties.isWhitespace == true || scalars.last?.properties.isWhitespace == true {
            return "it begins or ends with a blank"
        }
        if text == "latest" || text == "oldest" { return "that word is reserved" }
        if text.hasPrefix("-") { return "it begins with '-', like an option" }
        if text.hasPrefix("@") { return "it begins with '@', like a time" }
        if let mark = text.first(where: { $0 == ":" || $0 == "~" }) { return "'\(mark)' has a meaning in selectors" }
        if (4...64).contains(text.utf8.count), text.utf8.allSatisfy({ Hex.value($0) != nil }) {
            return "it looks like the id of a snapshot"
        }
        return nil
    }

    /// Parses a time, written as after `@` in a selector.
    ///
    /// - Parameter isStart: whether a day or a minute means its first moment; otherwise it means its last.
    /// - Throws: `ArchiverError` with the code `malformedSelector` if `text` is not a time, or a start in the future.
    public static func time(_ text: String, isStart: Bool = false) throws(ArchiverError) -> Timestamp {
        let now = Timestamp.now
        guard let time = moment(text, isStart: isStart, now: now) else {
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

    /// The first or the last moment of a time, which may be in the future; nil if `text` is not a time.
    package static func moment(_ text: String, isStart: Bool, now: Timestamp = .now) -> Timestamp? {
        TimeParser.time(text, isStart ? .start : .end, now: now)
    }

    /// The last moment of the span that follows `@` in `selector`; the span must have begun.
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
    /// - Returns: the selector, and the path below the root; nil if there is no `:`.
    /// - Throws: `ArchiverError`: `malformedSelector` or `noSuchPath` if a part is malformed.
    public static func parseWithPath(
        _ bytes: [UInt8]
    ) throws(ArchiverError) -> (selector: SnapshotSelector, path: RelativePath?) {
        let (selector, text) = try split(bytes)
        guard let text else { return (selector, nil) }
        return (selector, try path(text))
    }

    /// Splits `selector` or `selector:path` without parsing the path; the path is nil if there is no `:`.
    package static func split(
        _ bytes: [UInt8]
    ) throws(ArchiverError) -> (selector: SnapshotSelector, path: ArraySlice<UInt8>?) {
        // A time may contain colons itself, so the search starts after the longest time.
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

    /// Parses a path below the root; accepts `.`, a leading `./` and a trailing `/`.
    private static func path(_ bytes: ArraySlice<UInt8>) throws(ArchiverError) -> RelativePath {
        let parts = bytes.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }
        guard bytes.first != UInt8(ascii: "/"), let path = RelativePath(Array(parts.joined(separator: "/".utf8))) else {
            let text = String(decoding: bytes, as: UTF8.self)
            throw ArchiverError(
                .malformedSelector, "'\(text)' is not a path below the root",
                remedy: "after ':', give a path relative to the root, without '..'")
        }
        return path
    }

    private static func malformed(_ text: String, _ reason: String) -> ArchiverError {
        ArchiverError(
            .malformedSelector, "'\(text)' names no snapshot: \(reason)",
            remedy: Advice.readSelectors.text)
    }
}

extension SnapshotSelector: ExpressibleByStringLiteral {
    /// The selector written as a literal, such as `"latest~1"`.
    ///
    /// A malformed literal throws `malformedSelector` when it is used. Parse a user's text with ``init(_:)``, which
    /// throws immediately.
    public init(stringLiteral text: String) {
        do throws(ArchiverError) { try self.init(text) } catch {
            self.init(meaning: .malformed(error.message, remedy: error.remedy), text: text)
        }
    }
}

extension SnapshotSelector: CustomStringConvertible {
    public var description: String { text }
}
