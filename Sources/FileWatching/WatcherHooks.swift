// Hooks for tests: a watcher's clock, and faults that are hard to produce otherwise.

internal import CLinux
package import FileIO
package import SystemPackage

/// Functions that a watcher calls and tests replace; the defaults change nothing.
package struct WatcherHooks: Sendable {
    /// The monotonic clock.
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// How long the machine has been suspended since an arbitrary moment in the past.
    package var suspendedTime: @Sendable () -> Duration = { .nanoseconds(clinux_suspended_nanoseconds()) }
    /// Receives the file system of a directory and returns the one to use in its place.
    package var fileSystem: @Sendable (FileSystem) -> FileSystem = { $0 }
    /// Called before a backend is opened; a returned code makes that fail.
    package var openFailure: @Sendable (WatchBackend) -> Errno? = { _ in nil }
    /// Called with the number of each backend's descriptor.
    package var opened: @Sendable (WatchBackend, CInt) -> Void = { _, _ in }
    /// Called on the watcher's thread before it reads events; may block.
    package var beforeReading: @Sendable () -> Void = {}
    /// Whether to drop an event with the given name; the name is empty for the directory itself.
    package var losesEvent: @Sendable ([UInt8]) -> Bool = { _ in false }
    /// Called each time the watcher's thread is about to sleep, with the time at which it wakes up if nothing happens.
    package var beforeSleeping: @Sendable (ContinuousClock.Instant?) -> Void = { _ in }
    /// Called on the watcher's thread each time it visits a root.
    package var beforeVisiting: @Sendable () -> Void = {}
    /// Called before a backend watches a directory; a returned code makes that fail.
    package var watchFailure: @Sendable (WatchBackend, RelativePath) -> Errno? = { _, _ in nil }

    package init() {}
}
