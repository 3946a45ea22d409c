// A node of a snapshot's tree: a leaf of entries, or an inner node of children; and its bytes.

package import FileIO

/// A node of the tree, stored as a chunk.
package enum Node: Hashable, Sendable {
    /// Entries in walk order; only the empty tree has none.
    case leaf([Entry])
    /// Children in walk order of their first paths, at least one; `level` is 1 directly above the leaves.
    case inner(level: Int, children: [Child])

    /// A child of an inner node.
    package struct Child: Hashable, Sendable {
        /// The path of the first entry below the child.
        package var firstPath: RelativePath
        /// The id of the child's chunk.
        package var id: ChunkID
        /// Entries below the child.
        package var entries: UInt64
        /// Sum of the sizes of the files below the child, in bytes.
        package var bytes: UInt64

        /// A child of an inner node.
        package init(firstPath: RelativePath, id: ChunkID, entries: UInt64, bytes: UInt64) {
            self.firstPath = firstPath
            self.id = id
            self.entries = entries
            self.bytes = bytes
        }
    }

    /// 0 for a leaf; the distance to the leaves for an inner node.
    package var level: Int {
        switch self {
        case .leaf: 0
        case .inner(let level, _): level
        }
    }

    /// Entries below this node.
    package var entryCount: UInt64 {
        switch self {
        case .leaf(let entries): UInt64(entries.count)
        case .inner(_, let children): children.reduce(0) { FormatLimits.sum($0, $1.entries, FormatLimits.entries) }
        }
    }

    /// Sum of the sizes of the files below this node in bytes, capped at 2^63 - 1 as the format requires.
    package var byteCount: UInt64 {
        switch self {
        // By index: an iterator would copy each entry.
        case .leaf(let entries):
            entries.indices.reduce(0) { FormatLimits.sum($0, entries[$1].size, FormatLimits.bytes) }
        case .inner(_, let children): children.reduce(0) { FormatLimits.sum($0, $1.bytes, FormatLimits.bytes) }
        }
    }

    /// The path of the first entry below this node; nil for the empty tree.
    package var firstPath: RelativePath? {
        switch self {
        case .leaf(let entries): entries.first?.path
        case .inner(_, let children): children.first?.firstPath
        }
    }
}

// MARK: - CBOR

extension Node {
    /// The fields of a node.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        /// Left out in a leaf.
        case level = 0
        case entries = 1
        case children = 2
    }

    /// The highest level of a node; trees of 2^48 entries have about 9 levels.
    package static let levelLimit = 63

    /// The node as a chunk's bytes.
    package func encoded() -> [UInt8] {
        switch self {
        case .leaf(let entries):
            var writer = CBORWriter(capacity: 8 + entries.count * 112)
            if entries.isEmpty {
                writer.map(count: 0)
                return writer.bytes
            }
            writer.map(count: 1)
            writer.key(Field.entries)
            writer.array(count: entries.count)
            var context = Entry.Context.none
            for entry in entries {
                entry.write(to: &writer, after: context)
                context = Entry.Context(after: entry)
            }
            return writer.bytes
        case .inner(let level, let children):
            var writer = CBORWriter(capacity: 8 + children.count * 80)
            writer.map(count: 2)
            writer.key(Field.level)
            writer.unsigned(UInt64(level))
            writer.key(Field.children)
            writer.array(count: children.count)
            var previous: RelativePath?
            for child in children {
                child.write(to: &writer, after: previous)
                previous = child.firstPath
            }
            return writer.bytes
        }
    }

    /// Reads a node.
    ///
    /// - Throws: `FormatError` for any bytes that `encoded()` does not return for a valid node.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var level = 0
        var entries = [Entry]()
        var children: [Child]?
        var fields = try reader.fields(Field.self)
        while let field = try fields.next(&reader) {
            switch field {
            case .level: level = Int(try reader.present(reader.unsigned(UInt8.self)))
            case .entries: entries = try Node.entries(from: &reader)
            case .children: children = try Node.children(from: &reader)
            }
        }
        try reader.finish()
        if let children {
            guard level <= Node.levelLimit else { throw .malformed("the level of a node") }
            guard level > 0, entries.isEmpty else { throw .malformed("a node that is both leaf and inner node") }
            self = .inner(level: level, children: children)
        } else {
            guard level == 0 else { throw .malformed("an inner node without children") }
            self = .leaf(entries)
        }
    }

    /// Reads a node.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.withRawBytes(Node.init(decoding:))
    }

    private static func entries(from reader: inout CBORReader) throws(FormatError) -> [Entry] {
        let count = try reader.array()
        try checkCount(count)
        var entries = [Entry]()
        entries.reserveCapacity(count)
        var context = Entry.Context.none
        var weight = 0
        for _ in 0..<count {
            let entry = try Entry(from: &reader, after: context)
            try checkWeight(before: weight, of: entry.weight)
            weight += entry.weight
            context = Entry.Context(after: entry)
            entries.append(entry)
        }
        return entries
    }

    private static func children(from reader: inout CBORReader) throws(FormatError) -> [Child] {
        let count = try reader.array()
        try checkCount(count)
        var children = [Child]()
        children.reserveCapacity(count)
        var weight = 0
        for _ in 0..<count {
            let child = try Child(from: &reader, after: children.last?.firstPath)
            try checkWeight(before: weight, of: child.weight)
            weight += child.weight
            children.append(child)
        }
        return children
    }

    /// Refuses an item if the node should have ended before it, or if the item alone is too heavy.
    ///
    /// Without this check a node of a few kilobytes could have 33 MB of paths, because paths share their bytes.
    static func checkWeight(before: Int, of item: Int) throws(FormatError) {
        guard before < TreeShape.fullWeight, item <= TreeShape.maximumEntryWeight else {
            throw .malformed("the weight of a node")
        }
    }

    /// Checks the number of entries or children.
    static func checkCount(_ count: Int) throws(FormatError) {
        guard (1...TreeShape.maximumEntries).contains(count) else { throw .malformed("the size of a node") }
    }
}

extension Node.Child {
    /// The fields of a child.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        /// The first path without the bytes that it shares with the first path of the child before.
        case firstPath = 0
        case sharedPrefix = 1
        case id = 2
        case entries = 3
        case bytes = 4
    }

    fileprivate func write(to writer: inout CBORWriter, after previous: RelativePath?) {
        let map = writer.beginSmallMap()
        var count = 1
        let shared = firstPath.sharedPrefix(with: previous)
        if shared < firstPath.bytes.count {
            count += 1
            writer.key(Field.firstPath)
            firstPath.bytes.withUnsafeBytes { writer.byteString(UnsafeRawBufferPointer(rebasing: $0[shared...])) }
        }
        if shared > 0 {
            count += 1
            writer.key(Field.sharedPrefix)
            writer.unsigned(UInt64(shared))
        }
        writer.key(Field.id)
        writer.chunkID(id)
        if entries > 0 {
            count += 1
            writer.key(Field.entries)
            writer.unsigned(entries)
        }
        if bytes > 0 {
            count += 1
            writer.key(Field.bytes)
            writer.unsigned(bytes)
        }
        writer.endSmallMap(map, count: count)
    }

    fileprivate init(from reader: inout CBORReader, after previous: RelativePath?) throws(FormatError) {
        var suffix = UnsafeRawBufferPointer(start: nil, count: 0)
        var shared: UInt64 = 0
        var id: ChunkID?
        var entries: UInt64 = 0
        var bytes: UInt64 = 0
        var fields = try reader.fields(Field.self)
        while let field = try fields.next(&reader) {
            switch field {
            case .firstPath: suffix = try reader.presentByteString()
            case .sharedPrefix: shared = try reader.present(reader.unsigned())
            case .id: id = try reader.chunkID()
            case .entries: entries = try reader.present(reader.unsigned())
            case .bytes: bytes = try reader.present(reader.unsigned())
            }
        }
        guard let id else { throw .malformed("a child without an id") }
        let path = try RelativePath(sharing: shared, of: previous, suffix: suffix)
        self.init(firstPath: path, id: id, entries: entries, bytes: bytes)
        try validate()
    }

    func validate() throws(FormatError) {
        try FormatLimits.check(entries, FormatLimits.entries, "a number of entries")
        try FormatLimits.check(bytes, FormatLimits.bytes, "a sum of sizes")
    }
}
