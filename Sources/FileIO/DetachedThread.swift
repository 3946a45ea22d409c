// Threads of our own, for work that blocks without end or must not get in anybody's way.

internal import CLinux
internal import Glibc
internal import SystemPackage

/// A thread that ends with its work and is waited for by nobody.
package enum DetachedThread {
    /// How much of the machine a thread may have while others want it too.
    package enum Priority: Sendable {
        case normal
        /// The least share of the processor, and the disk only while nobody else uses it (ioprio_set(2)).
        case lowest
    }

    private final class Work {
        let priority: Priority
        let body: () -> Void

        init(_ priority: Priority, _ body: @escaping () -> Void) {
            self.priority = priority
            self.body = body
        }
    }

    /// Runs `body` on a new thread.
    ///
    /// - Parameters:
    ///   - purpose: what it is for, for the error.
    ///   - body: may own what is not Sendable; the new thread has it alone from then on.
    /// - Throws: `FileError` where there can be no further thread.
    package static func start(
        for purpose: String, _ priority: Priority = .normal, _ body: sending @escaping () -> Void
    ) throws(FileError) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Work(priority, body))
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                // Where the system refuses, the work is done at the usual priority.
                if work.priority == .lowest { _ = clinux_lower_priority() }
                work.body()
                return nil
            }, box.toOpaque())
        if result != 0 {
            box.release()
            throw FileError("start a thread for", FilePath(purpose), Errno(rawValue: result))
        }
        pthread_detach(thread)
    }
}
