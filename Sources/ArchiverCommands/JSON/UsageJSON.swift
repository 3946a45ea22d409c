// The space that the archive uses, as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The output of `usage --json`.
struct UsageJSON: Encodable {
    let usage: ArchiveUsage
    let limit: Int

    init(_ usage: ArchiveUsage, limit: Int) {
        self.usage = usage
        self.limit = limit
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(usage.items.prefix(limit).map(UsageItemJSON.init), forKey: .items)
        try object.encode(usage.room.usedBytes, forKey: .usedBytes)
        try object.encode(usage.room.reservedBytes, forKey: .reservedBytes)
        try object.encode(usage.unneededBytes, forKey: .unneededBytes)
        try object.encode(usage.thinning.snapshots, forKey: .thinningSnapshots)
        try object.encode(usage.thinning.bytes, forKey: .thinningBytes)
        try object.encode(usage.dailyBytes, forKey: .dailyBytes)
        try object.encode(usage.daysLeft, forKey: .daysLeft)
    }
}

/// The bytes that one owner uses.
private struct UsageItemJSON: Encodable {
    let item: ArchiveUsage.Item

    init(_ item: ArchiveUsage.Item) { self.item = item }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        let (of, path): (String, [UInt8]?) =
            switch item.owner {
            case .root(let root): ("root", root.path.bytes)
            case .path(let path, let isDirectory): (isDirectory ? "directory" : "file", path.bytes)
            case .states: ("states", nil)
            case .elsewhere: ("elsewhere", nil)
            case .shared: ("shared", nil)
            case .records: ("records", nil)
            }
        try object.encode(of, forKey: .of)
        if let path { try object.encode(bytes: path, forKey: .path) } else { try object.encodeNil(forKey: .path) }
        try object.encode(item.ownBytes, forKey: .ownBytes)
        try object.encode(item.versions, forKey: .versions)
    }
}

/// The bytes that the snapshots of one day added.
struct DailyUsageJSON: Encodable {
    let usage: DailyUsage

    init(_ usage: DailyUsage) { self.usage = usage }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(UsageText.day(usage.day), forKey: .day)
        try object.encode(usage.snapshots, forKey: .snapshots)
        try object.encode(usage.storedBytes, forKey: .storedBytes)
    }
}
