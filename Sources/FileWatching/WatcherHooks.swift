// Where tests reach into a watcher: the clock, and faults that are hard to bring about otherwise.

internal import CLinux
package import FileIO
package import SystemPackage

/// What a watcher asks before it acts; by default nothing is changed.
package struct WatcherHooks: Sendable {
    /// The monotonic clock.
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// How long the machine has been suspended since some moment in the past.
    package var suspendedTime: @Sendable () -> Duration = { .nanoseconds(clinux_suspended_nanoseconds()) }
    /// Told the file system of a root, answers with the one to believe in.
    package var fileSystem: @Sendable (FileSystem) -> FileSystem = { $0 }
    /// Called before a backend is opened: a reason makes the opening fail.
    package var openFailure: @Sendable (WatchBackend) -> Errno? = { _ in nil }
    /// Told the number of each backend's descriptor.
    package var opened: @Sendable (WatchBackend, CInt) -> Void = { _, _ in }
    /// Called on the watcher's thread before it reads events; may block.
    package var beforeReading: @Sendable () -> Void = {}
    /// Whether an event of that name is lost on its way; the empty name is that of the directory itself.
    package var losesEvent: @Sendable ([UInt8]) -> Bool = { _ in false }
    /// Called each time the watcher's thread is about to sleep, with the instant at which it wakes up by itself.
    package var beforeSleeping: @Sendable (ContinuousClock.Instant?) -> Void = { _ in }
    /// Called on the watcher's thread each time it looks after a root.
    package var beforeVisiting: @Sendable () -> Void = {}
    /// Called before a directory is watched by a backend: a reason makes that fail.
    package var watchFailure: @Sendable (WatchBackend, RelativePath) -> Errno? = { _, _ in nil }

    package init() {}
}
