// The segments of a replica as a source that an archive is read from, by range reads.

internal import Age
internal import ArchiveFormat
package import ArchiveStorage
internal import Dispatch
internal import FoundationEssentials
internal import ObjectStore
package import Roots
package import SystemPackage
internal import Threading

/// The segments of a replica.
package final class ReplicaSegments: SegmentSource {
    let reader: ReplicaReader
    package let inventory: ReplicaInventory
    private let lengths = Locked<[String: Int]>([:])
    private let cache = StepCache(capacityBytes: ReplicaSegments.cacheBytes)

    /// The most bytes of segments that are kept in memory.
    private static let cacheBytes = 64 << 20

    /// Lists the replica's objects.
    package init(_ reader: ReplicaReader) throws(ArchiverError) {
        self.reader = reader
        inventory = try facingStore { try ReplicaInventory(reader.objects) }
    }

    /// The segments that are remembered to be there.
    init(_ reader: ReplicaReader, _ inventory: ReplicaInventory) {
        self.reader = reader
        self.inventory = inventory
    }

    package func list() throws(StorageError) -> SegmentListing {
        var listing = SegmentListing()
        listing.segments = inventory.paths.filter { inventory.segments[$0] != nil || !inventory.chain(of: $0).isEmpty }
        return listing
    }

    /// The object that has the segment, or the folder of its pieces.
    ///
    /// The address is no part of it: a path has no two slashes in a row.
    package func path(of name: String) -> FilePath {
        let isInPieces = inventory.segments[name] == nil && inventory.pieces[name] != nil
        return FilePath(isInPieces ? ReplicaObject.folder(ofPieces: name) : ReplicaObject.segment(path: name).text)
    }

    /// Says what lengths the sealed segments of a checkpoint have, which then need not be opened to know them.
    ///
    /// Only as far as the objects can have them: when a segment is opened, its signature says whether it does.
    func expect(_ lengths: [String: Int]) {
        let possible = lengths.filter { path, length in
            guard let bytes = inventory.segments[path] else { return false }
            let payload = AgePayload.length(ofPlain: UInt64(length))
            return bytes > payload && bytes - payload <= UInt64(AgeHeader.lengthLimit)
        }
        self.lengths.withLock { $0.merge(possible) { known, _ in known } }
    }

    package func length(of name: String) -> Int? {
        if let known = lengths.withLock({ $0[name] }) { return known }
        // The names of pieces say how long they are.
        guard let bytes = inventory.segments[name] else { return inventory.chain(of: name).last?.end }
        if let segment = try? open(name), let length = try? segment.length() { return length }
        return Int(clamping: bytes)
    }

    package func open(_ name: String) throws(StorageError) -> any SegmentReading {
        let path = path(of: name)
        do {
            if let bytes = inventory.segments[name] {
                let whole = try reader.open(.segment(path: name), length: bytes)
                lengths.withLock { $0[name] = whole.length }
                return ReplicaSegment(path, name, [ReplicaSegment.Part(whole)], reader, cache)
            }
            let chain = inventory.chain(of: name)
            guard !chain.isEmpty else { throw StorageError(.damaged, path, "segment \(path) is missing") }
            return ReplicaSegment(path, name, chain.map { ReplicaSegment.Part($0, of: name) }, reader, cache)
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
    /// An object with a part of the segment, which is opened when it is read.
    struct Part: Sendable {
        let object: ReplicaObject
        let objectBytes: UInt64
        let offset: Int
        let length: Int
        let opened: ReplicaReader.Opened?

        var end: Int { offset + length }

        init(_ whole: ReplicaReader.Opened) {
            (object, objectBytes, offset, length, opened) = (whole.object, 0, 0, whole.length, whole)
        }

        init(_ piece: ReplicaInventory.Piece, of path: String) {
            object = piece.object(of: path)
            (objectBytes, offset, length, opened) = (piece.objectBytes, piece.offset, piece.length, nil)
        }
    }

    let path: FilePath
    private let name: String
    private let parts: [Part]
    private let reader: ReplicaReader
    private let cache: StepCache
    private let end: Int

    /// Readers that go on from step to step.
    private struct Stream {
        /// The step after the last one that was fetched for them.
        var next: Int
        /// How many steps the last request fetched.
        var reach: Int
    }

    private struct State {
        var opened: [Int: ReplicaReader.Opened] = [:]
        /// The last used first.
        var streams: [Stream] = []
        /// Steps that were fetched ahead, and of which none was read yet.
        var ahead: [Range<Int>] = []
    }

    private static let queue = DispatchQueue(label: "archiver.ahead", qos: .default, attributes: .concurrent)
    /// Held while something is fetched, so that no two readers fetch the same.
    private let turn = Locked(())
    private let state = Locked(State())

    /// What is decrypted at once.
    private static let stepBytes = Int(AgePayload.stepBytes)
    /// How many steps one request fetches: at first as many as most blocks have, then more and more.
    private static let firstReach = 4
    /// With those before, they have less than 3 MiB: such buffers stay in the process and are used again.
    private static let mostReach = 44
    private static let mostStreams = 8
    /// From this reach on, the next requests are made while the reader works on what the last one brought.
    private static let leastReachAhead = 16
    /// How many requests bring what no reader has begun with: with one, the reader waits whenever the store is slower.
    private static let mostAhead = 2
    /// A reader that is at most so many steps beyond a stream belongs to it: threads that share their work take turns.
    private static let streamWidth = 16
    /// A commit has its contents before its tree, and the snapshot last: what comes before is likely to be read next.
    private static let stepsBefore = 3

    init(_ path: FilePath, _ name: String, _ parts: [Part], _ reader: ReplicaReader, _ cache: StepCache) {
        self.path = path
        self.name = name
        self.parts = parts
        self.reader = reader
        self.cache = cache
        end = parts.map(\.end).max() ?? 0
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
            let step = try step(number, until: (last - 1) / ReplicaSegment.stepBytes)
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

    /// The step `number`; fetched, if it is not kept, with those until `last` and some around it.
    private func step(_ number: Int, until last: Int) throws(StorageError) -> Data {
        if let known = kept(number) { return known }
        return try turn.withLock { (_) throws(StorageError) in
            if let known = kept(number) { return known }
            let steps = planned(number, until: last)
            do throws(StorageError) {
                let wanted = try fetch(steps)
                fetchAhead(after: steps)
                return wanted[number] ?? Data()
            } catch {
                // Another step may be the damaged one.
                guard error.code == .damaged, steps.count > 1 else { throw error }
                if let known = kept(number) { return known }
                return try fetch(number..<number + 1)[number] ?? Data()
            }
        }
    }

    /// The step `number` if it is kept; if it was fetched ahead, what comes after is fetched, too.
    private func kept(_ number: Int) -> Data? {
        guard let known = cache.step(number, of: name) else { return nil }
        let steps = state.withLock { state in
            state.ahead.firstIndex { $0.contains(number) }.map { state.ahead.remove(at: $0) }
        }
        if let steps { fetchAhead(after: steps) }
        return known
    }

    /// Fetches steps and keeps them.
    private func fetch(_ steps: Range<Int>) throws(StorageError) -> [Int: Data] {
        var fetched: [Int: Data] = [:]
        var number = steps.lowerBound
        // Pieces begin anywhere in a step.
        var begun = Data()
        func keep(_ step: Data) {
            cache.keep(step, number, of: name)
            fetched[number] = step
            number += 1
        }
        let place = steps.lowerBound * ReplicaSegment.stepBytes
        do {
            try read(place..<min(end, steps.upperBound * ReplicaSegment.stepBytes)) { bytes in
                if begun.isEmpty, bytes.count == ReplicaSegment.stepBytes {
                    keep(bytes)
                    return
                }
                begun += bytes
                while begun.count >= ReplicaSegment.stepBytes {
                    keep(Data(begun.prefix(ReplicaSegment.stepBytes)))
                    begun = Data(begun.dropFirst(ReplicaSegment.stepBytes))
                }
            }
        } catch { throw StorageError(replica: error, path) }
        if !begun.isEmpty { keep(begun) }
        return fetched
    }

    /// Fetches in the background what a reader needs after `steps`, if it has gone on for some time.
    ///
    /// A failure is left to the reader, who tries again.
    private func fetchAhead(after steps: Range<Int>) {
        let next: Int? = state.withLock { state in
            var (next, ahead) = (steps.upperBound, 0)
            while let fetched = state.ahead.first(where: { $0.lowerBound == next }) {
                (next, ahead) = (fetched.upperBound, ahead + 1)
            }
            let goesOn = state.streams.contains { $0.next == next && $0.reach >= ReplicaSegment.leastReachAhead }
            return goesOn && ahead < ReplicaSegment.mostAhead ? next : nil
        }
        guard let next, next * ReplicaSegment.stepBytes < end else { return }
        ReplicaSegment.queue.async { [self] in
            let isFetched = turn.withLock { _ in
                guard cache.step(next, of: name) == nil else { return false }
                let steps = planned(next, until: next)
                guard (try? fetch(steps)) != nil else { return false }
                state.withLock { state in
                    state.ahead.append(steps)
                    if state.ahead.count > ReplicaSegment.mostStreams { state.ahead.removeFirst() }
                }
                return true
            }
            if isFetched { fetchAhead(after: steps) }
        }
    }

    /// The steps to fetch for a reader that needs those from `number` to `last`.
    private func planned(_ number: Int, until last: Int) -> Range<Int> {
        let count = (end + ReplicaSegment.stepBytes - 1) / ReplicaSegment.stepBytes
        return state.withLock { state in
            let index = state.streams.firstIndex { ($0.next...$0.next + ReplicaSegment.streamWidth).contains(number) }
            // The first step of a large object was fetched with its header.
            let usualBytes = ReplicaSegment.firstReach * ReplicaSegment.stepBytes
            let isFetched = number == 0 && parts.first.map(\.length) ?? 0 > usualBytes
            var (first, reach) = (number, isFetched ? 1 : ReplicaSegment.firstReach)
            if let index {
                let stream = state.streams.remove(at: index)
                // What was left out is another thread's next.
                first = (stream.next..<number).first { cache.step($0, of: name) == nil } ?? number
                reach = min(2 * stream.reach, ReplicaSegment.mostReach)
            } else {
                while first > 0, number - first < ReplicaSegment.stepsBefore, cache.step(first - 1, of: name) == nil {
                    first -= 1
                }
            }
            let limit = min(max(min(last + 1, number + ReplicaSegment.mostReach), number + reach), count)
            state.streams.insert(Stream(next: limit, reach: reach), at: 0)
            if state.streams.count > ReplicaSegment.mostStreams { state.streams.removeLast() }
            return first..<limit
        }
    }

    /// Reads from all the parts that hold the range, and passes on what they have, in order.
    private func read(_ range: Range<Int>, _ body: (Data) -> Void) throws(ArchiverError) {
        var position = range.lowerBound
        for (number, part) in parts.enumerated() where position < range.upperBound {
            guard position >= part.offset, position < part.end else { continue }
            let wanted = position - part.offset..<min(part.end, range.upperBound) - part.offset
            let object = try opened(number)
            var count = 0
            try object.read(wanted) { bytes in
                count += bytes.count
                body(bytes)
            }
            // They are kept as steps.
            object.releaseBytes()
            guard count == wanted.count else {
                throw ArchiverError(.replica, "\(part.object.text) became shorter while it was read")
            }
            position += count
        }
    }

    private func opened(_ number: Int) throws(ArchiverError) -> ReplicaReader.Opened {
        let part = parts[number]
        if let known = part.opened ?? state.withLock({ $0.opened[number] }) { return known }
        let opened = try reader.open(part.object, length: part.objectBytes)
        state.withLock { $0.opened[number] = opened }
        return opened
    }
}
