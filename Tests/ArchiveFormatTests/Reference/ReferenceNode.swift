// A second codec of nodes, field by field; the tests compare the hand-written one with it.

import FileIO

@testable import ArchiveFormat

/// A node that is encoded and decoded field by field.
///
/// Each path is encoded against the one before it.
struct ReferenceNode: Codable {
    let value: Node

    init(_ value: Node) { self.value = value }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Node.Field.self)
        let level = try fields.decodeIfPresent(Int.self, forKey: .level) ?? 0
        if fields.contains(.children) {
            var items = try fields.nestedUnkeyedContainer(forKey: .children)
            var children = [Node.Child]()
            while !items.isAtEnd {
                let previous = children.last?.firstPath
                children.append(try Node.Child(from: items.superDecoder(), after: previous))
            }
            value = .inner(level: level, children: children)
        } else if fields.contains(.entries) {
            var items = try fields.nestedUnkeyedContainer(forKey: .entries)
            var entries = [Entry]()
            while !items.isAtEnd {
                let context = entries.last.map(Entry.Context.init(after:))
                entries.append(try Entry(from: items.superDecoder(), after: context ?? .none))
            }
            value = .leaf(entries)
        } else {
            value = .leaf([])
        }
        let reference = self
        try decoder.checking { () throws(FormatError) in
            try reference.validate(level: level, isEmpty: !fields.contains(.children) && !fields.contains(.entries))
        }
    }

    /// Checks the rules that the hand-written codec checks while it reads.
    private func validate(level: Int, isEmpty: Bool) throws(FormatError) {
        let paths: [RelativePath]
        let weights: [Int]
        switch value {
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

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Node.Field.self)
        switch value {
        case .leaf(let entries):
            if entries.isEmpty { return }
            var items = fields.nestedUnkeyedContainer(forKey: .entries)
            var context = Entry.Context.none
            for entry in entries {
                try entry.encode(to: items.superEncoder(), after: context)
                context = Entry.Context(after: entry)
            }
        case .inner(let level, let children):
            try fields.encode(level, forKey: .level)
            var items = fields.nestedUnkeyedContainer(forKey: .children)
            var previous: RelativePath?
            for child in children {
                try child.encode(to: items.superEncoder(), after: previous)
                previous = child.firstPath
            }
        }
    }
}

extension Node.Child {
    fileprivate init(from decoder: any Decoder, after previous: RelativePath?) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let suffix = try fields.decodeIfPresent(ByteString.self, forKey: .firstPath)?.bytes ?? []
        let shared = try fields.decodeIfPresent(UInt64.self, forKey: .sharedPrefix) ?? 0
        let path = try decoder.checking { () throws(FormatError) in
            try suffix.withRawBytes { bytes throws(FormatError) in
                try RelativePath(sharing: shared, of: previous, suffix: bytes)
            }
        }
        self.init(
            firstPath: path, id: try fields.decode(ChunkID.self, forKey: .id),
            entries: try fields.decodeIfPresent(UInt64.self, forKey: .entries) ?? 0,
            bytes: try fields.decodeIfPresent(UInt64.self, forKey: .bytes) ?? 0)
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
