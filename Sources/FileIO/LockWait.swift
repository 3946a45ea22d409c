// Waits for a lock with a time limit.

package import Dispatch
internal import Threading

/// A lock that a separate thread waits for.
///
/// flock(2) has no timeout, and a caller that polls instead may never acquire a busy lock.
package final class LockWait: Sendable {
    private struct State: ~Copyable {
        var lock: FileLock?
        var failure: FileError?
        var isGivenUp = false

        /// Stores the acquired lock, unless the waiter has given up.
        mutating func accept(_ lock: consuming FileLock?) {
            if !isGivenUp { self.lock = lock }
        }

        mutating func giveUp() {
            isGivenUp = true
            lock = nil
        }
    }

    /// State shared by the thread and the waiter.
    private final class Shared: Sendable {
        let state = Locked(State())
        let isDone = DispatchSemaphore(value: 0)
    }

    private let shared = Shared()

    /// Starts waiting for the lock on the file at `path`.
    package init(_ path: EnclosedPath) throws(FileError) {
        let shared = shared
        try DetachedThread.start(for: "waiting for a lock") {
            do throws(FileError) {
                var lock: FileLock? = try FileLock.exclusive(path)
                shared.state.withLock { $0.accept(lock.take()) }
            } catch {
                shared.state.withLock { $0.failure = error }
            }
            shared.isDone.signal()
        }
    }

    deinit {
        shared.state.withLock { $0.giveUp() }
    }

    /// Waits for the lock at most for `duration`.
    ///
    /// - Returns: the lock; nil if another process still holds it.
    package func lock(within duration: DispatchTimeInterval) throws(FileError) -> FileLock? {
        guard shared.isDone.wait(timeout: .now() + duration) == .success else { return nil }
        if let failure = shared.state.withLock({ $0.failure }) { throw failure }
        return shared.state.withLock { $0.lock.take() }
    }
}
