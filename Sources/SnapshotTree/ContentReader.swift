// Reads contents back: the pieces of a file in order.

package import ArchiveFormat
package import ArchiveStorage

/// Goes through a file's content piece by piece; every byte that it gives was verified.
package struct ContentReader {
    /// A run of a file's bytes.
    package enum Piece {
        case data([UInt8])
        /// This many bytes that read as zeros.
        case hole(UInt64)

        package var length: UInt64 {
            switch self {
            case .data(let bytes): UInt64(bytes.count)
            case .hole(let length): length
            }
        }
    }

    private let store: ArchiveStore
    private var inline: [UInt8]?
    private var slices: ArraySlice<Slice> = []
    private var lists: ArraySlice<ListedSlices> = []
    /// The list that the slices are of, and the bytes of the content that are not read yet.
    private var list: ChunkID?
    private var left: UInt64

    /// A reader at the start of `content`.
    package init(_ content: Content, in store: ArchiveStore) {
        self.store = store
        left = content.size
        switch content {
        case .none, .linkTarget: break
        case .inline(let bytes): inline = bytes
        case .slices(let own): slices = own[...]
        case .sliceLists(let all): lists = all[...]
        }
    }

    /// Passes over lists and slices that end at the offset `end` or before, without reading what they hold.
    ///
    /// - Parameter position: where the reader is; it moves on.
    package mutating func skip(from position: inout UInt64, to end: UInt64) throws {
        guard inline == nil else { return }
        while slices.isEmpty, let next = lists.first, next.length <= left, position <= end,
            next.length <= end - position
        {
            lists.removeFirst()
            left -= next.length
            position += next.length
        }
        try fill()
        while let slice = slices.first, slice.length <= left, position <= end, slice.length <= end - position {
            slices.removeFirst()
            left -= slice.length
            position += slice.length
            if slices.isEmpty { return try skip(from: &position, to: end) }
        }
    }

    private mutating func fill() throws {
        while slices.isEmpty, let next = lists.popFirst() {
            list = next.list
            slices = try ContentReader.slices(in: next, of: store)[...]
        }
    }

    /// The next piece; nil at the end.
    package mutating func next() throws -> Piece? {
        if let bytes = inline {
            inline = nil
            left = 0
            return .data(bytes)
        }
        try fill()
        let slice = slices.popFirst()
        // A size that lies must neither be written nor be waited for.
        guard let length = slice?.length ?? (left == 0 ? 0 : nil), length <= left else {
            throw try store.undecodable(
                list ?? slice?.chunk ?? ChunkID(hashing: []), .malformed("a file's size is wrong"))
        }
        left -= length
        guard let slice else { return nil }
        guard let chunk = slice.chunk else { return .hole(slice.length) }
        let bytes = try store.read(chunk)
        guard UInt64(bytes.count) == slice.length else {
            throw try store.undecodable(chunk, .malformed("a chunk is not as long as its slice says"))
        }
        return .data(bytes)
    }

    /// The slices stored in a chunk, which must be as long together as `listed` says.
    package static func slices(in listed: ListedSlices, of store: ArchiveStore) throws(StorageError) -> [Slice] {
        let bytes = try store.read(listed.list)
        do throws(FormatError) {
            let list = try SliceList(decoding: bytes)
            guard list.length == listed.length else {
                throw .malformed("a list of slices is not as long as its file says")
            }
            return list.slices
        } catch {
            let failure: StorageError = try store.undecodable(listed.list, error)
            throw failure
        }
    }
}
