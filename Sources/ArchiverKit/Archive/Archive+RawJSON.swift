// A snapshot's stored value as JSON, for people who look under the hood.

internal import ArchiveFormat
public import ArchiveStorage
internal import FoundationEssentials
public import Roots

extension Archive {
    /// The snapshot's stored value, rendered as JSON with sorted keys.
    public func rawJSON(of snapshot: ListedSnapshot) throws(ArchiverError) -> String {
        try facing {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(store.snapshot(snapshot.id)), as: UTF8.self)
        }
    }
}
