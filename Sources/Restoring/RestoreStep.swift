// One path at which the present state differs from the wanted one.

package import ArchiveFormat
package import FileIO

/// A step of a restore: the present and the wanted entry at a path.
package struct RestoreStep: Sendable {
    package let path: RelativePath
    /// The present entry; nil if the path does not exist.
    package let present: Entry?
    /// The wanted entry; nil to remove the path.
    package let wanted: Entry?

    /// Whether a wanted socket is not created: the program that listens on it does that.
    let omitsSocket: Bool

    /// - Parameter wanted: a socket that is not there already counts as nothing.
    init(path: RelativePath, present: Entry?, wanted: Entry?) {
        self.path = path
        self.present = present
        omitsSocket = wanted?.kind == .socket && present?.kind != .socket
        self.wanted = omitsSocket ? nil : wanted
    }

    /// Whether the present object can stay and only needs other metadata.
    var isMetadataOnly: Bool {
        guard let present, let wanted, present.kind == wanted.kind, present.linkGroup == wanted.linkGroup else {
            return false
        }
        return present.kind == .directory || (present.content == wanted.content && present.device == wanted.device)
    }

    /// The action to report to the user; nil if there is nothing to do.
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
