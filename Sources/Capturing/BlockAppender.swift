// Appends the blocks of one commit, from several threads.

internal import ArchiveFormat
package import ArchiveStorage
internal import Dispatch
internal import Threading

/// Encodes blocks and appends them to a commit, on the caller's thread or on another.
package final class BlockAppender: Sendable {
    /// A commit's first bytes get the highest level: the cost is not noticeable, and most histories begin with no more.
    private static let thoroughBytes: UInt64 = 2 << 20

    package let commit: CommitWriter
    private let store: ArchiveStore
    private let level: Int
    private let queue = DispatchQueue(label: "archiver.appender", qos: .default, attributes: .concurrent)
    /// How many more blocks other threads may append at the same time.
    private let room = DispatchSemaphore(value: Processors.count)

    /// - Parameter level: the zlib level after the commit's first bytes, 1 to 9.
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

    /// Appends a block of claimed chunks on another thread, if one is free.
    ///
    /// - Parameter batch: the batch that the block joins; `settle` waits for it.
    /// - Returns: false if no thread is free; nothing was appended then.
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

/// The blocks of one thread that other threads append, until the batch is settled.
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

    /// Runs one of the jobs that no thread has begun.
    ///
    /// - Returns: whether there was a job.
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

    /// Runs the jobs that no thread has begun, and waits for the running ones; it never waits for a free thread.
    ///
    /// - Throws: the first error of any job, once.
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
