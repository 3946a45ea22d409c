// How much of an archive stays on the local disk: a setting of this machine, not of the archive's history.

package import ArchiveStorage
internal import FileIO
internal import Glibc
package import Roots
internal import SystemPackage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The size that an archive may have on the local disk.
package struct LocalSize: Sendable, Hashable, Codable {
    /// The most bytes of segments and catalogue; nil for no limit.
    package var bytes: UInt64?
    /// The file with the identity that reads the replicas; it stays when the limit ends, as segments may be away.
    package var identityFile: String?

    package init(bytes: UInt64? = nil, identityFile: String? = nil) {
        (self.bytes, self.identityFile) = (bytes, identityFile)
    }

    private static let byteLimit = 65_536

    private static func file(_ layout: ArchiveLayout) -> EnclosedPath { layout.settings.appending("local-size.json") }

    /// The setting; no limit if none was set.
    package static func read(_ layout: ArchiveLayout) throws(ArchiverError) -> LocalSize {
        let file = file(layout)
        let bytes: [UInt8]
        do { bytes = try file.open(O_RDONLY).readToEnd(limit: byteLimit, path: file.path) } catch {
            if error.code == .noSuchFileOrDirectory { return LocalSize() }
            throw ArchiverError(error)
        }
        guard let size = try? JSONDecoder().decode(LocalSize.self, from: Data(bytes)) else {
            throw ArchiverError(
                .damaged, "\(file.path) is damaged: it says how much stays on the local disk",
                remedy: "remove the file, and set the limit again", path: file.path)
        }
        return size
    }

    /// Stores the setting, durably.
    package func write(_ layout: ArchiveLayout) throws(ArchiverError) {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try layout.settings.createDirectory(durable: true)
            let bytes = Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
            try DurableFile.replace(LocalSize.file(layout), contents: bytes)
        }
    }
}
