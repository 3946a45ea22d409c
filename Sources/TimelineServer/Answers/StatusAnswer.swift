// A root's status, its operations, and the space that its history takes.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Timeline

struct StatusAnswer: Encodable {
    struct Problem: Encodable {
        let message: String
        let remedy: String?
    }

    let root: String
    let watched: Bool
    let lastWatched: Int64?
    let findings: [Problem]

    /// How long to wait for a watcher's answer.
    private static let patience: Duration = .seconds(2)

    init(_ root: ArchivedRoot, _ context: ServerContext) throws {
        self.root = RootAnswer.id(root)
        guard root.isHere else {
            (watched, lastWatched, findings) = (false, nil, [])
            return
        }
        let status = try context.archive.status(of: root.path, patience: StatusAnswer.patience)
        let own = status.roots.first { $0.root == root }
        watched = own?.isWatched ?? false
        lastWatched = own?.isWatched == true ? Timestamp.now.milliseconds : own?.lastWatched?.milliseconds
        // `watched` says that already.
        let found = (status.findings + (own?.findings ?? [])).filter { $0 != RootFindings.unwatched }
        findings = found.map { Problem(message: $0.message, remedy: $0.remedy) }
    }
}

struct OperationsAnswer: Encodable {
    struct Operation: Encodable {
        let id: String
        let short: String
        let time: Int64
        let kind: String
        let message: String
        let path: String
        let pathBytes: String?
        let undone: Bool
    }

    let operations: [Operation]
    let canUndo: Bool
    let canRedo: Bool

    private static let limit = 200

    init(_ root: ArchivedRoot, _ context: ServerContext) throws {
        let all = try context.archive.operations(of: root)
        canUndo = all.contains { $0.next == .undo }
        canRedo = all.contains { $0.next == .redo }
        operations = all.suffix(OperationsAnswer.limit).reversed().map { operation in
            let name = NameAnswer(operation.record.path)
            return Operation(
                id: operation.id.hex, short: operation.id.short, time: operation.record.time.milliseconds,
                kind: operation.record.kind.rawValue, message: operation.record.text, path: name.path,
                pathBytes: name.pathBytes, undone: operation.undoneBy != nil)
        }
    }
}

extension OperationRecord {
    /// The operation as a sentence without its subject.
    var text: String {
        switch kind {
        case .restore: "restored \(subject)"
        case .undo: "undid a change of \(subject)"
        case .redo: "redid a change of \(subject)"
        default: namedKind
        }
    }

    /// The undo or redo of the operation as a sentence without its subject: only undos are redone.
    var reversalText: String {
        switch kind {
        case .restore: "undid the restore of \(subject)"
        case .undo: "redid a change of \(subject)"
        case .redo: "undid the redo of a change of \(subject)"
        default: "undid the \(namedKind)"
        }
    }

    /// "figures as of 3fa9c2d1" for a restore, "figures" for an undo or a redo.
    private var subject: String {
        let part = parts.isEmpty ? path.isRoot ? "everything" : "\(path)" : "\(parts.count) paths"
        guard kind == .restore, let snapshot else { return part }
        return "\(part) as of \(snapshot.short)"
    }

    /// "run nightly"; the kind alone if the user gave no name.
    private var namedKind: String { name.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }
}

struct UsageAnswer: Encodable {
    struct Day: Encodable {
        let day: Int64
        let snapshots: Int
        let storedBytes: UInt64
    }

    struct Item: Encodable {
        let path: String
        let pathBytes: String?
        let ownBytes: UInt64
        let versions: Int
    }

    struct Room: Encodable {
        let usedBytes: UInt64
        let freeBytes: UInt64
        let totalBytes: UInt64
    }

    let days: [Day]
    /// nil until they are counted for the first time.
    let items: [Item]?
    /// When the paths were counted.
    let countedAt: Int64?
    let isCounting: Bool
    /// The most snapshots whose paths are counted, if there are more; nil if the paths are counted.
    let limit: Int?
    /// Why they cannot be counted.
    let failure: String?
    let room: Room
    let dailyBytes: UInt64

    private static let pathLimit = 50

    init(_ root: ArchivedRoot, _ context: ServerContext) throws {
        days = try context.timeline(of: root).days().map {
            Day(day: $0.start.milliseconds, snapshots: $0.moments, storedBytes: $0.storedBytes)
        }
        let isLong = try context.archive.snapshotCount(SnapshotQuery()) > context.usage.limit
        limit = isLong ? context.usage.limit : nil
        let (count, isCounting, failure) = isLong ? (nil, false, nil) : try context.usage.usage(of: root)
        (self.isCounting, self.failure, countedAt) = (isCounting, failure, count?.time.milliseconds)
        items = count.map { count in
            let found = count.usage.items.compactMap { item -> Item? in
                guard case .path(let path, _) = item.owner else { return nil }
                let name = NameAnswer(path)
                return Item(
                    path: name.path, pathBytes: name.pathBytes, ownBytes: item.ownBytes, versions: item.versions)
            }
            return Array(found.sorted { $0.ownBytes > $1.ownBytes }.prefix(UsageAnswer.pathLimit))
        }
        let present = try context.archive.room()
        room = Room(
            usedBytes: present.usedBytes, freeBytes: present.freeBytes, totalBytes: present.totalBytes)
        let recent = days.suffix(UsageAnswer.recentDays)
        let sum = recent.reduce(UInt64(0)) { $0.addingReportingOverflow($1.storedBytes).partialValue }
        let span = (recent.last?.day ?? 0) - (recent.first?.day ?? 0)
        dailyBytes = sum / UInt64(span / UsageAnswer.dayMilliseconds + 1)
    }

    /// The days whose mean the growth of a day is.
    private static let recentDays = 30
    private static let dayMilliseconds: Int64 = 86_400_000
}
