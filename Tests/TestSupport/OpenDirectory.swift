// A directory for a test that works with descriptors.

package import FileIO
internal import Glibc
package import SystemPackage

/// A temporary directory that stays open as long as it exists.
package final class OpenDirectory: Sendable {
    private let directory: TemporaryDirectory
    /// The directory, opened with O_DIRECTORY.
    package let root: Descriptor

    package init() throws {
        directory = try TemporaryDirectory()
        root = try Descriptor.open(directory.path, O_RDONLY | O_DIRECTORY)
    }

    package var path: FilePath { directory.path }
}
