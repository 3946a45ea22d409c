// Where the blocks of one commit go, from all threads that have something for it.

internal import ArchiveFormat
package import ArchiveStorage
internal import Dispatch
internal import Glibc
internal import Threading

/// Encodes blocks and appends them to a commit, on the caller's thread or on another.
package final class BlockAppender: Sendable {
    /// The first bytes that a commit stores are worth the most effort: it costs no time that anybody notices, and most
    /// histories begin with no more than that.
    private static let thoroughBytes: UInt64 = 2 << 20

    package let commit: CommitWriter
    private let store: ArchiveStore
    private let level: Int
    private let queue = DispatchQueue(label: "archiver.appender", qos: .userInitiated, attributes: .concurrent)
    /// How many more blocks may be under way on other threads.
    private let room = DispatchSemaphore(value: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    /// - Parameter level: zlib's effort for what is more than a little, 1 to 9.
    package init(_ store: ArchiveStore, _ commit: CommitWriter, level: Int) {
        self.store = store
        self.commit = commit
        self.level = level
    }

    /// Appends a block of claimed chunks.
    package func append(_ chunks: [RawChunk], bases: [BaseChunk]) throws {
        let isThorough = commit.storedBytes < BlockAppender.thoroughBytes
        try commit.append(store.encode(chunks, bases: bases, level: isThorough ? ArchiveStore.thoroughLevel : level))
    }

    /// Has a block of claimed chunks appended by another thread, where one may be had.
    ///
    /// - Parameter batch: what the block belongs to; it tells when all is done.
    /// - Returns: whether it will be.
    func appendElsewhere(_ chunks: [RawChunk], bases: [BaseChunk], for batch: BlockBatch) -> Bool {
        guard room.wait(timeout: .now()) == .success else { return false }
        batch.add { [self] in try append(chunks, bases: bases) }
        queue.async { [self] in
            batch.runOne()
            room.signal()
        }
        return true
    }
}

/// Blocks that one thread has given away to be appended, until the end of its batch.
final class BlockBatch: Sendable {
    private struct State {
        var waiting: [@Sendable () throws -> Void] = []
        var failure: (any Error)?
    }

    private let state = Locked(State())
    private let running = DispatchGroup()

    fileprivate func add(_ job: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.waiting.append(job) }
    }

    /// Does one of the jobs that nobody has begun.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    fileprivate func runOne() -> Bool {
        let job = state.withLock { state in
            if !state.waiting.isEmpty { running.enter() }
            return state.waiting.popLast()
        }
        guard let job else { return false }
        do { try job() } catch { state.withLock { $0.failure = $0.failure ?? error } }
        running.leave()
        return true
    }

    /// Does what nobody has begun, and waits for what others have: never for a thread to become free.
    ///
    /// - Throws: the first error that any of them met, once.
    func settle() throws {
        while runOne() {}
        running.wait()
        let error = state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
        if let error { throw error }
    }
}
