// How callers on any thread reach the watcher's thread: requests in a box, and a socket to wake it.

internal import FileIO
internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Threading

/// Which root a request is about.
typealias RootID = Int

/// Where the answer to `TreeWatch.arm` goes.
typealias ArmingContinuation = CheckedContinuation<Result<WatchStats, FileError>, Never>

/// What the watcher's thread is asked for.
enum Request: Sendable {
    case arm(RootID, RootSettings, waiting: Bool, ArmingContinuation)
    case retime(RootID, WatchTiming)
    case nextBatch(RootID, BatchTicket)
    case markDirty(RootID, [PathRange])
    case polled(RootID, found: Bool, took: Duration)
    case flush(RootID, CheckedContinuation<Int?, Never>)
    case audit(RootID, CheckedContinuation<WatchAudit?, Never>)
    case status(RootID, CheckedContinuation<TreeWatchStatus?, Never>)
    /// See whether those who wait for a batch of the root still do.
    case look(RootID)
    case forget(RootID)
    case stop(CheckedContinuation<Void, Never>?)

    /// Answers without doing anything: the thread has ended.
    func refuse() {
        switch self {
        case .arm(_, let settings, _, let continuation):
            continuation.resume(returning: .failure(FileError("watch", settings.path, .canceled)))
        case .nextBatch(_, let ticket): ticket.resume(nil)
        case .audit(_, let continuation): continuation.resume(returning: nil)
        case .status(_, let continuation): continuation.resume(returning: nil)
        case .flush(_, let continuation): continuation.resume(returning: nil)
        case .stop(let continuation): continuation?.resume()
        case .retime, .markDirty, .polled, .look, .forget: break
        }
    }

    /// The root that it is about.
    var root: RootID? {
        switch self {
        case .arm(let id, _, _, _), .retime(let id, _), .nextBatch(let id, _), .markDirty(let id, _),
            .polled(let id, _, _),
            .flush(let id, _), .audit(let id, _), .status(let id, _), .look(let id), .forget(let id):
            id
        case .stop: nil
        }
    }

    /// Whether its answer has all that happened before the question.
    var isAboutNow: Bool {
        switch self {
        case .flush, .status: true
        default: false
        }
    }
}

/// One caller's wait for a batch.
final class BatchTicket: Sendable {
    private let continuation: CheckedContinuation<ChangeBatch?, Never>
    private let cancellation: Cancellation

    /// Set by whoever cancels the task, on any thread.
    final class Cancellation: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .acquiring) }
        func set() { flag.store(true, ordering: .releasing) }
    }

    init(_ continuation: CheckedContinuation<ChangeBatch?, Never>, _ cancellation: Cancellation) {
        self.continuation = continuation
        self.cancellation = cancellation
    }

    func resume(_ batch: ChangeBatch?) { continuation.resume(returning: batch) }

    func resumeIfCancelled() -> Bool {
        if cancellation.isSet { resume(nil) }
        return cancellation.isSet
    }
}

/// Requests on their way to the watcher's thread.
final class Mailbox: Sendable {
    private struct State: ~Copyable {
        var requests: [Request] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    init() throws(FileError) {
        // A pair of sockets because Glibc's module shows neither pipe2 nor eventfd, and plain pipes are inherited.
        var ends: [CInt] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        if socketpair(AF_UNIX, CInt(type), 0, &ends) != 0 { throw FileError("watch", FilePath("socket"), .current) }
        readEnd = Descriptor(owning: ends[0])
        writeEnd = Descriptor(owning: ends[1])
    }

    /// Readable when there may be requests.
    var wakeNumber: CInt { readEnd.number }

    /// How many requests wait.
    var count: Int { state.withLock { $0.requests.count } }

    func post(_ request: Request) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.requests.append(request) }
            return state.isClosed
        }
        if isClosed { request.refuse() } else { wake() }
    }

    /// Makes the thread look at its waiters and requests.
    func wake() {
        var byte: UInt8 = 0
        // A full socket wakes as well.
        _ = retryingInterrupts { write(writeEnd.number, &byte, 1) }
    }

    /// The requests so far, in order.
    func take() -> [Request] {
        var bytes = (UInt64(0), UInt64(0))
        while withUnsafeMutableBytes(of: &bytes, { read(readEnd.number, $0.baseAddress, $0.count) }) > 0 {}
        return state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Refuses what is in the box and all that comes later.
    func close() {
        let left = state.withLock { state in
            state.isClosed = true
            defer { state.requests = [] }
            return state.requests
        }
        for request in left { request.refuse() }
    }
}
