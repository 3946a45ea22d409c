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
    /// The bytes of its segments on this file system, and of its catalogue.
    public let usedBytes: UInt64
    /// The bytes that an ordinary user can still write on its file system; `UInt64.max` for a replica, which has none.
    public let freeBytes: UInt64
    /// The size of its file system in bytes; `UInt64.max` for a replica.
    public let totalBytes: UInt64
    /// How much room it may use.
    public let budget: StorageBudget
    /// Whether a user has set the budget; otherwise it is the default.
    public let isBudgetSet: Bool
    /// The part of `freeBytes` that the archive has reserved for a full disk, in a file of this size.
    public let reservedBytes: UInt64

    package init(
        usedBytes: UInt64, freeBytes: UInt64, totalBytes: UInt64, budget: StorageBudget, isBudgetSet: Bool,
        reservedBytes: UInt64 = 0
    ) {
        self.reservedBytes = reservedBytes
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
        // Others may have filled the disk: the archive cannot free more than its own size.
        max(excessBytes, min(lackingOnDisk, usedBytes))
    }

    /// The bytes that the archive takes more than its largest size.
    var excessBytes: UInt64 { usedBytes - min(usedBytes, budget.maxSize ?? .max) }

    /// The bytes that its file system has less free than the budget says.
    var lackingOnDisk: UInt64 {
        if !isBudgetSet, usedBytes < ArchiveRoom.leastBytes { return 0 }
        let least = budget.minFree(of: totalBytes)
        return least - min(least, freeBytes)
    }

    /// Whether the file system is practically full: the space of forgotten snapshots is freed immediately.
    var isDiskFull: Bool { freeBytes - min(reservedBytes, freeBytes) < min(totalBytes / 16, ArchiveRoom.leastBytes) }

    /// Whether the archive is so close to its limits that snapshots will soon be forgotten.
    public var isAlmostShort: Bool {
        if isShort { return false }
        if let limit = budget.maxSize, usedBytes > limit - limit / 10 { return true }
        if !isBudgetSet, usedBytes < ArchiveRoom.leastBytes { return false }
        let least = budget.minFree(of: totalBytes)
        return freeBytes < least + least / 10
    }

    /// Whether the archive exceeds its budget.
    public var isShort: Bool { lackingBytes > 0 }
}

extension Archive {
    /// Returns the room that the archive uses and may use.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func room() throws(ArchiverError) -> ArchiveRoom {
        try facing {
            let (free, total, reserved) = try fileSystemBytes()
            // Its write-ahead log and its free pages are not counted: their size varies.
            let catalogue = UInt64(try store.catalogue.pages().usedBytes)
            let given = try store.catalogue.policy(root: nil)
            return ArchiveRoom(
                usedBytes: try store.localBytes() + catalogue,
                freeBytes: free, totalBytes: total, budget: try budget(),
                isBudgetSet: given?.maxSize != nil || given?.minFreeBytes != nil || given?.minFreePercent != nil,
                reservedBytes: reserved)
        }
    }

    /// The free bytes and the size of the archive's file system, and the part of the free bytes that is reserved.
    private func fileSystemBytes() throws -> (free: UInt64, total: UInt64, reserved: UInt64) {
        if store.isReplica { return (.max, .max, 0) }
        let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
        let reserved = Ballast(store.layout).bytes
        return (try FileSystem.freeBytes(of: folder) + reserved, try FileSystem.totalBytes(of: folder), reserved)
    }
}
