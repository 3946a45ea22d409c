// Marks of open files, which others can see without waiting and without taking a lock.

internal import CLinux

extension Descriptor {
    /// Marks the open file, until `unmark`, or until it is closed, as by the end of the process.
    ///
    /// The mark is a shared lock of the open file description (fcntl_locking(2)), which nobody takes exclusively. A file
    /// system without such locks has no marks.
    package borrowing func mark() { _ = clinux_mark(number, 1) }

    package borrowing func unmark() { _ = clinux_mark(number, 0) }

    /// Whether another opening of the file is marked, in this process or another.
    ///
    /// Reading /proc/locks instead would stop all work with locks on the machine for some milliseconds.
    package var isMarkedElsewhere: Bool { clinux_is_marked_elsewhere(number) == 1 }
}
