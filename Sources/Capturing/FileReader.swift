// Reads one file's content into chunks, inline bytes and holes.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SnapshotTree
internal import SystemPackage

/// Reads files' contents; each thread has its own reader.
final class FileReader {
    private let packer: ChunkPacker
    private let progress: OperationProgress?
    private let buffer: UnsafeMutableRawBufferPointer

    /// Holds the largest chunk twice, so that cutting seldom waits for a read.
    private static let bufferBytes = 2 << 20

    init(_ packer: ChunkPacker, progress: OperationProgress?) {
        self.packer = packer
        self.progress = progress
        buffer = .allocate(byteCount: FileReader.bufferBytes, alignment: 4096)
    }

    deinit {
        buffer.deallocate()
    }

    /// Returns the content of the open `file`.
    ///
    /// - Parameters:
    ///   - status: the file's status when it was opened.
    ///   - hasAttributes: whether it has extended attributes, which may be in blocks that the status counts.
    ///   - old: the previous content at the path. New chunks are compressed against it; if the bytes are the same, it
    ///     is returned, even if it is cut differently.
    /// - Returns: the content; nil if the file was not as long as its status says.
    func read(
        _ file: borrowing Descriptor, _ status: FileStatus, hasAttributes: Bool, old: Content?, path: RelativePath
    ) throws -> Content? {
        // A block of attributes counts as allocated and can make up for a hole.
        let isSparse = status.allocatedBytes < status.size || hasAttributes
        guard let new = try readNew(file, status, isSparse: isSparse, old: old, path: path) else { return nil }
        guard let old, old != new, old.size == new.size else { return new }
        return try isSame(old, new, file, path) ? old : new
    }

    /// Returns the value of an attribute as an entry holds it: a large value is stored as a chunk.
    ///
    /// - Parameter old: the previous value of the attribute, which a new chunk is compressed against.
    func content(ofAttribute value: [UInt8], old: @autoclosure () -> Content?) throws -> Content {
        if value.isEmpty { return .none }
        if value.count <= EntryAttribute.inlineLimit { return .inline(value) }
        var bases: [ChunkID] = []
        if case .slices(let slices)? = old() { bases = slices.compactMap(\.chunk) }
        let chunk = try value.withUnsafeBytes { try packer.add(.content, $0, bases: bases) }
        return .slices([Slice(length: UInt64(value.count), chunk: chunk)])
    }

    private func isSame(
        _ old: Content, _ new: Content, _ file: borrowing Descriptor, _ path: RelativePath
    ) throws -> Bool {
        let comparison = EqualBytes(
            slices: { [packer] in try packer.slices(in: $0) }, contains: { [packer] in try packer.contains($0) })
        return try comparison.areSame(old, new) { offset, count in
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset, path: FilePath(path))
            }
        }
    }

    private func readNew(
        _ file: borrowing Descriptor, _ status: FileStatus, isSparse: Bool, old: Content?, path: RelativePath
    ) throws -> Content? {
        if status.size == 0 { return Content.none }
        if status.size <= Content.inlineLimit {
            if isSparse, try file.nextDataRange(from: 0, below: status.size, path: FilePath(path)) == nil {
                return .slices([Slice(length: status.size, chunk: nil)])
            }
            // Asking for one more byte detects a file that has grown. Reading stops at the expected size without a call
            // for the end of the file: the status after the reading shows later growth.
            let count = try fill(file, count: Content.inlineLimit + 1, enough: Int(status.size), path)
            return count == Int(status.size) ? .inline(Array(buffer[..<count])) : nil
        }
        var slices = SliceCollector(packer, old: old)
        let isWhole =
            try isSparse
            ? readRuns(file, status, path, &slices)
            : readRun(file, 0..<status.size, status, path, &slices)
        guard isWhole else { return nil }
        return try slices.content()
    }

    /// Reads a sparse file: its runs of data, with holes between them.
    private func readRuns(
        _ file: borrowing Descriptor, _ status: FileStatus, _ path: RelativePath, _ slices: inout SliceCollector
    ) throws -> Bool {
        var position: UInt64 = 0
        while let run = try file.nextDataRange(from: position, below: status.size, path: FilePath(path)) {
            if run.lowerBound > position { try slices.addHole(run.lowerBound - position) }
            guard try readRun(file, run, status, path, &slices) else { return false }
            position = run.upperBound
        }
        if position < status.size { try slices.addHole(status.size - position) }
        return true
    }

    /// Reads one run of data and cuts it into chunks.
    ///
    /// - Returns: whether all of it was there.
    private func readRun(
        _ file: borrowing Descriptor, _ run: Range<UInt64>, _ status: FileStatus, _ path: RelativePath,
        _ slices: inout SliceCollector
    ) throws -> Bool {
        let chunker = packer.chunker
        var position = run.lowerBound
        var held = 0..<0
        while true {
            let ahead = run.upperBound - position
            if held.count < chunker.maximum, UInt64(held.count) < ahead {
                // Move the remaining bytes to the front and fill the rest of the buffer.
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[held]))
                let wanted = min(UInt64(buffer.count - held.count), ahead - UInt64(held.count))
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[held.count...].prefix(Int(wanted)))
                let count = try file.read(into: rest, at: position + UInt64(held.count), path: FilePath(path))
                progress?.add(bytes: UInt64(count))
                if count < Int(wanted) { return false }
                held = 0..<(held.count + count)
            }
            if held.isEmpty { return true }
            let length = chunker.firstChunkLength(in: UnsafeRawBufferPointer(rebasing: buffer[held]))
            try slices.add(UnsafeRawBufferPointer(rebasing: buffer[held].prefix(length)))
            held = (held.lowerBound + length)..<held.upperBound
            position += UInt64(length)
        }
    }

    private func fill(
        _ file: borrowing Descriptor, count: Int, enough: Int, _ path: RelativePath
    ) throws -> Int {
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        let read = try file.read(into: part, at: 0, enough: enough, path: FilePath(path))
        progress?.add(bytes: UInt64(read))
        return read
    }
}
