// Names of the files in an archive's directory.

internal import ArchiveFormat
internal import FileIO
package import SystemPackage

/// The paths of the files in an archive's directory.
package struct ArchiveLayout: Sendable, Hashable {
    /// The archive's directory.
    package let directory: FilePath

    package init(_ directory: FilePath) {
        self.directory = directory
    }

    static let manifestName = "archive.json"

    /// The format version, archive id and parameters; its presence makes a directory an archive.
    package var manifest: FilePath { directory.appending(ArchiveLayout.manifestName) }
    package var segments: FilePath { directory.appending("segments") }
    /// The SQLite index of the segments; disposable.
    package var catalogue: FilePath { directory.appending("catalogue.sqlite") }
    /// Bytes that were cut off segments; may be deleted.
    package var salvage: FilePath { directory.appending("salvage") }
    /// Reserved space for freeing space on a full disk; may be deleted.
    package var ballast: FilePath { directory.appending("ballast") }
    /// Certificates of purges: what was removed from all history; may be deleted.
    package var certificates: FilePath { directory.appending("certificates") }
    /// Exists while a purge has begun and not ended.
    package var unfinishedPurge: FilePath { certificates.appending("unfinished") }
    package var locks: FilePath { directory.appending("locks") }

    /// The lock file named `name`.
    package func lock(_ name: String) -> FilePath { locks.appending(name) }
}
