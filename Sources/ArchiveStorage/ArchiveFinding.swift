// What opening an archive came upon that its user should know.

/// Something in an archive's files that is not as it should be.
public struct ArchiveFinding: Sendable, Hashable {
    /// What it means.
    public enum Kind: String, Sendable, Hashable {
        /// Bytes are damaged or lost; everything else can be used.
        case damage
        /// A snapshot cannot be read that may be the latest of its root: "latest" means an older one.
        case lostSnapshot
        /// A file below `segments` is not read: what it holds is not listed.
        case unread
        /// An interrupted write was cut off; nothing that was announced is lost.
        case cut
    }

    public let kind: Kind
    /// A sentence without its full stop, which names the file.
    public let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What the user can do about it; nil where there is nothing to be done.
    public var remedy: String? {
        switch kind {
        case .damage: "run 'archiver check' to see what is still good"
        case .lostSnapshot: "capture the root, so that its latest snapshot is one that can be read"
        case .unread: "put it right or move it away; 'archiver check' tells what is good"
        case .cut: nil
        }
    }
}
