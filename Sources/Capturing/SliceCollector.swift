// Collects a file's slices, in the entry while they are few and in chunks of their own when they are many.

package import ArchiveFormat

/// Takes a file's chunks and holes in order and makes its content of them.
package struct SliceCollector {
    private let packer: ChunkPacker
    private var slices: [Slice] = []
    private var lists: [ListedSlices] = []
    private var old: OldVersion

    /// A list of slices ends on average after this many; where, the chunks' own ids say, so that an insertion into a
    /// large file changes one list.
    private static let averageListSlices = 512

    /// - Parameter old: what the path held before.
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

    /// The content, once everything was added.
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
