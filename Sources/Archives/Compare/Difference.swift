// The difference of two states at one path.

public import ArchiveFormat
public import FileIO

/// A path at which two states differ.
public struct Difference: Sendable {
    /// How the path differs, from the left state to the right.
    public enum Kind: String, Sendable {
        /// Only the newer one has it.
        case added
        /// Its content or its metadata differs.
        case modified
        /// Only the older one has it.
        case removed
    }

    /// The path of the entry that differs.
    public let path: RelativePath
    /// The left state's path if it was renamed; nil if it was not.
    public let formerPath: RelativePath?
    /// The left state's entry; nil if it has none.
    public let left: Entry?
    /// The right state's entry; nil if it has none.
    public let right: Entry?

    package init?(left: Entry?, right: Entry?) {
        guard let path = left?.path ?? right?.path else { return nil }
        self.path = path
        formerPath = nil
        self.left = left
        self.right = right
    }

    /// A path that was renamed.
    package init(renamed left: Entry, to right: Entry) {
        path = right.path
        formerPath = left.path
        self.left = left
        self.right = right
    }

    /// How the entry differs.
    public var kind: Kind {
        left == nil ? .added : right == nil ? .removed : .modified
    }

    /// Whether only a directory's time differs, as after any file in it was created or removed.
    public var isDirectoryTimeOnly: Bool {
        left?.kind == .directory && right?.kind == .directory && aspects == ["time"]
    }

    /// What differs in a modified entry: "kind", "content", "target", "permissions", "owner", "time", "attributes",
    /// "device", "links".
    public var aspects: [String] {
        guard let left, let right else { return [] }
        if left.kind != right.kind { return ["kind"] }
        var aspects: [String] = []
        if left.content != right.content { aspects.append(left.kind == .symbolicLink ? "target" : "content") }
        if left.permissions != right.permissions { aspects.append("permissions") }
        if left.owner != right.owner || left.group != right.group { aspects.append("owner") }
        if left.modified != right.modified { aspects.append("time") }
        if left.attributes != right.attributes { aspects.append("attributes") }
        if left.device != right.device { aspects.append("device") }
        if left.linkGroup != right.linkGroup { aspects.append("links") }
        return aspects
    }
}
