// What a chunk holds and how a block's payload is packed.

/// What a chunk holds: an open set, so that a program keeps chunks of kinds that came after it, and passes over them.
///
/// Raw values are part of the archive format.
package struct ChunkKind: RawRepresentable, Sendable, Hashable, CaseIterable {
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
    /// An encoded `GapRecord`.
    package static let gap = ChunkKind(rawValue: 4)
    /// An encoded `StateRecord`.
    package static let state = ChunkKind(rawValue: 5)
    /// An encoded `OperationRecord`.
    package static let operation = ChunkKind(rawValue: 6)
    /// An encoded `ForgottenRecords`.
    package static let forgotten = ChunkKind(rawValue: 7)
    /// An encoded `RootNotice`.
    package static let rootNotice = ChunkKind(rawValue: 8)
    /// An encoded `DroppedSegments`.
    package static let droppedSegments = ChunkKind(rawValue: 9)
    /// An encoded `LabelRecord`.
    package static let label = ChunkKind(rawValue: 10)
    /// An encoded `PinRecord`.
    package static let pin = ChunkKind(rawValue: 11)
    /// An encoded `NoteRecord`.
    package static let note = ChunkKind(rawValue: 12)
    /// An encoded `PolicyRecord`.
    package static let policy = ChunkKind(rawValue: 13)
    /// An encoded `UnforgottenRecords`.
    package static let unforgotten = ChunkKind(rawValue: 14)

    /// The kinds that this program knows.
    package static let allCases: [ChunkKind] = [
        .content, .node, .snapshot, .sliceList, .gap, .state, .operation, .forgotten, .rootNotice,
        .droppedSegments, .label, .pin, .note, .policy, .unforgotten,
    ]

    /// Whether a chunk of this kind means something by itself; so may what came after this program.
    package var isRecord: Bool { ![.content, .node, .sliceList].contains(self) }

    /// Whether a chunk of this kind stays whatever is forgotten: records of kinds that came after this program do.
    package var isLasting: Bool { isRecord && self != .snapshot && self != .state }
}

/// How a block's payload is packed.
///
/// Numbers are part of the archive format.
package enum Codec: Sendable, Hashable {
    /// The raw bytes as they are.
    case stored
    /// One raw DEFLATE stream (RFC 1951).
    case deflate
    /// A delta against the bases, compressed as `deflate` is.
    case delta
    /// One that came after this program, with or without bases.
    case later(UInt8)

    init(number: UInt8, isDelta: Bool) {
        self =
            switch number {
            case 0: .stored
            case 1: isDelta ? .delta : .deflate
            default: .later(number)
            }
    }

    var number: UInt8 {
        switch self {
        case .stored: 0
        case .deflate, .delta: 1
        case .later(let number): number
        }
    }
}
