// Reads the bytes of a stored content at increasing offsets.

package import ArchiveFormat
package import ArchiveStorage

/// The bytes of a file in the archive.
package struct StoredBytes {
    private var reader: ContentReader
    private var piece: ContentReader.Piece?
    /// The piece's offset in the file.
    private var start: UInt64 = 0

    /// A reader of `content`.
    package init(_ content: Content, in store: ArchiveStore) {
        reader = ContentReader(content, in: store)
    }

    /// Returns the `count` bytes at `offset`, or fewer at the end.
    ///
    /// - Parameter offset: not less than in an earlier call; the bytes in between are skipped.
    package mutating func read(at offset: UInt64, _ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = try piece(at: offset + UInt64(bytes.count)) {
            let passed = offset + UInt64(bytes.count) - start
            let wanted = count - bytes.count
            switch piece {
            case .data(let data): bytes += data.dropFirst(Int(passed)).prefix(wanted)
            case .hole(let length): bytes += [UInt8](repeating: 0, count: Int(min(length - passed, UInt64(wanted))))
            }
        }
        return bytes
    }

    private mutating func piece(at offset: UInt64) throws -> ContentReader.Piece? {
        while true {
            if let piece {
                if offset - start < piece.length { return piece }
                start += piece.length
            }
            piece = nil
            try reader.skip(from: &start, to: offset)
            guard let next = try reader.next() else { return nil }
            piece = next
        }
    }
}
