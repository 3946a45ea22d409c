// Reads contents back: the pieces of a file in order.

internal import ArchiveFormat
internal import ArchiveStorage

/// Reads files' contents out of an archive.
struct ContentReader: Sendable {
    /// A run of a file's bytes.
    enum Piece {
        case data([UInt8])
        /// This many bytes that read as zeros.
        case hole(UInt64)
    }

    private let store: ArchiveStore

    init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Calls `body` with the pieces of `content` in order until it returns false; every byte was verified.
    func forEachPiece(of content: Content, _ body: (Piece) throws -> Bool) throws {
        switch content {
        case .none, .linkTarget: return
        case .inline(let bytes): _ = try body(.data(bytes))
        case .slices(let slices): _ = try read(slices, body)
        case .sliceLists(let lists, _):
            for list in lists {
                guard try read(slices(in: list), body) else { return }
            }
        }
    }

    /// The slices stored in the chunk `list`.
    func slices(in list: ChunkID) throws -> [Slice] {
        let bytes = try store.read(list)
        do throws(FormatError) {
            return try SliceList(decoding: bytes).slices
        } catch {
            throw try store.undecodable(list, error)
        }
    }

    private func read(_ slices: [Slice], _ body: (Piece) throws -> Bool) throws -> Bool {
        for slice in slices {
            guard let chunk = slice.chunk else {
                guard try body(.hole(slice.length)) else { return false }
                continue
            }
            let bytes = try store.read(chunk)
            guard UInt64(bytes.count) == slice.length else {
                throw try store.undecodable(chunk, .malformed("a chunk is not as long as its slice says"))
            }
            guard try body(.data(bytes)) else { return false }
        }
        return true
    }
}
