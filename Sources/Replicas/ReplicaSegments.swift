// The segments of a replica as a source that an archive is read from, by range reads.

internal import Age
internal import ArchiveFormat
package import ArchiveStorage
internal import Dispatch
internal import FileIO
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

    package var isRemote: Bool { true }

    /// Lists the replica's objects.
    package init(_ reader: ReplicaReader) throws(ArchiverError) {
        self.reader = reader
        inventory = try reader.inventory()
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
    /// Only as far as the objects can have them: when an object is opened, its signature says whether it does.
    package func expect(_ lengths: [String: Int]) {
        let possible = lengths.filter { path, length in
            guard length >= 0, let bytes = inventory.segments[path] else { return false }
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
                if let length = lengths.withLock({ $0[name] }) {
                    let whole = ReplicaSegment.Part(.segment(path: name), bytes, length: length)
                    return ReplicaSegment(path, name, [whole], reader, cache)
                }
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

        init(_ whole: ReplicaObject, _ objectBytes: UInt64, length: Int) {
            (object, self.objectBytes, offset, self.length, opened) = (whole, objectBytes, 0, length, nil)
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
        /// What is on its way; no two have a step in common.
        var requests: [Request] = []
        /// Steps that are fetched ahead, and of which none was read yet.
        var ahead: [Range<Int>] = []
    }

    /// Steps that are on their way.
    private final class Request: Sendable {
        let steps: Range<Int>
        private let isAhead: Bool
        private let outcome = Locked<Result<[Int: Data], StorageError>>(.success([:]))
        private let group = DispatchGroup()

        /// - Parameter isAhead: whether no reader needs them yet.
        init(_ steps: Range<Int>, isAhead: Bool) {
            self.steps = steps
            self.isAhead = isAhead
            group.enter()
        }

        func finish(_ outcome: Result<[Int: Data], StorageError>) {
            self.outcome.withLock { $0 = outcome }
            group.leave()
        }

        /// Waits for the step `number`.
        ///
        /// - Returns: nil if the caller has to fetch it.
        /// - Throws: what its reader got, if another request would fail, too: not each of many is to try for minutes.
        func step(_ number: Int) throws(StorageError) -> Data? {
            group.wait()
            do { return try outcome.withLock { $0 }.get()[number] } catch {
                if isAhead || error.code == .damaged { return nil }
                throw error
            }
        }
    }

    /// Held while a part is opened, so that no two readers open the same.
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
    /// How many requests bring, at the same time, what no reader has begun with: one after another would bring less than a
    /// store can send.
    private static let mostAhead = 3
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

    func isNear(_ range: Range<Int>) -> Bool {
        let steps = range.lowerBound / ReplicaSegment.stepBytes...(range.upperBound - 1) / ReplicaSegment.stepBytes
        return steps.allSatisfy { cache.step($0, of: name) != nil }
    }

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
        while true {
            if let known = kept(number) { return known }
            let (request, isOwn): (Request?, Bool) = state.withLock { state in
                if let running = state.requests.first(where: { $0.steps.contains(number) }) { return (running, false) }
                // It may have come in the meantime.
                if cache.step(number, of: name) != nil { return (nil, false) }
                return (begin(planned(number, until: last, &state), isAhead: false, &state), true)
            }
            guard let request else { continue }
            if isOwn { return try own(request, number) }
            begun(number)
            if let known = try request.step(number) { return known }
        }
    }

    /// Makes a reader's own request; returns its step `number`.
    private func own(_ request: Request, _ number: Int) throws(StorageError) -> Data {
        do throws(StorageError) {
            let fetched = try fetch(request)
            fetchAhead(after: request.steps)
            return fetched[number] ?? Data()
        } catch {
            // Another step may be the damaged one.
            guard error.code == .damaged, request.steps.count > 1 else { throw error }
            if let known = kept(number) { return known }
            return try fetch(number..<number + 1)[number] ?? Data()
        }
    }

    /// The step `number` if it is kept.
    private func kept(_ number: Int) -> Data? {
        guard let known = cache.step(number, of: name) else { return nil }
        begun(number)
        return known
    }

    /// A reader has begun with the step `number`: if it is fetched ahead, what comes after is fetched, too.
    private func begun(_ number: Int) {
        let steps = state.withLock { state in
            state.ahead.firstIndex { $0.contains(number) }.map { state.ahead.remove(at: $0) }
        }
        if let steps { fetchAhead(after: steps) }
    }

    /// Notes that steps are on their way from now on.
    private func begin(_ steps: Range<Int>, isAhead: Bool, _ state: inout State) -> Request {
        let request = Request(steps, isAhead: isAhead)
        state.requests.append(request)
        return request
    }

    /// Fetches the steps of a request and keeps them.
    private func fetch(_ request: Request) throws(StorageError) -> [Int: Data] {
        let outcome = Result { () throws(StorageError) in try fetch(request.steps) }
        state.withLock { $0.requests.removeAll { $0 === request } }
        request.finish(outcome)
        return try outcome.get()
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
        while let request = state.withLock({ nextAhead(after: steps, &$0) }) {
            do throws(FileError) {
                // A thread of its own: those of a queue may all wait for this request.
                try DetachedThread.start(for: "a replica") { [self] in
                    if (try? fetch(request)) == nil { drop(request) }
                }
            } catch {
                drop(request)
                request.finish(.success([:]))
                return
            }
        }
    }

    /// Takes back a request ahead that failed.
    private func drop(_ request: Request) {
        state.withLock { state in
            state.requests.removeAll { $0 === request }
            state.ahead.removeAll { $0 == request.steps }
        }
    }

    /// The next request for what comes after `steps`; nil if enough is ahead, or nobody is likely to need it.
    private func nextAhead(after steps: Range<Int>, _ state: inout State) -> Request? {
        var (next, ahead) = (steps.upperBound, 0)
        var near: Range<Int> { next..<next + ReplicaSegment.streamWidth }
        while let known = state.ahead.first(where: { near.contains($0.lowerBound) }) {
            (next, ahead) = (known.upperBound, ahead + 1)
        }
        let goesOn = state.streams.contains { $0.next == next && $0.reach >= ReplicaSegment.leastReachAhead }
        guard goesOn, ahead < ReplicaSegment.mostAhead,
            let missing = near.first(where: { cache.step($0, of: name) == nil }),
            missing * ReplicaSegment.stepBytes < end, !state.requests.contains(where: { $0.steps.contains(missing) })
        else { return nil }
        let request = begin(planned(missing, until: missing, &state), isAhead: true, &state)
        state.ahead.append(request.steps)
        if state.ahead.count > ReplicaSegment.mostStreams { state.ahead.removeFirst() }
        return request
    }

    /// The steps to fetch for a reader that needs those from `number` to `last`: `number` and some around it that are
    /// not on their way.
    private func planned(_ number: Int, until last: Int, _ state: inout State) -> Range<Int> {
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
        var limit = min(
            max(min(last + 1, number + ReplicaSegment.mostReach), number + reach),
            (end + ReplicaSegment.stepBytes - 1) / ReplicaSegment.stepBytes)
        for request in state.requests {
            if request.steps.upperBound <= number { first = max(first, request.steps.upperBound) }
            if request.steps.lowerBound > number { limit = min(limit, request.steps.lowerBound) }
        }
        // What is kept in between is fetched again: two requests would take longer.
        while limit > number + 1, cache.step(limit - 1, of: name) != nil { limit -= 1 }
        state.streams.insert(Stream(next: limit, reach: reach), at: 0)
        if state.streams.count > ReplicaSegment.mostStreams { state.streams.removeLast() }
        return first..<limit
    }

    /// Reads from all the parts that hold the range, and passes on what they have, in order.
    private func read(_ range: Range<Int>, _ body: (Data) -> Void) throws(ArchiverError) {
        var position = range.lowerBound
        for (number, part) in parts.enumerated() where position < range.upperBound {
            guard position >= part.offset, position < part.end else { continue }
            let wanted = position - part.offset..<min(part.end, range.upperBound) - part.offset
            let object = try opened(number, toRead: wanted)
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

    /// The object of a part, of which `wanted` is read next.
    private func opened(_ number: Int, toRead wanted: Range<Int>) throws(ArchiverError) -> ReplicaReader.Opened {
        let part = parts[number]
        if let known = part.opened ?? state.withLock({ $0.opened[number] }) { return known }
        return try turn.withLock { (_) throws(ArchiverError) in
            if let known = state.withLock({ $0.opened[number] }) { return known }
            let opened = try reader.open(part.object, length: part.objectBytes, next: (wanted, ofLength: part.length))
            guard opened.length == part.length else {
                throw ArchiverError.notAuthentic(
                    opened.name, reader.objects,
                    "it has \(opened.length) bytes of content, \(part.length) were signed with the catalogue")
            }
            // The segment's own header, which is read with its first block.
            if part.offset == 0, wanted.lowerBound > 0 {
                try? opened.readFirst { [cache, name] in cache.keep($0, 0, of: name) }
            }
            state.withLock { $0.opened[number] = opened }
            return opened
        }
    }
}
