// The room that an archive uses and may use.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import Glibc
public import Roots
internal import SystemPackage

/// How much room an archive uses, and how much there is.
public struct ArchiveRoom: Sendable, Hashable {
    /// The bytes of its segments and its catalogue.
    public let usedBytes: UInt64
    /// The bytes that an ordinary user can still write on its file system.
    public let freeBytes: UInt64
    /// The size of its file system in bytes.
    public let totalBytes: UInt64
    /// How much room it may use.
    public let budget: StorageBudget
    /// Whether a user has set the budget; otherwise it is the default.
    public let isBudgetSet: Bool

    package init(usedBytes: UInt64, freeBytes: UInt64, totalBytes: UInt64, budget: StorageBudget, isBudgetSet: Bool) {
        self.usedBytes = usedBytes
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
        self.budget = budget
        self.isBudgetSet = isBudgetSet
    }

    /// Without a budget set, a smaller archive is left alone: freeing its space would hardly help.
    static let leastBytes: UInt64 = 64 << 20

    /// The bytes to free to get within the budget; 0 if it is within.
    public var lackingBytes: UInt64 {
        if !isBudgetSet, usedBytes < ArchiveRoom.leastBytes { return 0 }
        let limit = budget.maxSize ?? .max
        let least = budget.minFree(of: totalBytes)
        let ofDisk = least > freeBytes ? least - freeBytes : 0
        // Others may have filled the disk: the archive cannot free more than its own size.
        return max(usedBytes > limit ? usedBytes - limit : 0, min(ofDisk, usedBytes))
    }

    /// Whether the archive exceeds its budget.
    public var isShort: Bool { lackingBytes > 0 }
}

extension Archive {
    /// Returns the room that the archive uses and may use.
    public func room() throws(ArchiverError) -> ArchiveRoom {
        try facing {
            let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
            // Its write-ahead log and its free pages are not counted: their size varies.
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
