// Answers the requests that other processes send to a root's watcher.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import FileIO
internal import FileWatching
internal import Keeping
internal import Roots
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Listens for requests about one root, and answers them.
///
/// The root owns its control and passes itself to each call, so that only a request in progress holds the root.
final class RootControl: Sendable {
    private let server = Locked<ControlServer?>(nil)
    /// The subscriptions to the root's snapshots.
    let feeds = ControlFeeds()

    /// How long an answer waits for the capture of changes just before the request.
    private static let probeLimit = Duration.seconds(10)
    /// How many large files are reported at most.
    private static let reportedFiles = 20
    /// How many snapshots are read at a time.
    private static let step = 256

    // MARK: Listening

    func listen(for root: WatchedRoot) {
        let path = RootLock.socket(of: root.path, in: root.service.archive.latest.store.layout)
        let server: ControlServer
        do {
            server = try ControlServer(
                at: path,
                stream: { [weak root] request, connection in
                    guard let root else { return }
                    root.control.stream(root, to: connection, after: request.after)
                }
            ) { [weak root] request in
                guard let root else { return ControlResponse() }
                let start = ContinuousClock.now
                let response = await root.control.answer(request, about: root)
                root.service.options.onAnswer(
                    AnsweredRequest(
                        root: root.path, action: request.action, time: ContinuousClock.now - start,
                        failure: response.failure?.message))
                return response
            }
        } catch {
            // Some file systems have no sockets: watch without one.
            return root.service.report(
                .fallback(
                    root: root.path, message: "the watcher cannot be asked for its status: \(error)",
                    remedy: "put the archive on a file system that supports sockets"))
        }
        self.server.withLock { $0 = server }
    }

    /// Stops listening, which also removes the socket's name.
    func stopListening() {
        server.withLock { $0 = nil }
    }

    private func answer(_ request: ControlRequest, about root: WatchedRoot) async -> ControlResponse {
        let service = root.service
        switch request.action {
        case .status:
            async let others = request.isForAll == true ? await service.statuses(except: root) : nil
            let response = await ControlResponse(status: status(of: root), others: others)
            await service.deliver()
            return response
        case .sync:
            let isSynced = await isSettled(root, withLargeFiles: true)
            await service.deliver()
            return ControlResponse(isSynced: isSynced)
        case .subscribe, .reload, .log:
            return .notUnderstood
        case .mark:
            return await mark(request.name, of: root)
        case .note:
            return await note(request.text, about: request.snapshot, of: root)
        case .configure:
            do {
                try await root.configure(request.exclusions)
            } catch {
                return ControlResponse(failure: error)
            }
            await service.deliver()
            return ControlResponse(isConfigured: true)
        case .audit:
            let response: ControlResponse
            do {
                response = ControlResponse(audit: try await root.audit())
            } catch {
                response = ControlResponse(failure: error)
            }
            await service.deliver()
            return response
        }
    }

    // MARK: Status

    /// Returns the status of the watching.
    ///
    /// The answer itself proves that the watcher is alive and up to date: before answering, it reads every event that
    /// the kernel had queued at the time of the request, and captures the changes if that takes no longer than
    /// `probeLimit`.
    func status(of root: WatchedRoot) async -> WatcherStatus {
        let start = ContinuousClock.now
        let isCurrent = await isSettled(root, withLargeFiles: false)
        let watch = await root.watch.status()
        var status = root.status(watch, isCurrent: isCurrent, probe: ContinuousClock.now - start)
        status.largeFiles = root.largeFiles.waiting.prefix(RootControl.reportedFiles).map(WatcherStatus.LargeFile.init)
        return status
    }

    /// Returns whether everything that changed before the call is captured; waits at most `probeLimit` for that.
    ///
    /// - Parameter withLargeFiles: whether to include files that are captured less often.
    private func isSettled(_ root: WatchedRoot, withLargeFiles: Bool) async -> Bool {
        guard root.phase == .watching else { return false }
        let isDone = await FirstAnswer.isDone(within: RootControl.probeLimit) {
            await root.settle(withLargeFiles: withLargeFiles)
        }
        // The wait also ends when watching ends.
        return isDone && !root.isEnding
    }

    // MARK: Marks and notes

    /// Captures all changes until now, and marks that state.
    ///
    /// The mark is made even if the client has disconnected.
    private func mark(_ name: String?, of root: WatchedRoot) async -> ControlResponse {
        guard let name else { return .notUnderstood }
        guard await isSettled(root, withLargeFiles: true) else {
            let message = RootControl.unsettled(root)
            return ControlResponse(failure: Finding(message, remedy: "mark again later"))
        }
        let (archive, path) = (root.service.archive, root.path)
        do {
            let mark = try await Blocking.run { () throws(ArchiverError) in
                try facing {
                    let archive = try archive.current().archive
                    return try root.underLock(in: archive) { _ in
                        try Mark(underLock: name, of: path, in: archive)
                    }
                }
            }
            return ControlResponse(mark: mark.id.hex)
        } catch {
            return ControlResponse(failure: error)
        }
    }

    private static func unsettled(_ root: WatchedRoot) -> String {
        switch root.phase {
        case .waiting: "\(root.path) does not exist yet"
        case .reading: "\(root.path) is still being read for the first time"
        case .unavailable: "\(root.path) is missing"
        case .watching: "the last changes of \(root.path) are not captured yet"
        }
    }

    /// Adds a note about a snapshot of the root.
    ///
    /// - Parameter snapshot: the snapshot's id in hex digits; nil for the latest.
    private func note(_ text: String?, about snapshot: String?, of root: WatchedRoot) async -> ControlResponse {
        guard let text else { return .notUnderstood }
        let (service, archived) = (root.service, ArchivedRoot(here: root.path))
        do {
            let note = try await Blocking.run { () throws(ArchiverError) in
                try facing {
                    let archive = try service.archive.current().archive
                    let about =
                        try snapshot.map { try RootControl.snapshot($0, of: archived) }
                        ?? archive.latestSnapshot(of: archived)?.id
                    return try archive.note(text, about: archived, snapshot: about)
                }
            }
            return ControlResponse(note: note.id.hex)
        } catch {
            return ControlResponse(failure: error)
        }
    }

    private static func snapshot(_ digits: String, of root: ArchivedRoot) throws(ArchiverError) -> SnapshotID {
        if let id = SnapshotID(hex: digits) { return id }
        throw ArchiverError(
            .noSuchSnapshot, "'\(digits.prefix(64))' is not the id of a snapshot", remedy: "use all 64 hex digits",
            path: root.path)
    }

    // MARK: Feeds

    /// Writes the root's snapshots to a subscriber until it disconnects or watching ends.
    ///
    /// - Parameter last: the id of the last snapshot that it knows, in hex digits; nil for new snapshots only.
    private func stream(_ root: WatchedRoot, to connection: ControlServer.Connection, after last: String?) {
        guard let feed = feeds.add() else {
            return connection.respond(
                ControlResponse(
                    failure: Finding("there are too many subscribers", remedy: "end some of them")))
        }
        defer { feeds.remove(feed) }
        do throws(ArchiverError) {
            try facing {
                let start = try start(of: root, after: last)
                try feed.run(on: connection, from: start) { try snapshots(of: root, behind: $0) }
            }
        } catch {
            connection.respond(ControlResponse(failure: error))
        }
    }

    private func start(of root: WatchedRoot, after last: String?) throws -> ListedSnapshot? {
        let (archive, path) = (try root.service.archive.current().archive, root.path)
        guard let last else {
            return try archive.store.catalogue.latestSnapshot(ofRoot: path.bytes, machine: Machine.id)
        }
        let id = SnapshotID(hex: last)
        let found = try id.map { try archive.store.catalogue.snapshots(.init(idPrefix: $0.hex, limit: 1)).first } ?? nil
        if let found, found.isOf(ArchivedRoot(here: path)) { return found }
        throw ArchiverError(
            .noSuchSnapshot, "the archive holds no snapshot \(last.prefix(64)) of \(path)",
            remedy: "subscribe without a snapshot, and list those that exist", path: path)
    }

    private func snapshots(of root: WatchedRoot, behind last: ListedSnapshot?) throws -> [ListedSnapshot] {
        let archive = try root.service.archive.current().archive
        guard let number = try archive.number(of: ArchivedRoot(here: root.path)) else { return [] }
        var filter = Catalogue.SnapshotFilter(of: number, limit: RootControl.step)
        filter.behind = last.map { .init(sequence: $0.sequence, time: $0.time, id: $0.id.chunk) }
        return try archive.store.catalogue.snapshots(filter)
    }
}
