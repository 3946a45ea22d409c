// Snapshots field by field: a second codec, to compare the hand-written one with.

import Exclusions
import FileIO

@testable import ArchiveFormat

struct ReferenceSnapshot: Codable {
    let value: Snapshot

    init(_ value: Snapshot) { self.value = value }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Snapshot.Field.self)
        value = Snapshot(
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
        let snapshot = value
        try decoder.checking { () throws(FormatError) in try snapshot.validate() }
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Snapshot.Field.self)
        try fields.encode(value.time, forKey: .time)
        try fields.encode(ByteString(value.rootPath), forKey: .rootPath)
        if !value.host.isEmpty { try fields.encode(value.host, forKey: .host) }
        try fields.encode(value.cause, forKey: .cause)
        try fields.encodeIfPresent(value.label, forKey: .label)
        try fields.encodeIfPresent(value.parent, forKey: .parent)
        try fields.encode(value.tree, forKey: .tree)
        if value.totals != Totals() { try fields.encode(value.totals, forKey: .totals) }
        if value.changes != ChangeCounts() { try fields.encode(value.changes, forKey: .changes) }
        if !value.changedPaths.isEmpty { try fields.encode(value.changedPaths, forKey: .changedPaths) }
        if !value.problems.isEmpty { try fields.encode(value.problems, forKey: .problems) }
        if value.storedBytes != 0 { try fields.encode(value.storedBytes, forKey: .storedBytes) }
        if !value.ownerNames.isEmpty { try fields.encode(NameTable(names: value.ownerNames), forKey: .ownerNames) }
        if !value.groupNames.isEmpty { try fields.encode(NameTable(names: value.groupNames), forKey: .groupNames) }
        if value.exclusions != ExclusionRules() { try fields.encode(value.exclusions, forKey: .exclusions) }
        try fields.encode(value.sequence, forKey: .sequence)
        if value.machine != .unknown { try fields.encode(value.machine, forKey: .machine) }
        if value.isAside { try fields.encode(true, forKey: .isAside) }
    }
}

extension Totals: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            files: try fields.decodeIfPresent(UInt64.self, forKey: .files) ?? 0,
            directories: try fields.decodeIfPresent(UInt64.self, forKey: .directories) ?? 0,
            others: try fields.decodeIfPresent(UInt64.self, forKey: .others) ?? 0,
            bytes: try fields.decodeIfPresent(UInt64.self, forKey: .bytes) ?? 0)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if files != 0 { try fields.encode(files, forKey: .files) }
        if directories != 0 { try fields.encode(directories, forKey: .directories) }
        if others != 0 { try fields.encode(others, forKey: .others) }
        if bytes != 0 { try fields.encode(bytes, forKey: .bytes) }
    }
}

extension ChangeCounts: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            added: try fields.decodeIfPresent(UInt64.self, forKey: .added) ?? 0,
            modified: try fields.decodeIfPresent(UInt64.self, forKey: .modified) ?? 0,
            removed: try fields.decodeIfPresent(UInt64.self, forKey: .removed) ?? 0)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if added != 0 { try fields.encode(added, forKey: .added) }
        if modified != 0 { try fields.encode(modified, forKey: .modified) }
        if removed != 0 { try fields.encode(removed, forKey: .removed) }
    }
}

extension ChangedPath: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            change: try fields.decodeIfPresent(Change.self, forKey: .change) ?? .added)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        if change != .added { try fields.encode(change, forKey: .change) }
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

extension Cause: Codable {}

extension ChangedPath.Change: Codable {
    init(from decoder: any Decoder) throws {
        self.init(orModified: try decoder.singleValueContainer().decode(UInt8.self))
    }
}
