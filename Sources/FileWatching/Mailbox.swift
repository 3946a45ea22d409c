// Passes requests from any thread to the watcher's thread: a list of requests, and a socket to wake the thread.

internal import FileIO
internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Threading

/// The number of a root, by which requests name it.
typealias RootID = Int

/// The continuation of a call of `TreeWatch.arm`.
typealias ArmingContinuation = CheckedContinuation<Result<WatchStats, FileError>, Never>

/// A request to the watcher's thread.
enum Request: Sendable {
    case arm(RootID, RootSettings, waiting: Bool, ArmingContinuation)
    case retime(RootID, WatchTiming)
    case nextBatch(RootID, BatchTicket)
    case markDirty(RootID, [PathRange])
    case polled(RootID, found: Bool, took: Duration)
    case flush(RootID, CheckedContinuation<Int?, Never>)
    case audit(RootID, CheckedContinuation<WatchAudit?, Never>)
    case status(RootID, CheckedContinuation<TreeWatchStatus?, Never>)
    /// Drop waits for a batch of the root that were cancelled.
    case look(RootID)
    case forget(RootID)
    /// Answer that the thread works.
    case pulse(CheckedContinuation<Bool, Never>)
    case stop(CheckedContinuation<Void, Never>?)

    /// Answers the request without executing it, because the thread or the root's watch has ended.
    func refuse() {
        switch self {
        case .arm(_, let settings, _, let continuation):
            continuation.resume(returning: .failure(FileError("watch", settings.path, .canceled)))
        case .nextBatch(_, let ticket): ticket.resume(nil)
        case .audit(_, let continuation): continuation.resume(returning: nil)
        case .status(_, let continuation): continuation.resume(returning: nil)
        case .flush(_, let continuation): continuation.resume(returning: nil)
        case .stop(let continuation): continuation?.resume()
        case .pulse(let continuation): continuation.resume(returning: false)
        case .retime, .markDirty, .polled, .look, .forget: break
        }
    }

    /// The root that the request is about; nil for `pulse` and `stop`.
    var root: RootID? {
        switch self {
        case .arm(let id, _, _, _), .retime(let id, _), .nextBatch(let id, _), .markDirty(let id, _),
            .polled(let id, _, _),
            .flush(let id, _), .audit(let id, _), .status(let id, _), .look(let id), .forget(let id):
            id
        case .pulse, .stop: nil
        }
    }

    /// Whether the answer must cover everything that happened before the request.
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

    /// A flag that is set when the task is cancelled, on any thread.
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

/// The queue of requests to the watcher's thread.
final class Mailbox: Sendable {
    private struct State: ~Copyable {
        var requests: [Request] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    init() throws(FileError) {
        // A socket pair: Glibc's module exports neither pipe2 nor eventfd, and child processes inherit plain pipes.
        var ends: [CInt] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        if socketpair(AF_UNIX, CInt(type), 0, &ends) != 0 { throw FileError("watch", FilePath("socket"), .current) }
        readEnd = Descriptor(owning: ends[0])
        writeEnd = Descriptor(owning: ends[1])
    }

    /// The descriptor that is readable when there may be requests.
    var wakeNumber: CInt { readEnd.number }

    /// The number of waiting requests.
    var count: Int { state.withLock { $0.requests.count } }

    func post(_ request: Request) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.requests.append(request) }
            return state.isClosed
        }
        if isClosed { request.refuse() } else { wake() }
    }

    /// Wakes the thread so that it handles its requests.
    func wake() {
        var byte: UInt8 = 0
        // If the socket is full, the thread wakes anyway.
        _ = retryingInterrupts { write(writeEnd.number, &byte, 1) }
    }

    /// Removes and returns the requests so far, in order.
    func take() -> [Request] {
        var bytes = (UInt64(0), UInt64(0))
        while withUnsafeMutableBytes(of: &bytes, { read(readEnd.number, $0.baseAddress, $0.count) }) > 0 {}
        return state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Refuses all waiting requests and all later ones.
    func close() {
        let left = state.withLock { state in
            state.isClosed = true
            defer { state.requests = [] }
            return state.requests
        }
        for request in left { request.refuse() }
    }
}
