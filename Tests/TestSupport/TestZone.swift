// The time zone of tests of local times.

internal import Glibc

/// A time zone with summer time for the process of the tests and its children.
///
/// The zone belongs to the whole process, and the order of the tests is not fixed: every test that knows local times
/// asks for this zone, and there is no other.
package enum TestZone {
    package static let name = "Europe/Berlin"

    private static let setting: Void = {
        setenv("TZ", name, 1)
        tzset()
    }()

    /// Sets the zone to Europe/Berlin if it has not been set yet.
    package static func use() { setting }
}
