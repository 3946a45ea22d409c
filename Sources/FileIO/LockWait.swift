// Waiting for a lock without being bound to it.

package import Dispatch
package import SystemPackage
internal import Threading

/// A lock that a thread of its own waits for: flock(2) knows no end to that, and one who asks again and again may never be
/// the one who gets it.
package final class LockWait: Sendable {
    private struct State: ~Copyable {
        var lock: FileLock?
        var failure: FileError?
        var isGivenUp = false

        /// Takes the lock, unless nobody waits for it any more.
        mutating func accept(_ lock: consuming FileLock?) {
            if !isGivenUp { self.lock = lock }
        }

        mutating func giveUp() {
            isGivenUp = true
            lock = nil
        }
    }

    /// What the thread and the one who waits share.
    private final class Shared: Sendable {
        let state = Locked(State())
        let isDone = DispatchSemaphore(value: 0)
    }

    private let shared = Shared()

    /// Begins to wait for the lock on the file at `path`.
    package init(_ path: FilePath) throws(FileError) {
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

    /// Waits for the lock, no longer than `duration`.
    ///
    /// - Returns: the lock; nil where somebody else has it still.
    package func lock(within duration: DispatchTimeInterval) throws(FileError) -> FileLock? {
        guard shared.isDone.wait(timeout: .now() + duration) == .success else { return nil }
        if let failure = shared.state.withLock({ $0.failure }) { throw failure }
        return shared.state.withLock { $0.lock.take() }
    }
}
