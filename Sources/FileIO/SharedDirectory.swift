// An open directory that several pieces of work share.

/// An open directory, closed when the last piece of work that needs it is done.
package final class SharedDirectory: Sendable {
    package let descriptor: Descriptor

    package init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}
