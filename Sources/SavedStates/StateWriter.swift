// Saves one state: its chunks and its record, compressed against the previous state.

package import ArchiveFormat
package import ArchiveStorage
internal import Archives
internal import Capturing
internal import FileIO
internal import Glibc
internal import SnapshotTree
internal import SystemPackage
internal import Threading

/// Saves the states of one title, one at a time across all processes.
package struct StateWriter: Sendable {
    let store: ArchiveStore
    let title: String
    let type: String
    let version: Int

    /// - Parameters:
    ///   - type: the name of the state's type, for people.
    ///   - version: the version of that type.
    package init(store: ArchiveStore, title: String, type: String, version: Int) {
        self.store = store
        self.title = StateTitle.canonical(title)
        self.type = type
        self.version = version
    }

    /// zlib's compression level.
    private static let level = 9
    /// With more replaced chunks than this, little of each would fit into zlib's window.
    private static let basesLimit = 4

    /// Calls `body` with the latest state while no other thread or process can save under the title.
    ///
    /// - Throws: `titleInUse` if this thread already holds the title, because it would wait for itself;
    ///   `titlesEntangled` if it holds another one that the title's holder waits for, or may wait for.
    package func exclusively<Result>(_ body: (ListedState?) throws -> Result) throws -> Result {
        let held = try TitleTurns.shared.take(place)
        defer { TitleTurns.shared.end(place) }
        return try locked(lock(holding: held), body)
    }

    /// Calls `body` on a thread of ``Blocking``, as above; waits for the title without a thread.
    ///
    /// - Throws: also `archive` with the code `cancelled` if the task is cancelled before `body` is called.
    package func exclusively<Result: Sendable>(
        _ body: @escaping @Sendable (ListedState?) throws -> Result
    ) async throws -> Result {
        try await TitleTurns.shared.take(place)
        var pauses = StateWriter.pauses
        while true {
            if let result = try await attempt(body) { return result }
            // A cancelled task ends its turn in the next attempt.
            try? await Task.sleep(for: pauses.next())
        }
    }

    /// Calls `body` unless another process holds the title.
    ///
    /// - Returns: nil if one does; the turn at the title has not ended then.
    /// - Throws: also `archive` with the code `cancelled` if the task is cancelled before a thread is free; the turn has
    ///   ended after any error.
    private func attempt<Result: Sendable>(
        _ body: @escaping @Sendable (ListedState?) throws -> Result
    ) async throws -> Result? {
        let outcome: Swift.Result<Result?, any Error>
        do throws(CancellationError) {
            outcome = try await Blocking.run(orThrow: CancellationError()) { [self] () throws(CancellationError) in
                TitleTurns.shared.adopt(place)
                let outcome = Swift.Result { try tryLocked(body) }
                if case .success(nil) = outcome {
                    TitleTurns.shared.returnToTask(place)
                } else {
                    TitleTurns.shared.end(place)
                }
                return outcome
            }
        } catch {
            TitleTurns.shared.end(place)
            throw StateError.cancelled(title: title)
        }
        return try outcome.get()
    }

    /// The pauses between attempts to lock a title that another process holds.
    private static let pauses = Backoff(.milliseconds(1), atMost: .milliseconds(16))

    private var place: TitleTurns.Place { .init(archive: store.manifest.id, title: title) }

    /// Waits for other processes to release the title.
    ///
    /// - Parameter held: another title that this thread holds; the wait is limited then, because another process may
    ///   wait for that one.
    private func lock(holding held: String?) throws -> FileLock {
        guard let held else {
            return try FileLock.exclusive(lockFile, for: "saving a state of '\(title)'", in: store.layout)
        }
        let limit = ContinuousClock.now + TitleTurns.patience
        while true {
            if let lock = try FileLock.tryExclusive(lockFile) { return lock }
            if ContinuousClock.now >= limit { throw StateError.titlesEntangled(title: title, held: held) }
            usleep(UInt32(StateWriter.pauses.first / .microseconds(1)))
        }
    }

    private func tryLocked<Result>(_ body: (ListedState?) throws -> Result) throws -> Result? {
        guard let lock = try FileLock.tryExclusive(lockFile) else { return nil }
        return try locked(lock, body)
    }

    private func locked<Result>(_ lock: consuming FileLock, _ body: (ListedState?) throws -> Result) throws -> Result {
        let lock = lock
        defer { withExtendedLifetime(lock) {} }
        // The new state may refer to chunks of the latest one.
        let epoch = try store.beginEpoch()
        defer { withExtendedLifetime(epoch) {} }
        return try body(store.catalogue.states(.init(of: title, newestFirst: true, limit: 1)).first)
    }

    /// Saves `bytes`, unless the latest state is equal and gets no other label.
    ///
    /// - Parameters:
    ///   - latest: the latest state, passed by `exclusively`; call this only inside it.
    ///   - isEqual: whether the state with these bytes is equal although its bytes differ. It is called only if both
    ///     consist of the same bytes in another order, as equal sets can.
    /// - Returns: the new state, or the latest.
    package func save(
        _ bytes: [UInt8], label: String?, after latest: ListedState?, isEqual: ([UInt8]) -> Bool
    ) throws -> ListedState {
        guard let latest else { return try commit(bytes, label: label, after: nil, nil) }
        guard let record = try? store.stateRecord(latest.id), let old = try? store.bytes(of: record) else {
            // The latest state is lost: store the chunks it shares with this one again, or this state would be lost
            // too.
            return try commit(bytes, label: label, after: latest, nil, isHealing: true)
        }
        let isSame = old == bytes || (StateWriter.isPermutation(old, bytes) && isEqual(old))
        if isSame, label == nil || label == latest.label, latest.version == version {
            // The reads above may have come from a cache, so look up known losses.
            let losses = Losses(store)
            let isLost = losses.contains(latest.id.chunk) || losses.affect(record.content)
            return isLost ? try commit(bytes, label: label, after: latest, nil, isHealing: true) : latest
        }
        return try commit(bytes, label: label, after: latest, record)
    }

    /// The lock file of the title.
    var lockFile: EnclosedPath {
        store.layout.lock("state-\(ChunkID(hashing: Array(title.utf8)).hex.prefix(16)).lock")
    }

    /// Whether both consist of the same bytes in some order; if not, they differ without decoding them.
    private static func isPermutation(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var surplus = [Int](repeating: 0, count: 256)
        for byte in left { surplus[Int(byte)] += 1 }
        for byte in right { surplus[Int(byte)] -= 1 }
        return surplus.allSatisfy { $0 == 0 }
    }

    private func commit(
        _ bytes: [UInt8], label: String?, after latest: ListedState?, _ previous: StateRecord?, isHealing: Bool = false
    ) throws -> ListedState {
        let commit = try store.beginCommit(healing: isHealing)
        do {
            var own = OwnChunks()
            let content = try content(bytes, previous, commit, &own)
            let record = StateRecord(
                title: title, host: CurrentProcess.hostName, time: store.clock?() ?? .now,
                sequence: try sequence(after: latest), label: label, type: type, version: UInt32(clamping: version),
                content: content, storedBytes: commit.storedBytes)
            let bases = own.bases + [latest?.id.chunk].compactMap { $0 }
            return try commit.commit(record, content: own.chunks, bases: bases.compactMap { try store.base($0) })
        } catch {
            commit.abandon()
            throw error
        }
    }

    /// The content for `bytes`; chunks that the archive does not have are put into `own` or appended.
    private func content(
        _ bytes: [UInt8], _ previous: StateRecord?, _ commit: CommitWriter, _ own: inout OwnChunks
    ) throws -> Content {
        if bytes.count <= Content.inlineLimit { return .inline(bytes) }
        if bytes.count > BlockEncoder.packedBytes {
            let packer = ChunkPacker(store, BlockAppender(store, commit, level: StateWriter.level))
            var slices = SliceCollector(packer, old: previous?.content)
            try forEachChunk(of: bytes) { try slices.add($0) }
            let content = try slices.content()
            try packer.flush()
            return content
        }
        var slices: [Slice] = []
        try forEachChunk(of: bytes) { bytes in
            let id = ChunkID(hashing: bytes)
            slices.append(Slice(length: UInt64(bytes.count), chunk: id))
            if try commit.claim(id) { own.chunks.append(RawChunk(id: id, kind: .content, bytes: Array(bytes))) }
        }
        if case .slices(let old) = previous?.content {
            let kept = Set(slices.map(\.chunk))
            own.bases = old.filter { !kept.contains($0.chunk) }.prefix(StateWriter.basesLimit).compactMap(\.chunk)
        }
        return .slices(slices)
    }

    /// New chunks that share the record's block, and the bases they are compressed against.
    private struct OwnChunks {
        var chunks: [RawChunk] = []
        var bases: [ChunkID] = []
    }

    private func forEachChunk(of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let chunker = store.chunker
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let length = chunker.firstChunkLength(in: UnsafeRawBufferPointer(rebasing: rest))
                try body(UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
                rest = rest.dropFirst(length)
            }
        }
    }

    /// The place of a state after `latest`: the order does not depend on clocks.
    private func sequence(after latest: ListedState?) throws -> UInt64 {
        guard let latest else { return 1 }
        guard latest.sequence < Snapshot.sequenceLimit else {
            throw StorageError(
                .system, store.layout.directory,
                "state \(latest.id.short) of '\(title)' has the greatest sequence number, so no state can be later",
                remedy: "forget that state")
        }
        return latest.sequence + 1
    }
}

extension ArchiveStore {
    /// The verified bytes of the state with `record`.
    package func bytes(of record: StateRecord) throws -> [UInt8] {
        var pieces = ContentReader(record.content, in: self)
        var bytes: [UInt8] = []
        // A wrong size in the record must not reserve more memory than this.
        bytes.reserveCapacity(Int(min(record.content.size, 128 << 20)))
        while let piece = try pieces.next() {
            switch piece {
            case .data(let data): bytes += data
            case .hole:
                throw StorageError(
                    .damaged, layout.directory, "the state saved as '\(record.title)' contains a hole",
                    remedy: "check the archive; other states stay usable")
            }
        }
        return bytes
    }
}
