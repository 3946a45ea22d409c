// Names of the files in an archive's directory.

internal import ArchiveFormat
package import FileIO
package import SystemPackage

/// The paths of the files in an archive's directory.
package struct ArchiveLayout: Sendable, Hashable {
    /// The archive's directory.
    package let directory: FilePath

    package init(_ directory: FilePath) {
        self.directory = directory
    }

    /// The format version, archive id and parameters; its presence makes a directory an archive.
    package var manifest: EnclosedPath { inside("archive.json") }
    package var segments: EnclosedPath { inside("segments") }
    /// The names of all segments that were begun; only needed to miss the newest ones.
    package var begun: EnclosedPath { inside("begun") }
    /// The segments that are only in a replica; there is none as long as all are here.
    package var away: EnclosedPath { inside("away.json") }
    /// The SQLite index of the segments; disposable.
    package var catalogue: FilePath { directory.appending("catalogue.sqlite") }
    /// Bytes that were cut off segments; may be deleted.
    package var salvage: EnclosedPath { inside("salvage") }
    /// Reserved space for freeing space on a full disk; may be deleted.
    package var ballast: EnclosedPath { inside("ballast") }
    /// Certificates of purges: what was removed from all history; may be deleted.
    package var certificates: EnclosedPath { inside("certificates") }
    /// Exists while a purge has begun and not ended.
    package var unfinishedPurge: EnclosedPath { certificates.appending("unfinished") }
    package var locks: EnclosedPath { inside("locks") }
    /// What must outlive a command but is no part of the history.
    package var settings: EnclosedPath { inside("settings") }
    /// The replicas of the archive: their addresses and keys, and what each has.
    package var replicas: EnclosedPath { settings.appending("replicas") }

    /// The lock file named `name`.
    package func lock(_ name: String) -> EnclosedPath { locks.appending(name) }

    /// The path `name` in the archive: no link in it is followed.
    private func inside(_ name: String) -> EnclosedPath { EnclosedPath(directory).appending(name) }
}
