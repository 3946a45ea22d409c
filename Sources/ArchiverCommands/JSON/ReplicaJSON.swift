// Replicas as JSON.

internal import ArchiverKit
internal import Replicas

/// A row of `replica list --json`, and of `replicas` in `status --json`.
struct ReplicaStatusJSON: Encodable {
    let status: ReplicaStatus

    init(_ status: ReplicaStatus) { self.status = status }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(status.name, forKey: .replica)
        try object.encode(status.findings.isEmpty, forKey: .well)
        try object.encode(status.address, forKey: .address)
        try object.encode(status.isEncrypted, forKey: .encrypted)
        try object.encode(status.missingBytes, forKey: .missingBytes)
        try object.encode(status.completeUntil?.rfc3339, forKey: .completeUntil)
        try object.encode(status.lagSeconds(at: .now), forKey: .lagSeconds)
        try object.encode(status.checked?.rfc3339, forKey: .lastComparison)
        try object.encode(status.checkedData?.rfc3339, forKey: .lastDataCheck)
        try object.encode(status.tested?.rfc3339, forKey: .lastTest)
        try object.encode(status.findings.map { FindingJSON($0) }, forKey: .findings)
    }
}

/// The output of `replica add --json`.
struct AddedReplicaJSON: Encodable {
    let name: String
    let added: AddedReplica

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(name, forKey: .replica)
        try object.encode(added.signer, forKey: .signer)
        try object.encode(added.abilities.refusesToOverwrite, forKey: .refusesToOverwrite)
        try object.encode(added.abilities.deletes, forKey: .mayDelete)
    }
}

/// A replica in `replica sync --json`.
struct ReplicaPassJSON: Encodable {
    let name: String
    let pass: Replicator.Pass

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(name, forKey: .replica)
        try object.encode(pass.problems.isEmpty, forKey: .complete)
        try object.encode(pass.objects, forKey: .objects)
        try object.encode(pass.bytes, forKey: .bytesWritten)
        try object.encode(pass.problems, forKey: .causes)
    }
}

/// A replica in `replica check --json`.
struct ReplicaCheckJSON: Encodable {
    let name: String
    let result: ReplicaCheckResult
    let hasReadData: Bool

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(name, forKey: .replica)
        try object.encode(result.problems.isEmpty, forKey: .well)
        try object.encode(result.objects, forKey: .objects)
        try object.encode(hasReadData ? result.bytes : 0, forKey: .bytesRead)
        try object.encode(result.mended, forKey: .sentAgain)
        try object.encode(result.onlyThere, forKey: .onlyInReplica)
        try object.encode(result.problems, forKey: .damaged)
    }
}

/// A replica in `replica test --json`.
struct ReplicaTestJSON: Encodable {
    let name: String
    let result: ReplicaTestResult

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(name, forKey: .replica)
        try object.encode(result.problems.isEmpty, forKey: .well)
        try object.encode(result.snapshots, forKey: .snapshots)
        try object.encode(result.files, forKey: .files)
        try object.encode(result.bytes, forKey: .bytesRead)
        try object.encode(result.problems, forKey: .damaged)
    }
}

/// A replica in `replica prune --json`.
struct ReplicaPruneJSON: Encodable {
    let name: String
    let pruned: Replicator.Pruned
    let isDryRun: Bool

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(name, forKey: .replica)
        try object.encode(isDryRun, forKey: .dryRun)
        try object.encode(pruned.objects, forKey: .objects)
        try object.encode(pruned.bytes, forKey: .freedBytes)
        try object.encode(pruned.waiting, forKey: .waitingSegments)
    }
}

/// The output of `replica clone --json`.
struct ReplicaCloneJSON: Encodable {
    let result: ReplicaClone.Result

    init(_ result: ReplicaClone.Result) { self.result = result }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: result.archive.directory.bytes, forKey: .path)
        try object.encode(result.problems.isEmpty, forKey: .complete)
        try object.encode(result.segments, forKey: .segments)
        try object.encode(result.bytes, forKey: .storedBytes)
        try object.encode(result.time?.time.rfc3339, forKey: .completeUntil)
        try object.encode(result.problems, forKey: .damaged)
    }
}

/// The output of `keys new --json`.
struct KeyJSON: Encodable {
    let recipient: String

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(recipient, forKey: .recipient)
    }
}

/// The output of `replica fetch --json`.
struct FetchJSON: Encodable {
    let result: FetchResult

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(result.segments, forKey: .segments)
        try object.encode(result.bytes, forKey: .bytesRead)
    }
}
