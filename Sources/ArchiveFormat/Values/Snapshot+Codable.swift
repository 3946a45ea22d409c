// Snapshots as Codable values, for programs, and for people who look at the raw record. The archive's own codec, in
// `Snapshot+CBOR.swift`, is written by hand because it is several times as fast; a test compares the two.

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
            isAside: try fields.decodeIfPresent(Bool.self, forKey: .isAside) ?? false,
            directory: try fields.decodeIfPresent(ChunkID.self, forKey: .directory))
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
        try fields.encodeIfPresent(directory, forKey: .directory)
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
                throw decoder.corrupted("\(number) is not the number of an owner or a group")
            }
            return (number, name)
        }
        names = Dictionary(uniqueKeysWithValues: pairs)
    }

    func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: names.map { (Int($0), $1) }).encode(to: encoder)
    }
}
