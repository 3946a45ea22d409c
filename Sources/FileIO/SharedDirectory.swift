// An open directory that several tasks share.

/// An open directory, closed when the last task that uses it is done.
package final class SharedDirectory: Sendable {
    package let descriptor: Descriptor

    package init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}
