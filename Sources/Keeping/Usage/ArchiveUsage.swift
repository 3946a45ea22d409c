// What takes the space in an archive.

public import FileIO
public import Roots

/// What the bytes of an archive are for.
public struct ArchiveUsage: Sendable {
    /// How the bytes are told apart.
    public enum Grouping: Sendable, Hashable {
        /// By root, and by what programs have saved.
        case root
        /// By what is directly in a directory of a root.
        ///
        /// - Parameters:
        ///   - root: whose snapshots count.
        ///   - directory: relative to the root.
        case path(root: ArchivedRoot, directory: RelativePath)
    }

    /// Whose bytes they are.
    public enum Owner: Sendable, Hashable {
        case root(ArchivedRoot)
        /// A file, or a directory with all that is in it; relative to the root.
        case path(RelativePath, isDirectory: Bool)
        /// What programs have saved.
        case states
        /// What lies elsewhere in the root, in other roots, or is a program's.
        case elsewhere
        /// What several of the others use.
        case shared
        /// Names, times and what else is known of entries, and the snapshots themselves.
        case records
    }

    /// The bytes of one owner.
    public struct Item: Sendable, Hashable {
        public let owner: Owner
        /// Bytes of segments that nobody else needs.
        public let ownBytes: UInt64
        /// How many versions of files there are.
        public let versions: Int
    }

    /// By their bytes, the largest first.
    public let items: [Item]
    /// Bytes of segments that nothing needs which is listed; what was forgotten is among them.
    public let unneededBytes: UInt64
    /// The room that the archive takes and has.
    public let room: ArchiveRoom
    /// How many snapshots `RetentionPolicy.usual` would let go, and the bytes that would come free.
    public let thinning: (snapshots: Int, bytes: UInt64)
    /// By how many bytes the archive grew a day, in the last 30 days or since its first snapshot.
    public let dailyBytes: UInt64

    /// In how many days the budget, or the disk, is used up at that rate; nil where nothing grows.
    public var daysLeft: UInt64? {
        guard dailyBytes > 0 else { return nil }
        let least = room.budget.minFree(of: room.totalBytes)
        let ofDisk = room.freeBytes > least ? room.freeBytes - least : 0
        let ofSize = room.budget.maxSize.map { $0 > room.usedBytes ? $0 - room.usedBytes : 0 } ?? .max
        return min(ofDisk, ofSize) / dailyBytes
    }
}

/// What the snapshots of one day added to an archive.
public struct DailyUsage: Sendable, Hashable {
    /// When the day began, in UTC.
    public let day: Timestamp
    public let snapshots: Int
    /// What they added when they were made.
    public let storedBytes: UInt64
}
