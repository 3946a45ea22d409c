// Where tests reach into a watcher: the clock, and faults that are hard to bring about otherwise.

package import FileIO
package import SystemPackage

/// What a watcher asks before it acts; by default nothing is changed.
package struct WatcherHooks: Sendable {
    /// The monotonic clock.
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Told the number of the inotify descriptor.
    package var opened: @Sendable (CInt) -> Void = { _ in }
    /// Called on the watcher's thread before it reads events; may block.
    package var beforeReading: @Sendable () -> Void = {}
    /// Called before a watch is added: a reason makes the addition fail.
    package var watchFailure: @Sendable (RelativePath) -> Errno? = { _ in nil }

    package init() {}
}
