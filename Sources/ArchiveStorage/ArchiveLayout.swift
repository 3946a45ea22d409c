// Names of the files in an archive's directory.

internal import ArchiveFormat
internal import FileIO
package import SystemPackage

/// Where things are in an archive's directory.
package struct ArchiveLayout: Sendable, Hashable {
    /// The archive's directory.
    package let directory: FilePath

    package init(_ directory: FilePath) {
        self.directory = directory
    }

    static let manifestName = "archive.json"

    /// Format version, archive id, parameters; what makes a directory an archive.
    package var manifest: FilePath { directory.appending(ArchiveLayout.manifestName) }
    package var segments: FilePath { directory.appending("segments") }
    /// The SQLite index of the segments; disposable.
    package var catalogue: FilePath { directory.appending("catalogue.sqlite") }
    /// What was cut off segments; may be deleted.
    package var salvage: FilePath { directory.appending("salvage") }
    /// Room for giving space back on a full disk; may be deleted.
    package var ballast: FilePath { directory.appending("ballast") }
    /// What was removed from all history; may be deleted.
    package var certificates: FilePath { directory.appending("certificates") }
    package var locks: FilePath { directory.appending("locks") }

    /// A lock file named after what is locked.
    package func lock(_ name: String) -> FilePath { locks.appending(name) }
}
