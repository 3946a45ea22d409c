// The kinds of chunks, and the ways to pack a block's payload.

/// The kind of a chunk's content: an open set, so that a program keeps and skips chunks of later programs' kinds.
///
/// Raw values are part of the archive format. The kinds from 4 on are in `Records`, each beside its record.
package struct ChunkKind: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A run of a file's bytes.
    package static let content = ChunkKind(rawValue: 0)
    /// An encoded `Node`.
    package static let node = ChunkKind(rawValue: 1)
    /// An encoded `Snapshot`.
    package static let snapshot = ChunkKind(rawValue: 2)
    /// An encoded `SliceList`.
    package static let sliceList = ChunkKind(rawValue: 3)

    /// Whether a chunk of this kind has a meaning on its own; unknown kinds may have one.
    package var isRecord: Bool { ![.content, .node, .sliceList].contains(self) }

    /// Whether a chunk of this kind is never forgotten; this includes records of unknown kinds.
    package var isLasting: Bool { isRecord && self != .snapshot && self != .state }
}

/// How a block's payload is packed.
///
/// Numbers are part of the archive format.
package enum Codec: Sendable, Hashable {
    /// The raw bytes, unchanged.
    case stored
    /// One raw DEFLATE stream (RFC 1951).
    case deflate
    /// A delta against the bases, compressed like `deflate`.
    case delta
    /// A codec of a later program, with or without bases.
    case later(Int)

    init(number: Int, isDelta: Bool) {
        self =
            switch number {
            case 0: .stored
            case 1: isDelta ? .delta : .deflate
            default: .later(number)
            }
    }

    var number: Int {
        switch self {
        case .stored: 0
        case .deflate, .delta: 1
        case .later(let number): number
        }
    }
}
