// Sends to the archive's replicas while a service runs. No capture waits for it.

internal import ArchiveStorage
internal import Archives
internal import Dispatch
internal import FileIO
internal import ObjectStore
internal import Replicas
internal import Roots
internal import Threading

/// Sends what is committed to all replicas of the archive, each on a thread of its own.
final class Replicating: Sendable {
    private struct State {
        var workers: [ReplicaName: Worker] = [:]
        var isEnding = false
    }

    private let service: WatchService
    private let stores: ReplicaStores
    private let state = Locked(State())
    private let news = DispatchSemaphore(value: 0)

    /// How often the list of replicas is read, and commits of other processes are looked for.
    private static let interval = 10.0
    private static let intervalWithoutReplicas = 60.0

    init(_ service: WatchService, _ stores: ReplicaStores) {
        self.service = service
        self.stores = stores
    }

    /// Sends until `finish`.
    func begin() {
        do { try DetachedThread.start(for: "replicas") { self.supervise() } } catch {
            service.report(.replicaFailed(name: "", ArchiverError(error)))
        }
    }

    /// Says that something was committed; never waits.
    func poke() { news.signal() }

    /// Sends what is committed once more, for at most `limit`, then ends.
    func finish(within limit: Duration) async {
        let workers = state.withLock { state in
            state.isEnding = true
            return Array(state.workers.values)
        }
        news.signal()
        for worker in workers { worker.end() }
        await FirstAnswer.isDone(within: limit) {
            for worker in workers { await worker.ended.wait(for: 1) }
        }
        for worker in workers { worker.giveUp() }
    }

    private func supervise() {
        while true {
            let names = (try? service.archive.latest.replicaNames()) ?? []
            let (new, all, isEnding) = state.withLock { state in
                for (name, worker) in state.workers where !names.contains(name) || worker.hasEnded {
                    worker.giveUp()
                    state.workers[name] = nil
                }
                var new: [Worker] = []
                if !state.isEnding {
                    for name in names where state.workers[name] == nil {
                        let worker = Worker(name, service, stores)
                        state.workers[name] = worker
                        new.append(worker)
                    }
                }
                return (new, Array(state.workers.values), state.isEnding)
            }
            if isEnding { return }
            for worker in new { worker.begin() }
            for worker in all { worker.poke() }
            let seconds = all.isEmpty ? Replicating.intervalWithoutReplicas : Replicating.interval
            _ = news.wait(timeout: .now() + seconds / Double(service.options.timeScale))
            // Many events may have come together.
            while news.wait(timeout: .now()) == .success {}
        }
    }
}

/// Sends to one replica.
private final class Worker: Sendable {
    private struct State {
        var isEnding = false
        var hasEnded = false
        var objects: (any ObjectStore)?
    }

    private let name: ReplicaName
    private let service: WatchService
    private let stores: ReplicaStores
    private let state = Locked(State())
    private let news = DispatchSemaphore(value: 0)
    /// Reaches 1 when the thread has ended.
    let ended = Milestones()

    init(_ name: ReplicaName, _ service: WatchService, _ stores: ReplicaStores) {
        self.name = name
        self.service = service
        self.stores = stores
    }

    func begin() {
        do { try DetachedThread.start(for: "a replica", .normal) { self.work() } } catch { ended.reach(1) }
    }

    func poke() { news.signal() }

    /// Lets the thread end after a last pass.
    func end() {
        state.withLock { $0.isEnding = true }
        news.signal()
    }

    /// Ends the thread now: a call to the store that is running fails.
    func giveUp() {
        let objects = state.withLock { state in
            state.isEnding = true
            return state.objects
        }
        objects?.close()
        news.signal()
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    private var isEnding: Bool { state.withLock { $0.isEnding } }

    private func work() {
        defer {
            state.withLock { $0.hasEnded = true }
            ended.reach(1)
        }
        var schedule = SendingSchedule(scale: service.options.timeScale)
        // A first pass, which compares, says whether the replica is as it was left.
        schedule.committed(0, at: .now)
        var known: UInt64?
        var replicator: (number: Int, value: Replicator)?
        var reported: String?
        while true {
            if let stored = try? service.archive.latest.storedBytes() {
                if let known, stored != known {
                    schedule.committed(stored > known ? stored - known : 0, at: .now)
                }
                known = stored
            }
            let now = ContinuousClock.now
            let isLast = isEnding
            guard let due = schedule.due(at: now) else {
                if isLast { return }
                news.wait()
                continue
            }
            if isLast, schedule.isFailing { return }
            if due > now, !isLast {
                let left = now.duration(to: due) / .nanoseconds(1)
                _ = news.wait(timeout: .now() + .nanoseconds(Int(min(left, 1e15)) + 1))
                continue
            }
            schedule.begun(at: now)
            do throws(ArchiverError) {
                try pass(&replicator)
                schedule.succeeded()
                if reported != nil { service.report(.replicaComplete(name: name.text)) }
                reported = nil
            } catch {
                // It is opened again: credentials or the archive may have changed.
                state.withLock { $0.objects }?.close()
                replicator = nil
                if error.code == .cancelled, isEnding { return }
                if error.code == .noSuchReplica { return }
                schedule.failed(at: .now)
                // The service itself reports a missing archive.
                if error.code == .noArchive { continue }
                if reported == nil { service.report(.replicaFailed(name: name.text, error)) }
                reported = error.message
            }
            if isLast { return }
        }
    }

    private func pass(_ replicator: inout (number: Int, value: Replicator)?) throws(ArchiverError) {
        let opened = try facing { try service.archive.current() }
        let isNew = replicator?.number != opened.number
        let current: Replicator
        if !isNew, let known = replicator?.value {
            current = known
        } else {
            current = try opened.archive.replicator(name, stores: stores, besideCaptures: true)
            state.withLock { $0.objects = current.objects }
            replicator = (opened.number, current)
        }
        let pass = try current.send(comparing: isNew)
        if let problem = pass.problems.first {
            throw ArchiverError(.damaged, problem, remedy: Advice.checkArchive.text)
        }
    }
}

extension Archive {
    /// The indexed bytes of all segments.
    fileprivate func storedBytes() throws(ArchiverError) -> UInt64 { try facing { try store.storedBytes() } }
}
