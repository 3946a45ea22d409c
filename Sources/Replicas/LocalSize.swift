// How much of an archive stays on the local disk: a setting of this machine, not of the archive's history.

package import ArchiveStorage
internal import FileIO
package import Roots

/// The size that an archive may have on the local disk.
package struct LocalSize: Sendable, Hashable, Codable {
    /// The most bytes of segments and catalogue; nil for no limit.
    package var bytes: UInt64?
    /// The file with the identity that reads the replicas; it stays when the limit ends, as segments may be away.
    package var identityFile: String?

    package init(bytes: UInt64? = nil, identityFile: String? = nil) {
        (self.bytes, self.identityFile) = (bytes, identityFile)
    }

    private static func file(_ layout: ArchiveLayout) -> JSONFile<LocalSize> {
        JSONFile(
            layout.settings.appending("local-size.json"), "it says how much stays on the local disk",
            remedy: "remove the file, and set the limit again")
    }

    /// The setting; no limit if none was set.
    package static func read(_ layout: ArchiveLayout) throws(ArchiverError) -> LocalSize {
        try facing { try file(layout).read() ?? LocalSize() }
    }

    /// Stores the setting durably.
    package func write(_ layout: ArchiveLayout) throws(ArchiverError) {
        try facing {
            try layout.settings.createDirectory(durable: true)
            try LocalSize.file(layout).write(self)
        }
    }
}
