// What the last run found when room was short, for `status`.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
public import FileIO
package import Roots

/// What the last maintenance of an archive found when room was short.
public struct RoomNotice: Sendable, Codable {
    /// When that was.
    public let time: Timestamp
    /// Whether the limits can be reached.
    public let isReachable: Bool
    /// The bytes of snapshots that were forgotten and can still be brought back.
    public let waitingBytes: UInt64
    /// When those bytes are freed at the latest.
    public let waitingUntil: Timestamp?
    /// Why the limits cannot be reached.
    public let causes: [RoomPlan.Cause]

    init(_ plan: RoomPlan, at time: Timestamp) {
        self.time = time
        isReachable = plan.isReachable
        waitingBytes = plan.waitingBytes
        waitingUntil = plan.waitingUntil
        causes = plan.causes
    }

    private static func file(_ layout: ArchiveLayout) -> JSONFile<RoomNotice> {
        JSONFile(layout.settings.appending("room.json"), "it says how room was short")
    }

    static func read(_ layout: ArchiveLayout) -> RoomNotice? { try? file(layout).read() }

    /// Stores the notice; if that fails, `status` says less.
    func write(_ layout: ArchiveLayout) { try? RoomNotice.file(layout).write(self) }

    static func remove(_ layout: ArchiveLayout) { _ = try? file(layout).place.remove() }
}

extension Archive {
    /// Returns what the last maintenance found if room was short; nil if it was not.
    public func roomNotice() -> RoomNotice? { RoomNotice.read(store.layout) }

    /// Whether the archive knows of a snapshot that was forgotten because room was short.
    package func hasForgottenForRoom() throws(ArchiverError) -> Bool {
        try facing { try store.catalogue.forgotten().contains { $0.reason == .room } }
    }
}
