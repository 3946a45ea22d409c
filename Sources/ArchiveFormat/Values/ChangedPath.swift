// A path in the list of changes that a snapshot holds.

public import FileIO

/// A path that differs between two snapshots, and how.
public struct ChangedPath: Hashable, Sendable {
    /// How the path differs.
    ///
    /// Raw values are part of the archive format.
    public enum Change: UInt8, Sendable, Hashable {
        /// It is new.
        case added = 0
        /// Its content or its metadata changed.
        case modified = 1
        /// It is gone.
        case removed = 2
    }

    /// The path below the root.
    public var path: RelativePath
    /// What happened to it.
    public var change: Change

    /// A path and what happened to it.
    package init(path: RelativePath, change: Change) {
        self.path = path
        self.change = change
    }
}

// MARK: - CBOR

extension ChangedPath {
    /// The fields of a changed path.
    ///
    /// Numbers are part of the archive format.
    enum CodingKeys: Int, FieldKey {
        case path = 0
        case change = 1
    }

    func write(to writer: inout CBORWriter) {
        let map = writer.beginSmallMap()
        let paths = writer.path(path, CodingKeys.path)
        if change != .added {
            writer.key(CodingKeys.change)
            writer.unsigned(UInt64(change.rawValue))
        }
        writer.endSmallMap(map, count: paths + (change == .added ? 0 : 1))
    }

    init(from reader: inout CBORReader) throws(FormatError) {
        self.init(path: .root, change: .added)
        var fields = try reader.openFields(CodingKeys.self, depth: 2)
        while let field = try fields.next(&reader) {
            switch field {
            case .path: path = try reader.path()
            case .change:
                change = Change(orModified: try reader.present(reader.unsigned(UInt8.self)))
            }
        }
    }
}

extension ChangedPath.Change {
    /// The change with this number; a number of a later program counts as a modification.
    init(orModified number: UInt8) { self = Self(rawValue: number) ?? .modified }
}

// MARK: - Codable

extension ChangedPath: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            change: try fields.decodeIfPresent(Change.self, forKey: .change) ?? .added)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        if change != .added { try fields.encode(change, forKey: .change) }
    }
}

extension ChangedPath.Change: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(orModified: try decoder.singleValueContainer().decode(UInt8.self))
    }
}
