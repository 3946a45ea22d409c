// Entries of snapshots and their differences as JSON.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO

/// An entry as `show --json` and `diff --json` show it.
struct EntryJSON: Encodable {
    let entry: Entry
    /// The entries of a directory, if requested.
    var children: [Entry]?
    /// The root that the entry is in, if entries of several roots may be shown together.
    var root: ArchivedRoot?

    init(_ entry: Entry, children: [Entry]? = nil, root: ArchivedRoot? = nil) {
        self.entry = entry
        self.children = children
        self.root = root
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        if let root { try object.encode(bytes: root.path.bytes, forKey: .root) }
        try object.encode(bytes: entry.path.bytes, forKey: .path)
        try object.encode(entry.kind.word, forKey: .kind)
        try object.encode(Permissions.octal(entry.permissions), forKey: .permissions)
        try object.encode(entry.owner, forKey: .owner)
        try object.encode(entry.group, forKey: .group)
        try object.encode(entry.modified, forKey: .modified)
        if entry.kind == .file { try object.encode(entry.size, forKey: .size) }
        if case .linkTarget(let target) = entry.content { try object.encode(bytes: target, forKey: .target) }
        if entry.device != 0 { try object.encode(entry.device, forKey: .device) }
        try object.encodeIfPresent(entry.linkGroup, forKey: .linkGroup)
        if !entry.attributes.isEmpty {
            try object.encode(entry.attributes.map(AttributeJSON.init), forKey: .attributes)
        }
        if entry.isUnstable { try object.encode(true, forKey: .unstable) }
        try object.encodeIfPresent(children?.map { EntryJSON($0) }, forKey: .entries)
    }
}

/// An extended attribute; its value is in base64, because it may be any bytes, and left out if it is stored in chunks.
private struct AttributeJSON: Encodable {
    let attribute: EntryAttribute

    init(_ attribute: EntryAttribute) { self.attribute = attribute }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: attribute.name, forKey: .name)
        switch attribute.value {
        case .inline(let bytes): try object.encode(Base64.string(bytes), forKey: .value)
        case .none: try object.encode("", forKey: .value)
        default: break
        }
        try object.encode(attribute.value.size, forKey: .size)
    }
}

/// A difference as `diff --json` shows it.
struct DifferenceJSON: Encodable {
    let difference: Difference

    init(_ difference: Difference) { self.difference = difference }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: difference.path.bytes, forKey: .path)
        try object.encode(difference.formerPath == nil ? difference.kind.rawValue : "renamed", forKey: .change)
        if let former = difference.formerPath { try object.encode(bytes: former.bytes, forKey: .otherPath) }
        try object.encode(difference.aspects, forKey: .aspects)
        try object.encodeIfPresent(difference.left.map { EntryJSON($0) }, forKey: .left)
        try object.encodeIfPresent(difference.right.map { EntryJSON($0) }, forKey: .right)
    }
}

/// The number of differences and the sizes before and after.
struct DifferenceStatistics: Encodable {
    var added = 0
    var modified = 0
    var removed = 0
    var renamed = 0
    /// The sizes of the differing files or states, before and after.
    var leftBytes: UInt64 = 0
    var rightBytes: UInt64 = 0

    var text: String {
        "\(added) added, \(modified) modified, \(removed) removed"
            + (renamed > 0 ? ", \(renamed) renamed" : "")
            + ": \(ByteCount.text(leftBytes)) became \(ByteCount.text(rightBytes))"
    }

    mutating func count(_ difference: Difference) {
        switch difference.kind {
        case _ where difference.formerPath != nil: renamed += 1
        case .added: added += 1
        case .modified: modified += 1
        case .removed: removed += 1
        }
        leftBytes = FormatLimits.sum(leftBytes, difference.left?.size ?? 0, .max)
        rightBytes = FormatLimits.sum(rightBytes, difference.right?.size ?? 0, .max)
    }
}

/// A differing field as `diff --json` shows it.
struct StateDifferenceJSON: Encodable {
    let difference: StateDifference

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(difference.path, forKey: .path)
        try object.encode(difference.change.sign.word, forKey: .change)
        try object.encodeIfPresent(difference.old, forKey: .left)
        try object.encodeIfPresent(difference.new, forKey: .right)
    }
}
