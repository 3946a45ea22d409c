// Dedicated threads for work that may block forever or must run at the lowest priority.

internal import CLinux
internal import Glibc
internal import SystemPackage

/// A thread that ends with its work; it is never joined.
package enum DetachedThread {
    /// A thread's share of processor and disk when other threads need them too.
    package enum Priority: Sendable {
        case normal
        /// The smallest share of the processor, and the disk only while it is idle (ioprio_set(2)).
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
    ///   - purpose: what the thread is for, shown in the error.
    ///   - body: may own values that are not Sendable; only the new thread uses them from then on.
    /// - Throws: `FileError` if no thread can be created.
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
                // If the system refuses, the work runs at normal priority.
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
