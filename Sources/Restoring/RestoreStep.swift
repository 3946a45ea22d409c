// One path at which what is there differs from what is wanted.

package import ArchiveFormat
package import FileIO

/// A step of a restore: what is at a path now, and what shall be there.
package struct RestoreStep: Sendable {
    package let path: RelativePath
    /// What is there; nil for nothing.
    package let present: Entry?
    /// What shall be there; nil for nothing.
    package let wanted: Entry?

    /// Whether what is there can stay and only needs other metadata.
    var isMetadataOnly: Bool {
        guard let present, let wanted, present.kind == wanted.kind, present.linkGroup == wanted.linkGroup else {
            return false
        }
        return present.kind == .directory || (present.content == wanted.content && present.device == wanted.device)
    }

    /// The step as it is told to the user; nil where nothing is to be done.
    package var action: RestoreAction? {
        guard let kind = wanted?.kind ?? present?.kind else { return nil }
        let bytes = wanted?.size ?? 0
        switch (present, wanted) {
        case (nil, nil): return nil
        case (nil, _): return RestoreAction(kind: .create, path: path, entryKind: kind, bytes: bytes)
        case (_, nil): return RestoreAction(kind: .delete, path: path, entryKind: kind, bytes: 0)
        default:
            if isMetadataOnly { return RestoreAction(kind: .metadata, path: path, entryKind: kind, bytes: 0) }
            return RestoreAction(kind: .replace, path: path, entryKind: kind, bytes: bytes)
        }
    }
}
