// Why a snapshot was made: an open set of words.

/// Why a snapshot was made.
///
/// Raw values are part of the archive format: words of 1 to 32 letters `a` to `z` and hyphens. A word that this program
/// does not know is kept as it is, so that a snapshot is never lost for the sake of its cause.
public struct Cause: RawRepresentable, Sendable, Hashable, CaseIterable {
    public let rawValue: String

    /// The cause called `rawValue`; nil where that is no word.
    public init?(rawValue: String) {
        guard rawValue.isCauseWord else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// A watched root changed.
    public static let watch = Cause(known: "watch")
    /// Somebody asked for it.
    public static let capture = Cause(known: "capture")
    /// The state that a restore is about to replace.
    public static let beforeRestore = Cause(known: "before-restore")
    /// The state after a restore.
    public static let restore = Cause(known: "restore")
    /// An audit found a change that no event had told of.
    public static let audit = Cause(known: "audit")

    /// The causes that this program knows.
    public static let allCases: [Cause] = [.watch, .capture, .beforeRestore, .restore, .audit]
}

extension String {
    /// Whether this can be the raw value of a cause; such a text can be shown anywhere as it is.
    var isCauseWord: Bool {
        (1...32).contains(utf8.count)
            && utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
