// Reads contents from the archive: the pieces of a file in order, and the values of attributes.

package import ArchiveFormat
package import ArchiveStorage
internal import Threading

/// Reads a file's content piece by piece; every byte that it returns is verified.
package struct ContentReader {
    /// A run of a file's bytes.
    package enum Piece {
        case data(ArraySlice<UInt8>)
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
    /// The list that the slices belong to.
    private var list: ChunkID?
    /// How many bytes of the content are not read yet.
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

    /// Skips lists and slices that end at the offset `end` or before, without reading their data.
    ///
    /// - Parameter position: the reader's offset; it is advanced.
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

    /// Returns the next piece; nil at the end.
    package mutating func next() throws -> Piece? {
        if let bytes = inline {
            inline = nil
            left = 0
            return .data(bytes[...])
        }
        return try nextSlice().map { try ContentReader.piece(of: $0, in: store) }
    }

    /// Calls `body` with the remaining pieces in order; other threads read ahead, with some megabytes each.
    package func forEachAhead(_ body: (Piece) throws -> Void) throws {
        if let inline { return try body(.data(inline[...])) }
        let slices = sequence(state: self) { reader -> Result<Slice, any Error>? in
            do { return try reader.nextSlice().map { .success($0) } } catch { return .failure(error) }
        }
        // In a pipeline, all threads that there are for the processors may be waiting for such files.
        try slices.forEachAhead(
            byteCount: { if case .success(let slice) = $0, slice.chunk != nil { slice.length } else { 0 } },
            waits: store.isRemote, ownThreads: true,
            { [store] slice in try ContentReader.piece(of: slice.get(), in: store) }
        ) { piece in
            try body(piece)
            return true
        }
    }

    private mutating func nextSlice() throws -> Slice? {
        try fill()
        let slice = slices.popFirst()
        // A false size must not lead to endless writing.
        guard let length = slice?.length ?? (left == 0 ? 0 : nil), length <= left else {
            throw try store.undecodable(
                list ?? slice?.chunk ?? ChunkID(hashing: []), .malformed("a file's size is wrong"))
        }
        left -= length
        return slice
    }

    private static func piece(of slice: Slice, in store: ArchiveStore) throws -> Piece {
        guard let chunk = slice.chunk else { return .hole(slice.length) }
        let bytes = try store.readInBlock(chunk)
        guard UInt64(bytes.count) == slice.length else {
            throw try store.undecodable(chunk, .malformed("a chunk has another length than its slice records"))
        }
        return .data(bytes)
    }

    /// Returns the slices stored in a chunk; their total length must be that of `listed`.
    package static func slices(in listed: ListedSlices, of store: ArchiveStore) throws(StorageError) -> [Slice] {
        let bytes = try store.read(listed.list)
        do throws(FormatError) {
            let list = try SliceList(decoding: bytes)
            guard list.length == listed.length else {
                throw .malformed("a list of slices has another length than its file records")
            }
            return list.slices
        } catch {
            let failure: StorageError = try store.undecodable(listed.list, error)
            throw failure
        }
    }
}

extension ArchiveStore {
    /// Returns the value of an entry's attribute; every byte of it is verified.
    package func value(of attribute: EntryAttribute) throws -> [UInt8] {
        var reader = ContentReader(attribute.value, in: self)
        var value: [UInt8] = []
        while case .data(let bytes)? = try reader.next() { value += bytes }
        return value
    }
}
