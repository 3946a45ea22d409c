// The room that an archive takes and has.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import Glibc
public import Roots
internal import SystemPackage

/// How much room an archive takes, and how much there is.
public struct ArchiveRoom: Sendable, Hashable {
    /// Bytes of its segments and its catalogue.
    public let usedBytes: UInt64
    /// Bytes that an ordinary user can still write on its file system.
    public let freeBytes: UInt64
    /// Bytes of its file system.
    public let totalBytes: UInt64
    /// How much it may take.
    public let budget: StorageBudget
    /// Whether somebody has said how much it may take; else the budget is the default.
    public let isBudgetSet: Bool

    package init(usedBytes: UInt64, freeBytes: UInt64, totalBytes: UInt64, budget: StorageBudget, isBudgetSet: Bool) {
        self.usedBytes = usedBytes
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
        self.budget = budget
        self.isBudgetSet = isBudgetSet
    }

    /// An archive of less is left alone, where nobody has set a budget: the disk would hardly notice.
    static let leastBytes: UInt64 = 64 << 20

    /// Bytes that are to be given back to keep the budget; 0 where it is kept.
    public var lackingBytes: UInt64 {
        if !isBudgetSet, usedBytes < ArchiveRoom.leastBytes { return 0 }
        let limit = budget.maxSize ?? .max
        let least = budget.minFree(of: totalBytes)
        let ofDisk = least > freeBytes ? least - freeBytes : 0
        // Others may have filled the disk: all of the archive is the most that it can give.
        return max(usedBytes > limit ? usedBytes - limit : 0, min(ofDisk, usedBytes))
    }

    /// Whether the budget is not kept.
    public var isShort: Bool { lackingBytes > 0 }
}

extension Archive {
    /// The room that the archive takes and has.
    public func room() throws(ArchiverError) -> ArchiveRoom {
        try facing {
            let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
            // Its write-ahead log comes and goes, and so do pages that hold nothing.
            let catalogue = UInt64(try store.catalogue.pages().usedBytes)
            let given = try store.catalogue.policy(root: nil)
            return ArchiveRoom(
                usedBytes: try store.storedBytes() + catalogue,
                freeBytes: try FileSystem.freeBytes(of: folder) + Ballast(store.layout).bytes,
                totalBytes: try FileSystem.totalBytes(of: folder), budget: try budget(),
                isBudgetSet: given?.maxSize != nil || given?.minFreeBytes != nil || given?.minFreePercent != nil)
        }
    }
}
