// The pieces of a pattern.

/// One piece of a pattern.
enum GlobToken: Hashable, Sendable {
    /// This byte.
    case byte(UInt8)
    /// Any byte but `/`: `?`.
    case anyByte
    /// A byte of the set with this index: `[…]`.
    case set(Int32)
    /// Any number of bytes but `/`: `*`.
    case star
    /// Any number of bytes: `**` at a pattern's end and before an escaped `/`.
    case anything
    /// Any number of complete components, each with its `/`: `**/`.
    case directories

    /// The fewest bytes that the token matches.
    var minimumCount: Int {
        switch self {
        case .byte, .anyByte, .set: 1
        case .star, .anything, .directories: 0
        }
    }
}
