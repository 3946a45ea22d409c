// The callers that wait for an answer from a root.

internal import FileIO

/// The callers of one root that have not been answered yet.
struct Callers {
    var arming: ArmingContinuation?
    private var batches: [BatchTicket] = []
    private var flushes: [CheckedContinuation<Int?, Never>] = []
    /// Flushes answered so far.
    private(set) var flushCount = 0
    /// Whether a batch is due because a flush was answered.
    private(set) var isFlushed = false

    /// Whether a caller waits for a batch.
    var wantBatch: Bool { !batches.isEmpty }

    mutating func enqueue(_ ticket: BatchTicket) { batches.append(ticket) }

    mutating func enqueue(_ flush: CheckedContinuation<Int?, Never>) { flushes.append(flush) }

    mutating func dropCancelled() { batches.removeAll { $0.resumeIfCancelled() } }

    /// Answers all flushes; call it when every change made before them is known.
    mutating func answerFlushes() {
        if flushes.isEmpty { return }
        isFlushed = true
        for flush in flushes {
            flushCount += 1
            flush.resume(returning: flushCount)
        }
        flushes = []
    }

    /// Answers the first waiting caller with a batch.
    mutating func answer(_ batch: ChangeBatch) {
        if batches.isEmpty { return }
        isFlushed = false
        batches.removeFirst().resume(batch)
    }

    mutating func answerArming(_ result: Result<WatchStats, FileError>) {
        arming?.resume(returning: result)
        arming = nil
    }

    /// Answers all callers, because the watch ends.
    mutating func end(_ error: FileError) {
        answerArming(.failure(error))
        for ticket in batches { ticket.resume(nil) }
        batches = []
        for flush in flushes { flush.resume(returning: nil) }
        flushes = []
    }
}
