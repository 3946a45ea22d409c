// Sleeping for hours without waking up in between.

internal import Dispatch
internal import FileIO

/// A sleep on a thread of its own.
///
/// A task that sleeps has the runtime wake up every second until it is over; an idle watcher is to make no system call.
enum LongSleep {
    /// Sleeps until `duration` is over or the task is cancelled.
    ///
    /// - Returns: whether it was slept to the end.
    static func sleep(for duration: Duration) async -> Bool {
        let alarm = DispatchSemaphore(value: 0)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do throws(FileError) {
                    try DetachedThread.start(for: "the next audit") {
                        let isOver = alarm.wait(timeout: .now() + duration.seconds) == .timedOut
                        continuation.resume(returning: isOver)
                    }
                } catch {
                    // Without a thread there is no audit either.
                    continuation.resume(returning: false)
                }
            }
        } onCancel: {
            alarm.signal()
        }
    }
}
