// Handles the signals that end `watch`.

internal import ArchiverKit
internal import Glibc
internal import Threading

/// Handles the termination signals: the first one makes a last capture, the second one ends the program immediately.
final class WatchEnding: Sendable {
    private struct State {
        var service: WatchService?
        var report: WatchReport?
        /// The number of Ctrl-C and SIGTERM so far, without SIGHUP, which a closed terminal sends repeatedly.
        var requests = 0
    }

    private let state = Locked(State())

    /// Sets the service that a signal stops, and its report.
    func begin(_ service: WatchService, _ report: WatchReport) {
        state.withLock { ($0.service, $0.report) = (service, report) }
    }

    /// Handles `signal`.
    func handle(_ signal: CInt, _ count: Int) {
        let (service, report, requests) = state.withLock { state in
            if signal != SIGHUP { state.requests += 1 }
            return (state.service, state.report, state.requests)
        }
        // The archive is consistent at every moment, so the process can exit immediately.
        guard let service, requests < 2 else { _exit(128 + signal) }
        service.stop()
        if signal == SIGINT { report?.remark("stopping after a last capture; interrupt again to stop immediately") }
    }
}
