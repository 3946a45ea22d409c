// Marks: states that an assistant or a script marks before it changes a root.

public import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
public import Exclusions
public import FileIO
internal import Restoring
public import Roots
public import SystemPackage
internal import WatchControl

/// A state of a root that was marked before a turn of changes.
public struct Mark: Sendable, Hashable, Identifiable {
    /// The id of the record.
    public let id: OperationID
    /// The name that was given to the mark.
    public let name: String
    /// When the mark was made.
    public let time: Timestamp
    /// The snapshot of the marked state.
    public let snapshot: SnapshotID
    /// Its place among the root's operations.
    let sequence: UInt64

    init?(_ stored: StoredOperation) {
        guard stored.record.kind == .mark, let snapshot = stored.record.before else { return nil }
        id = stored.id
        name = stored.record.name ?? ""
        time = stored.record.time
        sequence = stored.record.sequence
        self.snapshot = snapshot
    }

    /// Marks the latest snapshot of `root`, which holds its present state.
    ///
    /// The caller holds the root's capture lock.
    package init(underLock name: String, of root: FilePath, in archive: Archive) throws {
        try Mark.check(name)
        guard
            let latest = try archive.store.catalogue.latestRegularSnapshot(ofRoot: root.bytes, machine: Machine.id)
        else {
            throw ArchiverError(
                .noSuchSnapshot, "the archive holds no snapshots of \(root)", remedy: Advice.watchToCapture.text,
                path: root)
        }
        let journal = OperationJournal(archive.store, root, .mark, name: name)
        let id = try journal.begin(before: latest.id, nil, at: .all)
        guard
            let mark = Mark(
                StoredOperation(id: id, record: try archive.store.record(id.chunk)))
        else {
            throw ArchiverError(.damaged, "mark \(id.short) is not what was written", path: root)
        }
        self = mark
    }

    /// The longest name of a mark or a run, in bytes.
    public static let nameLimit = 1000

    /// Checks that `name` can name a mark or a run.
    ///
    /// - Throws: `ArchiverError` with the code `unsuitableSettings` if it cannot.
    static func check(_ name: String) throws(ArchiverError) {
        let scalars = name.unicodeScalars
        let reason: String? =
            if scalars.allSatisfy({ $0.properties.isWhitespace }) {
                "it is blank"
            } else if scalars.contains(where: { $0.properties.generalCategory == .control }) {
                "it has control characters"
            } else if name.utf8.count > nameLimit {
                "it has more than \(nameLimit) bytes"
            } else {
                nil
            }
        guard let reason else { return }
        throw ArchiverError(
            .unsuitableSettings, "'\(name.prefix(40))' cannot be a name: \(reason)", remedy: "choose another name")
    }
}

extension Archive {
    /// Marks the present state of a directory before a turn of changes begins.
    ///
    /// The watcher first captures what has changed, which takes milliseconds, whatever the directory's size. If it
    /// takes longer than `patience`, this throws, and the watcher makes the mark when it is done: changes made in
    /// between are then part of the marked state.
    ///
    /// - Parameters:
    ///   - name: the name that `turns` shows.
    ///   - patience: how long to wait for the watcher. Nil waits without limit; if no process watches the directory,
    ///     this process then captures it.
    ///   - newRootExclusions: the exclusions of a directory that has no snapshot yet.
    /// - Throws: `ArchiverError`, with the code `notWatched` if no process watches the directory and `patience` is not
    ///   nil.
    public func mark(
        _ name: String, in directory: FilePath, patience: Duration? = .milliseconds(150),
        newRootExclusions: ExclusionRules = ExclusionRules(), progress: OperationProgress? = nil
    ) throws(ArchiverError) -> Mark {
        try facing {
            try Mark.check(name)
            let root = try RootDirectory.resolvedAsFarAsItExists(directory)
            let start = ContinuousClock.now
            let response: ControlResponse?
            do throws(ArchiverError) {
                response = try ControlClient.ask(.mark, about: root, in: store.layout, patience: patience, name: name)
            } catch {
                guard let patience, ContinuousClock.now - start >= patience else { throw error }
                throw ArchiverError(
                    .system, "the watcher of \(root) is still capturing and will make the mark when it is done",
                    remedy: Advice.waitForMark.text, path: root)
            }
            if let response {
                guard let id = response.mark.flatMap({ OperationID(hex: $0) }),
                    let mark = Mark(
                        StoredOperation(id: id, record: try store.record(id.chunk)))
                else { throw ControlClient.silence(root) }
                return mark
            }
            guard patience == nil else {
                throw ArchiverError(
                    .notWatched, "nobody watches \(root), and capturing all of it now could take long",
                    remedy: Advice.watchOrWaitForMark.text, path: root)
            }
            var options = CaptureOptions()
            options.newRootExclusions = newRootExclusions
            _ = try capture(root, options, progress: progress)
            let lock = try RootLock.capturing(root, in: store.layout)
            defer { withExtendedLifetime(lock) {} }
            return try Mark(underLock: name, of: root, in: self)
        }
    }

    /// The marks of a root, newest first.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func marks(of root: ArchivedRoot) throws(ArchiverError) -> [Mark] {
        try facing {
            guard let number = try number(of: root) else { return [] }
            return try store.catalogue.operations(root: number).reversed().compactMap(Mark.init)
        }
    }
}
