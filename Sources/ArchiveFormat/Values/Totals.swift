// The counts in a snapshot: of its tree, and of its changes.

/// Counts of a tree's entries, and the sum of its sizes.
public struct Totals: Hashable, Sendable {
    /// Regular files.
    public var files: UInt64
    /// Directories, the root included.
    public var directories: UInt64
    /// Symbolic links, FIFOs, sockets and devices.
    public var others: UInt64
    /// Sum of the files' sizes.
    public var bytes: UInt64

    /// Counts of entries, and the bytes of all files.
    package init(files: UInt64 = 0, directories: UInt64 = 0, others: UInt64 = 0, bytes: UInt64 = 0) {
        self.files = files
        self.directories = directories
        self.others = others
        self.bytes = bytes
    }
}

/// How many paths differ from the parent snapshot.
public struct ChangeCounts: Hashable, Sendable {
    /// Paths that were added.
    public var added: UInt64
    /// Paths whose content or metadata changed.
    public var modified: UInt64
    /// Paths that were removed.
    public var removed: UInt64

    /// Counts of changed paths.
    package init(added: UInt64 = 0, modified: UInt64 = 0, removed: UInt64 = 0) {
        self.added = added
        self.modified = modified
        self.removed = removed
    }
}

// MARK: - CBOR

extension Totals {
    /// The fields of totals.
    ///
    /// Numbers are part of the archive format.
    enum CodingKeys: Int, FieldKey {
        case files = 0
        case directories = 1
        case others = 2
        case bytes = 3
    }

    func write(to writer: inout CBORWriter) {
        writer.counts([files, directories, others, bytes])
    }

    init(from reader: inout CBORReader) throws(FormatError) {
        self.init()
        var fields = try reader.openFields(CodingKeys.self, depth: 1)
        while let field = try fields.next(&reader) {
            let count = try reader.present(reader.unsigned())
            switch field {
            case .files: files = count
            case .directories: directories = count
            case .others: others = count
            case .bytes: bytes = count
            }
        }
        guard self != Totals() || fields.hasUnknown else { throw .malformed("a default value that is written out") }
    }
}

extension ChangeCounts {
    /// The fields of change counts.
    ///
    /// Numbers are part of the archive format.
    enum CodingKeys: Int, FieldKey {
        case added = 0
        case modified = 1
        case removed = 2
    }

    func write(to writer: inout CBORWriter) {
        writer.counts([added, modified, removed])
    }

    init(from reader: inout CBORReader) throws(FormatError) {
        self.init()
        var fields = try reader.openFields(CodingKeys.self, depth: 1)
        while let field = try fields.next(&reader) {
            let count = try reader.present(reader.unsigned())
            switch field {
            case .added: added = count
            case .modified: modified = count
            case .removed: removed = count
            }
        }
        guard self != ChangeCounts() || fields.hasUnknown else {
            throw .malformed("a default value that is written out")
        }
    }
}

extension CBORWriter {
    /// Appends a map from the index of each count to the count, without zeros.
    fileprivate mutating func counts(_ counts: [UInt64]) {
        map(count: counts.count { $0 > 0 })
        for (index, count) in counts.enumerated() where count > 0 {
            unsigned(UInt64(index))
            unsigned(count)
        }
    }
}

// MARK: - Codable

extension Totals: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            files: try fields.decodeIfPresent(UInt64.self, forKey: .files) ?? 0,
            directories: try fields.decodeIfPresent(UInt64.self, forKey: .directories) ?? 0,
            others: try fields.decodeIfPresent(UInt64.self, forKey: .others) ?? 0,
            bytes: try fields.decodeIfPresent(UInt64.self, forKey: .bytes) ?? 0)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if files != 0 { try fields.encode(files, forKey: .files) }
        if directories != 0 { try fields.encode(directories, forKey: .directories) }
        if others != 0 { try fields.encode(others, forKey: .others) }
        if bytes != 0 { try fields.encode(bytes, forKey: .bytes) }
    }
}

extension ChangeCounts: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            added: try fields.decodeIfPresent(UInt64.self, forKey: .added) ?? 0,
            modified: try fields.decodeIfPresent(UInt64.self, forKey: .modified) ?? 0,
            removed: try fields.decodeIfPresent(UInt64.self, forKey: .removed) ?? 0)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if added != 0 { try fields.encode(added, forKey: .added) }
        if modified != 0 { try fields.encode(modified, forKey: .modified) }
        if removed != 0 { try fields.encode(removed, forKey: .removed) }
    }
}
