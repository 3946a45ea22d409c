// The segments of a replica as a source that an archive is read from, by range reads.

internal import ArchiveFormat
package import ArchiveStorage
internal import ObjectStore
package import Roots
package import SystemPackage
internal import Threading

/// The segments of a replica.
package final class ReplicaSegments: SegmentSource {
    private let reader: ReplicaReader
    package let inventory: ReplicaInventory
    private let lengths = Locked<[String: Int]>([:])

    /// Lists the replica's objects.
    package init(_ reader: ReplicaReader) throws(ArchiverError) {
        self.reader = reader
        inventory = try facingStore { try ReplicaInventory(reader.objects) }
    }

    package func list() throws(StorageError) -> SegmentListing {
        var listing = SegmentListing()
        listing.segments = inventory.paths.filter { inventory.segments[$0] != nil || !inventory.chain(of: $0).isEmpty }
        return listing
    }

    package func path(of name: String) -> FilePath { FilePath("\(reader.objects.address)/\(name)") }

    package func length(of name: String) -> Int? {
        if let known = lengths.withLock({ $0[name] }) { return known }
        if let segment = try? open(name), let length = try? segment.length() { return length }
        return inventory.segments[name].map { Int(clamping: $0) } ?? inventory.pieces[name]?.map(\.end).max()
    }

    package func open(_ name: String) throws(StorageError) -> any SegmentReading {
        let path = path(of: name)
        do {
            let segment: ReplicaSegment
            if let bytes = inventory.segments[name] {
                segment = ReplicaSegment(path, [try reader.open(.segment(path: name), length: bytes)], [0])
            } else {
                let chain = inventory.chain(of: name)
                guard !chain.isEmpty else {
                    throw StorageError(.damaged, path, "segment \(path) is missing")
                }
                segment = ReplicaSegment(
                    path, try chain.map { try reader.open($0.object(of: name), length: $0.objectBytes) },
                    chain.map(\.offset))
            }
            lengths.withLock { $0[name] = segment.end }
            return segment
        } catch { throw StorageError(replica: error, path) }
    }
}

extension StorageError {
    /// The error for something that could not be read from a replica.
    fileprivate init(replica error: any Error, _ path: FilePath) {
        if let error = error as? StorageError {
            self = error
            return
        }
        let error = ArchiverError(any: error)
        self.init(error.code == .damaged ? .damaged : .system, path, error.message, remedy: error.remedy)
    }
}

/// One segment of a replica, from one object or several.
private final class ReplicaSegment: SegmentReading {
    let path: FilePath
    private let parts: [ReplicaReader.Opened]
    private let offsets: [Int]
    let end: Int
    /// The parts of the segment that were read last, by their numbers.
    private let recent = Locked<[(number: Int, bytes: [UInt8])]>([])

    /// What is read at once, and how many of these are kept.
    private static let stepBytes = 256 << 10
    private static let stepsKept = 16

    init(_ path: FilePath, _ parts: [ReplicaReader.Opened], _ offsets: [Int]) {
        self.path = path
        self.parts = parts
        self.offsets = offsets
        end = zip(parts, offsets).map { $0.length + $1 }.max() ?? 0
    }

    func length() throws(StorageError) -> Int { end }

    var isRemoved: Bool { false }

    func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>? {
        let end = min(end, self.end)
        return offset < end ? offset..<end : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int {
        var position = offset
        let last = min(end, offset + buffer.count)
        while position < last {
            let number = position / ReplicaSegment.stepBytes
            let step = try step(number)
            let start = position - number * ReplicaSegment.stepBytes
            let count = min(step.count - start, last - position)
            guard count > 0 else { break }
            step.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: buffer[(position - offset)...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]))
            }
            position += count
        }
        return max(0, position - offset)
    }

    private func step(_ number: Int) throws(StorageError) -> [UInt8] {
        if let known = recent.withLock({ $0.first { $0.number == number }?.bytes }) { return known }
        let start = number * ReplicaSegment.stepBytes
        let bytes: [UInt8]
        do { bytes = try read(start..<min(end, start + ReplicaSegment.stepBytes)) } catch {
            throw StorageError(replica: error, path)
        }
        recent.withLock { recent in
            if recent.count >= ReplicaSegment.stepsKept { recent.removeFirst() }
            recent.append((number, bytes))
        }
        return bytes
    }

    /// Reads from all the parts that hold the range.
    private func read(_ range: Range<Int>) throws(ArchiverError) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = range.lowerBound
        for (part, offset) in zip(parts, offsets) where position < range.upperBound {
            let partEnd = offset + part.length
            guard position >= offset, position < partEnd else { continue }
            let wanted = position - offset..<min(partEnd, range.upperBound) - offset
            let read = try part.read(wanted)
            guard read.count == wanted.count else {
                throw ArchiverError(.replica, "\(part.name) became shorter while it was read")
            }
            bytes += read
            position += read.count
        }
        return bytes
    }
}
