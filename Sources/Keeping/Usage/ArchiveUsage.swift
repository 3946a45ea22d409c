// The answer to what takes the space in an archive.

public import FileIO
public import Roots

/// How the bytes of an archive are used.
public struct ArchiveUsage: Sendable {
    /// How to split the bytes.
    public enum Grouping: Sendable, Hashable {
        /// By root; saved states count as one.
        case root
        /// By the entries directly in a directory of a root.
        ///
        /// - Parameters:
        ///   - root: the root whose snapshots are counted.
        ///   - directory: relative to the root.
        case path(root: ArchivedRoot, directory: RelativePath)
    }

    /// The user of some bytes.
    public enum Owner: Sendable, Hashable {
        /// A root.
        case root(ArchivedRoot)
        /// A file, or a directory with everything in it; the path is relative to the root.
        case path(RelativePath, isDirectory: Bool)
        /// The saved states of programs.
        case states
        /// Anything outside the directory asked for: the rest of the root, other roots, saved states.
        case elsewhere
        /// Chunks that several owners use.
        case shared
        /// Names and metadata of entries, and the snapshots themselves.
        case records
    }

    /// The bytes of one owner.
    public struct Item: Sendable, Hashable {
        /// Whose bytes are counted.
        public let owner: Owner
        /// Bytes in segments that no other owner needs.
        public let ownBytes: UInt64
        /// How many versions of files it has.
        public let versions: Int
    }

    /// The owners, the largest first.
    public let items: [Item]
    /// Bytes in segments that nothing listed needs, those of forgotten snapshots included.
    public let unneededBytes: UInt64
    /// The room that the archive uses and may use.
    public let room: ArchiveRoom
    /// How many snapshots `RetentionPolicy.usual` would forget, and the bytes that this would free.
    public let thinning: (snapshots: Int, bytes: UInt64)
    /// The growth of the archive in bytes per day, over the last 30 days or since its first snapshot.
    public let dailyBytes: UInt64

    /// In how many days the budget or the disk is used up at that rate; nil if the archive does not grow, and for a
    /// replica.
    public var daysLeft: UInt64? {
        guard dailyBytes > 0, room.totalBytes < .max else { return nil }
        let least = room.budget.minFree(of: room.totalBytes)
        let ofDisk = room.freeBytes > least ? room.freeBytes - least : 0
        let ofSize = room.budget.maxSize.map { $0 > room.usedBytes ? $0 - room.usedBytes : 0 } ?? .max
        return min(ofDisk, ofSize) / dailyBytes
    }
}

/// What the snapshots of one day added to an archive.
public struct DailyUsage: Sendable, Hashable {
    /// The start of the day, in UTC.
    public let day: Timestamp
    /// The number of snapshots made on that day.
    public let snapshots: Int
    /// The bytes that they added when they were made.
    public let storedBytes: UInt64
}
