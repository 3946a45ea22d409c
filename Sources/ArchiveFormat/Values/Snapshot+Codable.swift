// Snapshots as Codable values, for tools; `Snapshot+CBOR.swift` is the fast way to the same bytes.

internal import Exclusions
internal import FileIO

extension Snapshot: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init(
            time: try fields.decode(Timestamp.self, forKey: .time),
            rootPath: try fields.decode(ByteString.self, forKey: .rootPath).bytes,
            host: try fields.decodeIfPresent(String.self, forKey: .host) ?? "",
            cause: try fields.decode(Cause.self, forKey: .cause),
            label: try fields.decodeIfPresent(String.self, forKey: .label),
            parent: try fields.decodeIfPresent(SnapshotID.self, forKey: .parent),
            tree: try fields.decode(ChunkID.self, forKey: .tree),
            totals: try fields.decodeIfPresent(Totals.self, forKey: .totals) ?? Totals(),
            changes: try fields.decodeIfPresent(ChangeCounts.self, forKey: .changes) ?? ChangeCounts(),
            changedPaths: try fields.decodeIfPresent([ChangedPath].self, forKey: .changedPaths) ?? [],
            problems: try fields.decodeIfPresent([Problem].self, forKey: .problems) ?? [],
            storedBytes: try fields.decodeIfPresent(UInt64.self, forKey: .storedBytes) ?? 0,
            ownerNames: try fields.decodeIfPresent(NameTable.self, forKey: .ownerNames)?.names ?? [:],
            groupNames: try fields.decodeIfPresent(NameTable.self, forKey: .groupNames)?.names ?? [:],
            exclusions: try fields.decodeIfPresent(ExclusionRules.self, forKey: .exclusions) ?? ExclusionRules(),
            sequence: try fields.decode(UInt64.self, forKey: .sequence),
            machine: try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown,
            isAside: try fields.decodeIfPresent(Bool.self, forKey: .isAside) ?? false)
        let snapshot = self
        try decoder.checking { () throws(FormatError) in try snapshot.validate() }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(ByteString(rootPath), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        try fields.encode(cause, forKey: .cause)
        try fields.encodeIfPresent(label, forKey: .label)
        try fields.encodeIfPresent(parent, forKey: .parent)
        try fields.encode(tree, forKey: .tree)
        if totals != Totals() { try fields.encode(totals, forKey: .totals) }
        if changes != ChangeCounts() { try fields.encode(changes, forKey: .changes) }
        if !changedPaths.isEmpty { try fields.encode(changedPaths, forKey: .changedPaths) }
        if !problems.isEmpty { try fields.encode(problems, forKey: .problems) }
        if storedBytes != 0 { try fields.encode(storedBytes, forKey: .storedBytes) }
        if !ownerNames.isEmpty { try fields.encode(NameTable(names: ownerNames), forKey: .ownerNames) }
        if !groupNames.isEmpty { try fields.encode(NameTable(names: groupNames), forKey: .groupNames) }
        if exclusions != ExclusionRules() { try fields.encode(exclusions, forKey: .exclusions) }
        try fields.encode(sequence, forKey: .sequence)
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
        if isAside { try fields.encode(true, forKey: .isAside) }
    }
}

extension Cause: Codable {}

extension ChangedPath.Change: Codable {
    /// The change of a number; one that came after this program is a change all the same.
    init(orModified number: UInt8) { self = Self(rawValue: number) ?? .modified }

    public init(from decoder: any Decoder) throws {
        self.init(orModified: try decoder.singleValueContainer().decode(UInt8.self))
    }
}

extension Problem.Reason: Codable {
    /// The reason of a number; one that came after this program also says that the path was not captured as it is.
    init(orUnreadable number: UInt8) { self = Self(rawValue: number) ?? .unreadable }

    public init(from decoder: any Decoder) throws {
        self.init(orUnreadable: try decoder.singleValueContainer().decode(UInt8.self))
    }
}

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

extension Problem: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            reason: try fields.decodeIfPresent(Reason.self, forKey: .reason) ?? .unreadable,
            detail: try fields.decodeIfPresent(String.self, forKey: .detail) ?? "")
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        if reason != .unreadable { try fields.encode(reason, forKey: .reason) }
        if !detail.isEmpty { try fields.encode(detail, forKey: .detail) }
    }
}

/// Names by number as a map; the standard library would write an array in an order that differs from run to run.
private struct NameTable: Codable {
    let names: [UInt32: String]

    init(names: [UInt32: String]) { self.names = names }

    init(from decoder: any Decoder) throws {
        let table = try [Int: String](from: decoder)
        let pairs = try table.map { number, name in
            guard let number = UInt32(exactly: number) else {
                throw decoder.corrupted("\(number) is no owner or group")
            }
            return (number, name)
        }
        names = Dictionary(uniqueKeysWithValues: pairs)
    }

    func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: names.map { (Int($0), $1) }).encode(to: encoder)
    }
}
