// Entries to CBOR and back.

internal import FileIO

extension Entry {
    /// Appends the entry, encoded relative to the one before it.
    func write(to writer: inout CBORWriter, after context: Context) {
        let map = writer.beginSmallMap()
        var count = 0

        let shared = path.sharedPrefix(with: context.path)
        if shared < path.bytes.count {
            count += 1
            writer.key(Field.path)
            path.bytes.withUnsafeBytes { writer.byteString(UnsafeRawBufferPointer(rebasing: $0[shared...])) }
        }
        func number<Number: FixedWidthInteger>(_ field: Field, _ value: Number, unless omitted: Number = 0) {
            if value == omitted { return }
            count += 1
            writer.key(field)
            writer.unsigned(UInt64(truncatingIfNeeded: value))
        }
        number(.sharedPrefix, shared)
        number(.kind, kind.rawValue)
        number(.permissions, permissions, unless: context.permissions)
        number(.owner, owner, unless: context.owner)
        number(.group, group, unless: context.group)
        if modified != Timestamp(seconds: 0) {
            count += 1
            writer.key(Field.modified)
            writer.timestamp(modified)
        }
        count += content.write(to: &writer)
        number(.device, device)
        if let linkGroup {
            count += 1
            writer.key(Field.linkGroup)
            writer.unsigned(linkGroup)
        }
        if !attributes.isEmpty {
            count += 1
            writer.key(Field.attributes)
            writer.array(count: attributes.count)
            for attribute in attributes { attribute.write(to: &writer) }
        }
        if let signature {
            count += 1
            writer.key(Field.inode)
            writer.unsigned(signature.inode)
            if signature.changed != modified {
                count += 1
                writer.key(Field.changed)
                writer.timestamp(signature.changed)
            }
        }
        if isUnstable {
            count += 1
            writer.key(Field.isUnstable)
            writer.boolean(true)
        }
        if !later.isEmpty {
            count += laterFieldCount
            writer.encoded(later)
        }
        writer.endSmallMap(map, count: count)
    }

    /// Reads an entry that is encoded relative to the one before it.
    init(from reader: inout CBORReader, after context: Context) throws(FormatError) {
        var suffix = UnsafeRawBufferPointer(start: nil, count: 0)
        var shared: UInt64 = 0
        var inode: UInt64?
        var changed: Timestamp?
        self.init(
            path: .root, kind: .file, permissions: context.permissions, owner: context.owner, group: context.group,
            modified: Timestamp(seconds: 0))

        var fields = try reader.fields(Field.self)
        while let field = try fields.next(&reader, orPassing: Entry.firstLaterKey, into: &later) {
            switch field {
            case .path: suffix = try reader.presentByteString()
            case .sharedPrefix: shared = try reader.present(reader.unsigned())
            case .kind:
                guard let kind = FileKind(rawValue: try reader.present(reader.unsigned(UInt8.self))) else {
                    throw .malformed("the kind of an entry")
                }
                self.kind = kind
            case .permissions: permissions = try Entry.changed(reader.unsigned(UInt16.self), from: context.permissions)
            case .owner: owner = try Entry.changed(reader.unsigned(UInt32.self), from: context.owner)
            case .group: group = try Entry.changed(reader.unsigned(UInt32.self), from: context.group)
            case .modified:
                modified = try reader.timestamp()
                guard modified != Timestamp(seconds: 0) else { throw .malformed("a default value that is written out") }
            case .inline, .slices, .sliceLists, .target:
                guard case .none = content else { throw .malformed("two contents of one entry") }
                content = try Content(from: &reader, field: field)
            case .device: device = try reader.present(reader.unsigned())
            case .linkGroup: linkGroup = try reader.unsigned()
            case .attributes: attributes = try EntryAttribute.read(from: &reader)
            case .inode: inode = try reader.unsigned()
            case .changed: changed = try reader.timestamp()
            case .isUnstable:
                isUnstable = try reader.boolean()
                guard isUnstable else { throw .malformed("a default value that is written out") }
            }
        }
        guard later.isEmpty || laterFieldCount <= Entry.laterFieldsLimit else {
            throw .malformed("an entry with too many fields of later programs")
        }
        path = try RelativePath(sharing: shared, of: context.path, suffix: suffix)
        try complete(inode: inode, changed: changed)
        try validate()
    }

    private var laterFieldCount: Int {
        later.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            var count = 0
            while reader.position < bytes.count, (try? reader.unsigned()) != nil, (try? reader.skip(depth: 3)) != nil {
                count += 1
            }
            return count
        }
    }

    /// Returns `value`, but refuses one that equals `previous` and should have been left out.
    private static func changed<Number: FixedWidthInteger>(
        _ value: Number, from previous: Number
    ) throws(FormatError) -> Number {
        guard value != previous else { throw .malformed("a value that repeats the entry before it") }
        return value
    }
}
