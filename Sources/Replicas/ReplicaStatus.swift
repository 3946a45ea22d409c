// What an archive knows of a replica without asking its store.

internal import ArchiveStorage
internal import Archives
public import FileIO
public import Roots

/// The status of a replica.
public struct ReplicaStatus: Sendable {
    /// Its name.
    public let name: String
    /// The address of its store.
    public let address: String
    /// Whether only the recipients can read it.
    public let isEncrypted: Bool
    /// The bytes that were committed and are not in the replica.
    public let missingBytes: UInt64
    /// The number of segments that these are in.
    public let missingSegments: Int
    /// Everything that was committed before this is in the replica; nil if it was never complete.
    public let completeUntil: Timestamp?
    /// When the replica was last compared with the archive.
    public let checked: Timestamp?
    /// When every byte of it was last read and compared.
    public let checkedData: Timestamp?
    /// When files were last read from the replica alone and compared.
    public let tested: Timestamp?
    /// Since when sending fails, and why; nil if it did not fail.
    public let failure: (time: Timestamp, message: String, remedy: String?)?

    /// How far the replica is behind, in seconds; nil if it was never complete.
    public func lagSeconds(at now: Timestamp) -> Double? {
        if missingBytes == 0 { return 0 }
        return completeUntil.map { Double(max(0, now.seconds - $0.seconds)) }
    }

    /// A replica that is this far behind is a finding even if nothing failed.
    private static let leastLagSeconds: Double = 3600

    /// What is wrong with the replica.
    public var findings: [Finding] {
        if let failure {
            return [
                Finding(
                    "the replica '\(name)' lacks \(ByteCount.text(missingBytes)): \(failure.message)",
                    remedy: failure.remedy)
            ]
        }
        guard missingBytes > 0, lagSeconds(at: .now).map({ $0 > ReplicaStatus.leastLagSeconds }) ?? true else {
            return []
        }
        return [
            Finding("the replica '\(name)' lacks \(ByteCount.text(missingBytes))", remedy: Advice.sendToReplica.text)
        ]
    }

    init(_ name: ReplicaName, _ settings: ReplicaSettings, _ progress: ReplicaProgress?, of store: ArchiveStore) throws
    {
        self.name = name.text
        address = settings.url
        isEncrypted = settings.openIdentity == nil
        let progress = progress ?? ReplicaProgress()
        var (bytes, segments) = (0, 0)
        for row in try store.catalogue.segments() {
            let missing = progress.missingBytes(of: row)
            if missing > 0 { (bytes, segments) = (bytes + missing, segments + 1) }
        }
        missingBytes = UInt64(bytes)
        missingSegments = segments
        completeUntil = progress.completeUntil
        checked = progress.checked
        checkedData = progress.checkedData
        tested = progress.tested
        failure = progress.failure.map { ($0.time, $0.message, $0.remedy) }
    }
}
