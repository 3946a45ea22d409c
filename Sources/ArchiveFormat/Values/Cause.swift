// Why a snapshot was made: a word from an open set, which later programs can extend.

/// Why a snapshot was made.
///
/// Raw values are part of the archive format: words of 1 to 32 letters `a` to `z` and hyphens. An unknown word is kept
/// unchanged, so that no snapshot becomes unreadable because of its cause.
public struct Cause: RawRepresentable, Sendable, Hashable, CaseIterable {
    public let rawValue: String

    /// The cause named `rawValue`; nil if that is not a valid word.
    public init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// A watched root changed.
    public static let watch = Cause(known: "watch")
    /// A user or a program requested it.
    public static let capture = Cause(known: "capture")
    /// The state that a restore is about to replace.
    public static let beforeRestore = Cause(known: "before-restore")
    /// The state after a restore.
    public static let restore = Cause(known: "restore")
    /// An audit found a change that no event had reported.
    public static let audit = Cause(known: "audit")

    /// The causes that this program knows.
    public static let allCases: [Cause] = [.watch, .capture, .beforeRestore, .restore, .audit]
}

extension String {
    /// Whether this is a valid raw value of a cause; such a text is safe to print anywhere.
    var isCauseWord: Bool {
        (1...32).contains(utf8.count)
            && utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
    }
}

extension Cause: Codable {}
