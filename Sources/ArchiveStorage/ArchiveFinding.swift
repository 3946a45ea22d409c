// What opening an archive found that its user should know.

/// A problem in an archive's files.
public struct ArchiveFinding: Sendable, Hashable {
    /// The kind of problem.
    public enum Kind: String, Sendable, Hashable {
        /// Bytes are damaged or lost; everything else can be used.
        case damage
        /// An unreadable snapshot that may be the latest of its root: "latest" means an older one.
        case lostSnapshot
        /// A segment that others name is missing: what it held is not listed.
        case missing
        /// A missing segment that was recorded as lost: nobody expects it back.
        case lostSegment
        /// Something that a later program wrote cannot be read; the rest can, and nothing can be added.
        case unreadable
        /// A file below `segments` that is not read: its contents are not listed.
        case unread
        /// A file below `segments` that is no segment; it does no harm.
        case stranger
        /// A purge has begun and not ended: parts of its target are still in the archive.
        case unfinishedPurge
        /// An interrupted write was cut off or skipped; nothing that was reported as stored is lost.
        case cut
    }

    /// The kind of problem.
    public let kind: Kind
    /// A sentence that names the file, without a full stop.
    public let message: String

    /// Whether nothing needs to be done about it, and only a check mentions it.
    package var isNote: Bool { kind == .stranger || kind == .lostSegment }

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What the user can do about it; nil if nothing needs to be done.
    public var remedy: String? {
        switch kind {
        case .damage: Advice.seeWhatIsGood.text
        case .lostSnapshot: "capture the root, so that its latest snapshot can be read"
        case .missing: "put the segment back from a copy of the archive"
        case .unreadable: "use a newer archiver"
        case .unread: Advice.repairFile.text
        case .stranger: "move it out of the archive's directory"
        case .unfinishedPurge: "run the same purge again; it does the rest"
        case .cut, .lostSegment: nil
        }
    }
}
