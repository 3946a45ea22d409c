// A node of a snapshot's tree: a leaf of entries, or an inner node of children. Its Codable form is for tools;
// `Node+CBOR.swift` is the fast way to the same bytes.

public import FileIO

/// A node of the tree, stored as a chunk.
public enum Node: Hashable, Sendable {
    /// Entries in walk order, at least one except in the tree of nothing.
    case leaf([Entry])
    /// Children in walk order of their first paths, at least one; `level` is 1 right above the leaves.
    case inner(level: Int, children: [Child])

    /// A child of an inner node.
    public struct Child: Hashable, Sendable {
        /// The path of the first entry below the child.
        public var firstPath: RelativePath
        public var id: ChunkID
        /// Entries below the child.
        public var entries: UInt64
        /// Sum of the sizes of the files below the child, in bytes.
        public var bytes: UInt64

        public init(firstPath: RelativePath, id: ChunkID, entries: UInt64, bytes: UInt64) {
            self.firstPath = firstPath
            self.id = id
            self.entries = entries
            self.bytes = bytes
        }
    }

    /// 0 for a leaf; the distance to the leaves for an inner node.
    public var level: Int {
        switch self {
        case .leaf: 0
        case .inner(let level, _): level
        }
    }

    /// Entries below this node.
    public var entryCount: UInt64 {
        switch self {
        case .leaf(let entries): UInt64(entries.count)
        case .inner(_, let children): children.reduce(0) { FormatLimits.sum($0, $1.entries, FormatLimits.entries) }
        }
    }

    /// Sum of the sizes of the files below this node, in bytes, as the format has it: at most 2^63 - 1.
    public var byteCount: UInt64 {
        switch self {
        case .leaf(let entries): entries.reduce(0) { FormatLimits.sum($0, $1.size, FormatLimits.bytes) }
        case .inner(_, let children): children.reduce(0) { FormatLimits.sum($0, $1.bytes, FormatLimits.bytes) }
        }
    }

    /// The path of the first entry below this node; nil for the tree of nothing.
    public var firstPath: RelativePath? {
        switch self {
        case .leaf(let entries): entries.first?.path
        case .inner(_, let children): children.first?.firstPath
        }
    }
}

// In CBOR each path is written against the one before it. In text formats, which are there to be looked at, paths and
// all that entries would leave out because it repeats stand in full.
extension Node: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let isRelative = decoder is CBORValueDecoder
        let level = try fields.decodeIfPresent(Int.self, forKey: .level) ?? 0
        if fields.contains(.children) {
            var items = try fields.nestedUnkeyedContainer(forKey: .children)
            var children = [Child]()
            while !items.isAtEnd {
                let previous = isRelative ? children.last?.firstPath : nil
                children.append(try Child(from: items.superDecoder(), after: previous))
            }
            self = .inner(level: level, children: children)
        } else if fields.contains(.entries) {
            var items = try fields.nestedUnkeyedContainer(forKey: .entries)
            var entries = [Entry]()
            while !items.isAtEnd {
                let context = isRelative ? entries.last.map(Entry.Context.init(after:)) : nil
                entries.append(try Entry(from: items.superDecoder(), after: context ?? .none))
            }
            self = .leaf(entries)
        } else {
            self = .leaf([])
        }
        let node = self
        try decoder.checking { () throws(FormatError) in
            try node.validate(level: level, isEmpty: !fields.contains(.children) && !fields.contains(.entries))
        }
    }

    /// Checks what the fast way checks while it reads.
    private func validate(level: Int, isEmpty: Bool) throws(FormatError) {
        let paths: [RelativePath]
        let weights: [Int]
        switch self {
        case .leaf(let entries):
            guard level == 0 else { throw .malformed("an inner node without children") }
            if isEmpty { return }
            paths = entries.map(\.path)
            weights = entries.map(\.weight)
        case .inner(_, let children):
            guard (1...Node.levelLimit).contains(level) else { throw .malformed("the level of a node") }
            paths = children.map(\.firstPath)
            weights = children.map(\.weight)
        }
        var weight = 0
        for item in weights {
            try Node.checkWeight(before: weight, of: item)
            weight += item
        }
        try Node.checkCount(paths.count)
        guard zip(paths, paths.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .malformed("paths out of order") }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        let isRelative = encoder is CBORValueEncoder
        switch self {
        case .leaf(let entries):
            if entries.isEmpty { return }
            var items = fields.nestedUnkeyedContainer(forKey: .entries)
            var context = Entry.Context.none
            for entry in entries {
                try entry.encode(to: items.superEncoder(), after: context)
                if isRelative { context = Entry.Context(after: entry) }
            }
        case .inner(let level, let children):
            try fields.encode(level, forKey: .level)
            var items = fields.nestedUnkeyedContainer(forKey: .children)
            var previous: RelativePath?
            for child in children {
                try child.encode(to: items.superEncoder(), after: previous)
                if isRelative { previous = child.firstPath }
            }
        }
    }
}

extension Node.Child: Codable {
    public init(from decoder: any Decoder) throws { try self.init(from: decoder, after: nil) }

    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, after: nil) }

    fileprivate init(from decoder: any Decoder, after previous: RelativePath?) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let suffix = try fields.decodeIfPresent(ByteString.self, forKey: .firstPath)?.bytes ?? []
        let shared = try fields.decodeIfPresent(UInt64.self, forKey: .sharedPrefix) ?? 0
        firstPath = try decoder.checking { () throws(FormatError) in
            try suffix.decode { bytes throws(FormatError) in
                try RelativePath(sharing: shared, of: previous, suffix: bytes)
            }
        }
        id = try fields.decode(ChunkID.self, forKey: .id)
        entries = try fields.decodeIfPresent(UInt64.self, forKey: .entries) ?? 0
        bytes = try fields.decodeIfPresent(UInt64.self, forKey: .bytes) ?? 0
        let child = self
        try decoder.checking { () throws(FormatError) in try child.validate() }
    }

    fileprivate func encode(to encoder: any Encoder, after previous: RelativePath?) throws {
        var fields = encoder.container(keyedBy: Field.self)
        let shared = firstPath.sharedPrefix(with: previous)
        if shared < firstPath.bytes.count {
            try fields.encode(ByteString(Array(firstPath.bytes[shared...])), forKey: .firstPath)
        }
        if shared > 0 { try fields.encode(shared, forKey: .sharedPrefix) }
        try fields.encode(id, forKey: .id)
        if entries > 0 { try fields.encode(entries, forKey: .entries) }
        if bytes > 0 { try fields.encode(bytes, forKey: .bytes) }
    }
}
