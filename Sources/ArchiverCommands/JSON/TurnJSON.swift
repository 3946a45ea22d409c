// Marks, turns and the result of a bisection as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A mark as `mark --json` shows it.
struct MarkJSON: Encodable {
    let mark: Mark

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(mark.id.hex, forKey: .id)
        try object.encode(mark.name, forKey: .name)
        try object.encode(mark.time, forKey: .time)
        try object.encode(mark.snapshot.hex, forKey: .snapshot)
    }
}

/// A turn as `turns --json` shows it.
struct TurnJSON: Encodable {
    let root: ArchivedRoot
    let number: Int
    let turn: Turn
    let files: [Difference]?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.path.bytes, forKey: .root)
        try object.encode(number, forKey: .number)
        try object.encode(turn.mark.name, forKey: .name)
        try object.encode(turn.mark.time, forKey: .time)
        try object.encode(turn.changes?.added, forKey: .added)
        try object.encode(turn.changes?.modified, forKey: .modified)
        try object.encode(turn.changes?.removed, forKey: .removed)
        try object.encode(turn.before?.id.hex, forKey: .before)
        try object.encode(turn.after?.id.hex, forKey: .after)
        try object.encodeIfPresent(files?.map { File(difference: $0) }, forKey: .changedPaths)
    }

    private struct File: Encodable {
        let difference: Difference

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: JSONKey.self)
            try object.encode(bytes: difference.path.bytes, forKey: .path)
            try object.encode(difference.kind.sign.word, forKey: .change)
        }
    }
}

/// The output of `bisect --json`.
struct BisectJSON: Encodable {
    let result: BisectResult

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(result.firstBad.map(SnapshotJSON.init), forKey: .firstBad)
        try object.encode(SnapshotJSON(result.lastGood), forKey: .lastGood)
        try object.encode(result.suspects.map(\.id.hex), forKey: .suspects)
        try object.encode(result.probes.filter { $0.reason == nil }.count, forKey: .runs)
        try object.encode(result.probes.map { Probe(probe: $0) }, forKey: .probes)
    }

    private struct Probe: Encodable {
        let probe: BisectProbe

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: JSONKey.self)
            try object.encode(probe.snapshot.id.hex, forKey: .snapshot)
            try object.encode(probe.verdict.rawValue, forKey: .verdict)
            try object.encode(probe.reason, forKey: .reason)
        }
    }
}
