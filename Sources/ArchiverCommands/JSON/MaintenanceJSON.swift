// The results of archive maintenance as JSON.

internal import ArchiverKit
internal import FileIO
internal import Replicas

/// The output of `prune --json`, and of `watch --json` for a watcher's maintenance: forgotten snapshots, freed space.
struct MaintenanceJSON: Encodable {
    let result: MaintenanceResult
    let isDryRun: Bool
    /// What left the local disk; nil for a watcher, which looks for that afterwards.
    let eviction: EvictionJSON?

    init(_ result: MaintenanceResult, isDryRun: Bool, eviction: EvictionJSON? = nil) {
        self.result = result
        self.eviction = eviction
        self.isDryRun = isDryRun
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        let pruned = result.pruned
        try object.encode(isDryRun, forKey: .dryRun)
        try object.encode(result.thinned, forKey: .forgotten)
        try object.encode(result.thinnedForRoom, forKey: .forgottenForRoom)
        try object.encode(pruned?.bytesBefore, forKey: .bytesBefore)
        try object.encode(pruned?.bytesAfter, forKey: .bytesAfter)
        try object.encode(pruned?.freedBytes ?? 0, forKey: .freedBytes)
        try object.encode(pruned?.movedBytes ?? 0, forKey: .movedBytes)
        try object.encode(pruned?.segments, forKey: .segments)
        try object.encode(pruned?.dropped ?? 0, forKey: .droppedSegments)
        try object.encode(pruned?.inUse ?? 0, forKey: .segmentsInUse)
        try object.encode(pruned?.withoutRoom ?? 0, forKey: .segmentsWithoutRoom)
        try object.encode(pruned?.unreplicated ?? 0, forKey: .segmentsNotReplicated)
        try object.encode(pruned?.bytesWithoutRoom ?? 0, forKey: .bytesWithoutRoom)
        try object.encode(pruned?.roomNeeded ?? 0, forKey: .roomNeededBytes)
        try object.encode(pruned?.damaged ?? [], forKey: .damaged)
        try eviction?.encode(into: &object)
        try object.encode(result.room.usedBytes, forKey: .usedBytes)
        try object.encode(result.room.lackingBytes, forKey: .lackingBytes)
        try object.encode(result.room.isAlmostShort, forKey: .closeToLimits)
        try object.encode(result.plan?.waitingBytes ?? 0, forKey: .waitingBytes)
        try object.encode(result.plan?.waitingUntil, forKey: .waitingUntil)
        try object.encode(result.plan?.isReachable ?? true, forKey: .limitsCanBeReached)
        try object.encode(result.plan?.isContinued ?? false, forKey: .nextRunForgetsMore)
        try object.encode(result.plan?.causes.map(\.message) ?? [], forKey: .causes)
    }
}
