// An open directory that several pieces of work share.

internal import FileIO

/// An open directory, closed when the last piece of work that needs it is done.
final class SharedDirectory: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}
