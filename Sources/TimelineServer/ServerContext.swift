// The shared state of all routes: the archive, its roots by their names in URLs, the timelines.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Hummingbird
internal import Threading
internal import Timeline

/// The archive behind a server.
final class ServerContext: Sendable {
    let archive: Archive
    let options: TimelineServerOptions
    let access: Access
    let usage: UsageKeeper
    private let hasEnded = Locked(false)
    private let timelines = Locked<[String: ArchiveTimeline]>([:])
    /// The identity of the archive's directory.
    private let identity: FileIdentity?

    init(_ archive: Archive, _ options: TimelineServerOptions, _ access: Access) {
        (self.archive, self.options, self.access) = (archive, options, access)
        usage = UsageKeeper(archive, limit: options.usageLimit)
        identity = FileIdentity(at: archive.directory)
    }

    /// Why the archive cannot be found at its place, as a sentence; nil if it can.
    var absence: String? {
        let present = FileIdentity(at: archive.directory)
        if present == identity { return nil }
        let what = present == nil ? "is not there any more" : "is another directory now"
        return "The archive \(archive.directory) \(what): it was moved, or its disk was unmounted."
    }

    /// Runs blocking work of an answer on a thread of its own, so that short answers never wait behind long ones.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Blocking.runApart(for: "an answer", body)
    }

    /// Computes an answer on a thread of its own.
    func answer<Value: Encodable & Sendable>(
        _ body: @escaping @Sendable (ServerContext) throws -> Value
    ) async throws -> Response {
        JSONAnswer.response(try await run { try body(self) })
    }

    /// Returns the root that the parameter `root` names.
    func root(_ query: Query) throws -> ArchivedRoot { try root(named: query.required("root")) }

    func root(named name: String) throws -> ArchivedRoot {
        guard let found = try archive.roots().first(where: { RootAnswer.id($0) == name }) else {
            throw Refusal.notFound("the archive has no such root")
        }
        return found
    }

    func timeline(of root: ArchivedRoot) -> ArchiveTimeline {
        timelines.withLock { timelines in
            let name = RootAnswer.id(root)
            if let known = timelines[name] { return known }
            let made = ArchiveTimeline(archive, root: root)
            timelines[name] = made
            return made
        }
    }

    /// Loads the timeline of the first root before the first request, then what other requests would wait for.
    func prepare() async {
        guard let root = options.root else { return }
        // A request reports the error, if it persists.
        try? await run { [self] in try timeline(of: root).prepare() }
        if ((try? archive.unknownHistoryCount(of: root)) ?? 0) == 0 { return }
        try? await Blocking.runInBackground { [self] () throws(ArchiverError) in
            try archive.completeHistory(of: root, isCancelled: { hasEnded.withLock { $0 } })
        }
    }

    /// Ends what was begun before requests.
    func end() { hasEnded.withLock { $0 = true } }

    /// Releases memory that answers no longer need, once a minute until the task is cancelled.
    func releaseMemoryPeriodically() async {
        while true {
            do { try await Task.sleep(for: .seconds(60)) } catch { return }
            try? await run { [archive] in archive.releaseUnusedMemory() }
        }
    }

    /// Returns the snapshot with this id or unique prefix of an id.
    func snapshot(_ id: String) throws -> ListedSnapshot {
        guard id.count >= 4, id.allSatisfy(\.isHexDigit) else { throw Refusal.bad("'\(id.prefix(80))' is not an id") }
        return try archive.snapshot(SnapshotSelector(id))
    }

    func pins() throws(ArchiverError) -> Set<ChunkID> { Set(try archive.pins().map(\.target)) }

    func answer(_ snapshot: ListedSnapshot?) throws -> SnapshotAnswer? {
        try snapshot.map { SnapshotAnswer($0, try pins()) }
    }

    /// Returns the entry at a path; throws if there is none.
    func entry(_ path: RelativePath, in snapshot: ListedSnapshot) throws -> Entry {
        if let entry = try archive.entry(at: path, in: snapshot) { return entry }
        throw Refusal.notFound("snapshot \(snapshot.id.short) holds nothing at '\(path)'")
    }

    /// Why nothing can be changed through this server, as a sentence; nil if it can.
    var readOnlyReason: String? {
        if options.isReadOnly { return "This page is read-only: started with --read-only." }
        return archive.writeRefusal.map { "This page is read-only: \($0.message)." }
    }

    /// Throws if the server is read-only, or may not write to the archive.
    func requireWritable() throws(Refusal) {
        guard let reason = readOnlyReason else { return }
        throw Refusal(
            403, "readOnly", reason,
            remedy: options.isReadOnly
                ? "run 'archiver browse' without --read-only"
                : archive.writeRefusal?.remedy)
    }
}
