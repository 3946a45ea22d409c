// How a user names a snapshot: by id, by order, by time, by label.

internal import ArchiveFormat
public import FileIO

/// A way to name one snapshot: `3fa9c2`, `latest`, `latest~2`, `@10m`, `@2026-11-21 10:00`, or a label.
public struct SnapshotSelector: Sendable, Hashable {
    enum Meaning: Sendable, Hashable {
        /// The newest but `back`.
        case latest(back: Int)
        /// The newest made at this instant or before.
        case time(Timestamp)
        /// A label, or the first digits of an id.
        case name(String)
    }

    let meaning: Meaning
    private let text: String

    /// The newest snapshot.
    public static let latest = SnapshotSelector(meaning: .latest(back: 0), text: "latest")

    private init(meaning: Meaning, text: String) {
        self.meaning = meaning
        self.text = text
    }

    /// The one with this id.
    init(id: ChunkID) { self.init(meaning: .name(id.hex), text: id.hex) }

    /// The selector written as `text`.
    ///
    /// - Throws: `ArchiverError` of the code `malformedSelector`.
    public init(_ text: String) throws(ArchiverError) {
        self.text = text
        if text.hasPrefix("@") {
            meaning = .time(try SnapshotSelector.time(String(text.dropFirst())))
        } else if text == "latest" {
            meaning = .latest(back: 0)
        } else if text.hasPrefix("latest~") {
            guard let back = Int(text.dropFirst("latest~".count)), back >= 0 else {
                throw SnapshotSelector.malformed(text, "after '~' comes how many snapshots to go back")
            }
            meaning = .latest(back: back)
        } else if text.isEmpty || text.contains(":") || text.contains("~") {
            throw SnapshotSelector.malformed(text, "it is no id, label, time or 'latest'")
        } else {
            meaning = .name(text)
        }
    }

    /// Refuses a label by which no selector could name its snapshot.
    ///
    /// - Throws: `ArchiverError` of the code `malformedSelector`.
    public static func checkLabel(_ text: String) throws(ArchiverError) {
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        if isPlain, let selector = try? SnapshotSelector(text), case .name = selector.meaning { return }
        throw ArchiverError(
            .malformedSelector, "'\(text)' cannot be a label",
            remedy: "a label is a word without ':' and '~' that does not begin with '@' and is not 'latest'")
    }

    /// The instant that `text` names, as it may follow `@` in a selector.
    ///
    /// - Parameter isStart: whether a day or a minute means its first moment; else its last, the state it led to.
    /// - Throws: `ArchiverError` of the code `malformedSelector`.
    public static func time(_ text: String, isStart: Bool = false) throws(ArchiverError) -> Timestamp {
        var parser = TimeParser(text, edge: isStart ? .start : .end)
        guard let time = parser.time(now: .now), parser.isAtEnd else {
            throw malformed("@" + text, "a time is like 10m, 2h30m, 14:05, 2026-11-21 or \"2026-11-21 14:05\"")
        }
        return time
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
            remedy: "'archiver list' shows the ids; 'latest', 'latest~2' and '@10m' work too")
    }
}

extension SnapshotSelector: CustomStringConvertible {
    public var description: String { text }
}
