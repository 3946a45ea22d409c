// Collects a file's slices: a few are stored in the entry, many in chunks of their own.

package import ArchiveFormat

/// Builds a file's content from its chunks and holes, in order.
package struct SliceCollector {
    private let packer: ChunkPacker
    private var slices: [Slice] = []
    private var lists: [ListedSlices] = []
    private var old: OldVersion

    /// The average length of a list of slices.
    ///
    /// The chunks' ids decide where a list ends, so an insertion into a large file changes one list only.
    private static let averageListSlices = 512

    /// - Parameter old: the previous content at the path; nil if there was none.
    package init(_ packer: ChunkPacker, old: Content?) {
        self.packer = packer
        self.old = OldVersion(packer.isStoring ? old : nil) { list in try packer.slices(in: list) }
    }

    /// Adds a hole of `length` bytes.
    mutating func addHole(_ length: UInt64) throws {
        old.passHole(length)
        try append(Slice(length: length, chunk: nil))
    }

    /// Adds a chunk of data.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        let chunk = try packer.add(.content, bytes, bases: old.bases(for: bytes.count))
        old.pass(chunk, length: bytes.count)
        try append(Slice(length: UInt64(bytes.count), chunk: chunk))
    }

    /// Returns the content after everything was added.
    package mutating func content() throws -> Content {
        if lists.isEmpty, slices.count <= Content.slicesLimit { return .slices(slices) }
        if !slices.isEmpty { try closeList() }
        return .sliceLists(lists)
    }

    private mutating func append(_ slice: Slice) throws {
        slices.append(slice)
        guard slices.count > Content.slicesLimit else { return }
        let isCut = slice.chunk.map { $0.prefix % UInt64(SliceCollector.averageListSlices) == 0 } ?? false
        if isCut || slices.count >= Content.listedSlicesLimit { try closeList() }
    }

    private mutating func closeList() throws {
        let list = SliceList(slices: slices)
        let bases = old.takeLists()
        let id = try list.encoded().withUnsafeBytes { try packer.add(.sliceList, $0, bases: bases) }
        lists.append(ListedSlices(length: list.length, list: id))
        slices.removeAll(keepingCapacity: true)
    }
}
