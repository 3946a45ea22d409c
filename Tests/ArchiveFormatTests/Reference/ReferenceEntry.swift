// A second codec of entries and slice lists, field by field; the tests compare the hand-written one with it.

import FileIO

@testable import ArchiveFormat

extension Entry {
    /// Decodes an entry that was written against the one before it.
    init(from decoder: any Decoder, after context: Context) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let suffix = try fields.decodeIfPresent(ByteString.self, forKey: .path)?.bytes ?? []
        let shared = try fields.decodeIfPresent(UInt64.self, forKey: .sharedPrefix) ?? 0
        let path = try decoder.checking { () throws(FormatError) in
            try suffix.withRawBytes { bytes throws(FormatError) in
                try RelativePath(sharing: shared, of: context.path, suffix: bytes)
            }
        }
        self.init(
            path: path,
            kind: try fields.decodeIfPresent(FileKind.self, forKey: .kind) ?? .file,
            permissions: try fields.decodeIfPresent(UInt16.self, forKey: .permissions) ?? context.permissions,
            owner: try fields.decodeIfPresent(UInt32.self, forKey: .owner) ?? context.owner,
            group: try fields.decodeIfPresent(UInt32.self, forKey: .group) ?? context.group,
            modified: try fields.decodeIfPresent(Timestamp.self, forKey: .modified) ?? Timestamp(seconds: 0),
            content: try Content(from: fields),
            device: try fields.decodeIfPresent(UInt64.self, forKey: .device) ?? 0,
            linkGroup: try fields.decodeIfPresent(UInt64.self, forKey: .linkGroup),
            attributes: try fields.decodeIfPresent([EntryAttribute].self, forKey: .attributes) ?? [],
            isUnstable: try fields.decodeIfPresent(Bool.self, forKey: .isUnstable) ?? false)
        let inode = try fields.decodeIfPresent(UInt64.self, forKey: .inode)
        let changed = try fields.decodeIfPresent(Timestamp.self, forKey: .changed)
        var entry = self
        try decoder.checking { () throws(FormatError) in
            try entry.complete(inode: inode, changed: changed)
            try entry.validate()
        }
        self = entry
    }

    /// Encodes the entry written against the one before it.
    func encode(to encoder: any Encoder, after context: Context) throws {
        var fields = encoder.container(keyedBy: Field.self)
        let shared = path.sharedPrefix(with: context.path)
        if shared < path.bytes.count {
            try fields.encode(ByteString(Array(path.bytes[shared...])), forKey: .path)
        }
        if shared > 0 { try fields.encode(shared, forKey: .sharedPrefix) }
        if kind != .file { try fields.encode(kind, forKey: .kind) }
        if permissions != context.permissions { try fields.encode(permissions, forKey: .permissions) }
        if owner != context.owner { try fields.encode(owner, forKey: .owner) }
        if group != context.group { try fields.encode(group, forKey: .group) }
        if modified != Timestamp(seconds: 0) { try fields.encode(modified, forKey: .modified) }
        try content.encode(to: &fields)
        if device != 0 { try fields.encode(device, forKey: .device) }
        try fields.encodeIfPresent(linkGroup, forKey: .linkGroup)
        if !attributes.isEmpty { try fields.encode(attributes, forKey: .attributes) }
        try fields.encodeIfPresent(signature?.inode, forKey: .inode)
        if let signature, signature.changed != modified { try fields.encode(signature.changed, forKey: .changed) }
        if isUnstable { try fields.encode(true, forKey: .isUnstable) }
    }
}

/// A slice list that is encoded and decoded slice by slice.
struct ReferenceSliceList: Codable {
    let value: SliceList

    init(_ value: SliceList) { self.value = value }

    init(from decoder: any Decoder) throws {
        let slices = try [Slice](from: decoder)
        try decoder.checking { () throws(FormatError) in try Content.validate(slices) }
        value = SliceList(slices: slices)
    }

    func encode(to encoder: any Encoder) throws { try value.slices.encode(to: encoder) }
}

extension EntryAttribute: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let name = try fields.decode(ByteString.self, forKey: .name).bytes
        let small = try fields.decodeIfPresent(ByteString.self, forKey: .value).map { Content.inline($0.bytes) }
        let large = try fields.decodeIfPresent([Slice].self, forKey: .slices).map { Content.slices($0) }
        if small != nil && large != nil { throw decoder.corrupted("two values of one attribute") }
        self.init(name: name, value: small ?? large ?? .none)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(ByteString(name), forKey: .name)
        switch value {
        case .inline(let bytes): try fields.encode(ByteString(bytes), forKey: .value)
        case .slices(let slices): try fields.encode(slices, forKey: .slices)
        default: break
        }
    }
}

extension FileKind: Codable {}
