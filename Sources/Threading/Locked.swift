// A value that only one thread can use at a time.

package import Glibc

/// A value behind a lock.
///
/// It replaces `Synchronization.Mutex`, which must not be used in code that can be inlined into an `async` function.
/// The compiler reads the address of the thread's id once for the entire function and reuses it after a suspension. If
/// the function resumes on another thread, the mutex is locked in the name of the first thread, and unlocking traps. A
/// pthread mutex reads the thread's id inside the C library, where the compiler cannot cache it.
///
/// The lock checks for errors: a thread that locks it twice traps instead of waiting forever (pthread_mutex_lock(3p)).
package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Unchecked: only the thread that holds the lock accesses the value. The lock is allocated on the heap, because it
    // must not change its address and a struct may be moved.
    @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ initialValue: consuming sending Value) {
        lock = .allocate(capacity: 1)
        value = .allocate(capacity: 1)
        value.initialize(to: initialValue)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
        pthread_mutex_init(lock, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value while this thread holds the lock.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let failure = pthread_mutex_lock(lock)
        precondition(failure == 0, "this thread has locked the value already")
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }

    /// Calls `body` with the value while this thread holds the lock; returns nil if this thread already holds it.
    @inlinable
    package borrowing func withLockUnlessHeld<Result: ~Copyable, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_lock(lock) == 0 else { return nil }
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
