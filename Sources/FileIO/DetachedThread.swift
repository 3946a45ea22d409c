// Dedicated threads for work that may block forever or must run at the lowest priority.

internal import CLinux
internal import Dispatch
internal import Glibc
internal import SystemPackage
internal import Threading

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

    /// Calls `body` with every item, several at a time, and returns when all calls have ended: for calls that wait.
    ///
    /// - Parameters:
    ///   - count: how many calls run at the same time at most, one of them on the caller's thread.
    ///   - purpose: what the threads are for.
    /// - Throws: the first error of `body`; no further call begins then.
    package static func forEach<Item: Sendable>(
        _ items: [Item], upTo count: Int, for purpose: String, _ body: @escaping @Sendable (Item) throws -> Void
    ) throws {
        let sharing = Sharing(items, body)
        let group = DispatchGroup()
        for _ in 1..<max(1, min(count, items.count)) {
            group.enter()
            do {
                try start(for: purpose) {
                    sharing.work()
                    group.leave()
                }
            } catch {
                // The others do the work.
                group.leave()
                break
            }
        }
        sharing.work()
        group.wait()
        if let failure = sharing.failure { throw failure }
    }

    /// Items that several threads take one after another.
    private final class Sharing<Item: Sendable>: Sendable {
        private struct State {
            var next = 0
            var failure: (any Error)?
        }

        private let items: [Item]
        private let body: @Sendable (Item) throws -> Void
        private let state = Locked(State())

        init(_ items: [Item], _ body: @escaping @Sendable (Item) throws -> Void) {
            self.items = items
            self.body = body
        }

        var failure: (any Error)? { state.withLock { $0.failure } }

        /// Calls the body with items until none is left, or one failed.
        func work() {
            while let item = take() {
                do { try body(item) } catch { state.withLock { $0.failure = $0.failure ?? error } }
            }
        }

        private func take() -> Item? {
            state.withLock { state in
                guard state.failure == nil, state.next < items.count else { return nil }
                defer { state.next += 1 }
                return items[state.next]
            }
        }
    }
}
