// The output of `watch --json`: one object per line.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// An event of the watch service.
struct WatchEventJSON: Encodable {
    let event: WatchService.Event
    /// The gaps since the root's previous snapshot; only for a snapshot event.
    let gaps: [GapRecord]

    init(_ event: WatchService.Event, gaps: [GapRecord] = []) {
        self.event = event
        self.gaps = gaps
    }

    /// The event in one word.
    var name: String {
        switch event {
        case .waiting: "waiting"
        case .covered: "covered"
        case .audited: "audit"
        case .starting: "starting"
        case .watching: "watching"
        case .snapshot: "snapshot"
        case .gap: "gap"
        case .fallback: "fallback"
        case .unavailable: "unavailable"
        case .available: "available"
        case .related: "related"
        case .wrongClock: "wrong-clock"
        case .problems: "problems"
        case .largeFile: "large-file"
        case .error: "error"
        case .maintained: "maintained"
        case .notMaintained: "not-maintained"
        case .replicaFailed: "replica-behind"
        case .replicaComplete: "replica-complete"
        case .dropped: "dropped"
        case .stopped: "stopped"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        switch event {
        case .waiting(let root):
            try object.encode(name, root)
        case .covered(let root, let outer):
            try object.encode(name, root)
            try object.encode(bytes: outer.bytes, forKey: .by)
        case .audited(let root, let result):
            try AuditJSON(root: root, result: result).encode(to: encoder)
            try object.encode(name, forKey: .event)
        case .starting(let root, _):
            try object.encode(name, root)
        case .watching(let root, let directories, let snapshot, let isNew):
            try object.encode(name, root)
            try object.encode(directories, forKey: .directories)
            try object.encode(snapshot.id.hex, forKey: .latest)
            try object.encode(isNew, forKey: .new)
        case .snapshot(let snapshot):
            try ListedSnapshotJSON(SnapshotRow(snapshot: snapshot, gaps: gaps)).encode(to: encoder)
            try object.encode(name, forKey: .event)
        case .gap(let gap):
            try GapJSON(gap).encode(to: encoder)
            try object.encode(name, forKey: .event)
        case .fallback(let root, let message, let remedy):
            try object.encode(name, root)
            try object.encode(message, forKey: .message)
            try object.encode(CommandRemedy.text(remedy, path: root), forKey: .remedy)
        case .unavailable(let root):
            try object.encode(name, root)
        case .available(let root):
            try object.encode(name, root)
        case .related(let root, let related):
            try object.encode(name, root)
            try RelatedRootJSON(related).encode(into: &object)
        case .wrongClock(let root, let later):
            try object.encode(name, root)
            try object.encode(later.id.hex, forKey: .laterPrevious)
        case .problems(let root, let problems, let count):
            try object.encode(name, root)
            try object.encode(problems.map(ProblemJSON.init), forKey: .problemPaths)
            try object.encode(count, forKey: .problems)
        case .largeFile(let root, let file):
            try object.encode(name, root)
            try file.encode(into: &object)
        case .error(let root, let error):
            try object.encode(name, root)
            try object.encode(error.code.rawValue, forKey: .code)
            try object.encode(error.message, forKey: .message)
            try object.encode(CommandRemedy.text(error.remedy, path: error.path), forKey: .remedy)
        case .maintained(let result):
            try MaintenanceJSON(result, isDryRun: false).encode(to: encoder)
            try object.encode(name, forKey: .event)
        case .notMaintained(let error):
            try object.encode(name, forKey: .event)
            try object.encode(error.code.rawValue, forKey: .code)
            try object.encode(error.message, forKey: .message)
            try object.encode(CommandRemedy.text(error.remedy, path: error.path), forKey: .remedy)
        case .replicaFailed(let replica, let error):
            try object.encode(name, forKey: .event)
            try object.encode(replica, forKey: .replica)
            try object.encode(error.code.rawValue, forKey: .code)
            try object.encode(error.message, forKey: .message)
            try object.encode(CommandRemedy.text(error.remedy, path: error.path), forKey: .remedy)
        case .replicaComplete(let replica):
            try object.encode(name, forKey: .event)
            try object.encode(replica, forKey: .replica)
        case .dropped(let events, let warnings):
            try object.encode(name, forKey: .event)
            try object.encode(events, forKey: .count)
            try object.encode(warnings, forKey: .warnings)
        case .stopped(let root):
            try object.encode(name, root)
        }
    }
}

extension KeyedEncodingContainer<JSONKey> {
    fileprivate mutating func encode(_ event: String, _ root: FilePath) throws {
        try encode(event, forKey: .event)
        try encode(bytes: root.bytes, forKey: .root)
    }
}
